//! Legends: explanations in, a block of samples with their text out. Samples are drawn by the
//! functions that draw the figure, with the numbers of the figure.

use crate::sheet::{CASE_LINE, CASE_WIDTH, Frame, HALO, Sheet, TEXT, WEAK_TEXT};
use crate::text::{width, wrap_words};

/// Width of one explanation, in pixels.
pub const COLUMN: f64 = 236.0;
const SMALL: f64 = 11.0;
/// How much wider bold words are.
const BOLD: f64 = 1.14;
const BAR: f64 = 150.0;

/// One explanation: a sample of a mark, and its meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What the entry is about, in a few words.
    pub heading: String,
    /// The sample that is drawn.
    pub sample: Sample,
    /// A sentence below or next to the sample; may be empty.
    pub note: String,
}

/// What is drawn to explain something.
#[derive(Debug, Clone, PartialEq)]
pub enum Sample {
    /// Nothing is drawn: there are only words.
    Words,
    /// Rectangles of these colours, with text in them.
    Boxes(Vec<(String, String)>),
    /// A label such as stands on lines.
    Label(Vec<String>),
    /// Lines of these widths, with text next to them.
    Widths(Vec<(f64, String)>),
    /// Colours from left to right, with words at both ends and in the middle.
    Ramp(Vec<String>, [String; 3]),
    /// A line with a halo, of this colour and width.
    Halo(String, f64),
    /// A dashed line of this colour and width.
    Dashed(String, f64),
    /// Squares of these colours, with text next to them.
    Swatches(Vec<(String, String)>),
}

impl Entry {
    /// An explanation with its heading, sample and note.
    pub fn new(heading: impl Into<String>, sample: Sample, note: impl Into<String>) -> Self {
        Self { heading: heading.into(), sample, note: note.into() }
    }

    /// The explanation as a sentence, for those who cannot draw it.
    pub fn words(&self) -> String {
        let range = match &self.sample {
            Sample::Boxes(list) => list.iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>().join(", "),
            Sample::Swatches(list) => list.iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>().join(", "),
            Sample::Widths(list) => list.iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>().join(", "),
            Sample::Ramp(_, [low, _, high]) if low == high => low.clone(),
            Sample::Ramp(_, [low, _, high]) => format!("{low} to {high}"),
            Sample::Label(lines) => lines.join(" / "),
            Sample::Words | Sample::Halo(..) | Sample::Dashed(..) => String::new(),
        };
        let mut out = self.heading.clone();
        for part in [&range, &self.note].into_iter().filter(|part| !part.is_empty()) {
            out.push_str(if out == self.heading { ": " } else { "; " });
            out.push_str(part);
        }
        if !out.ends_with('.') {
            out.push('.');
        }
        out
    }

    fn heading_lines(&self) -> Vec<String> {
        wrap_words(&self.heading, SMALL * BOLD, COLUMN - 8.0)
    }

    fn heading_height(&self) -> f64 {
        6.0 + 14.0 * self.heading_lines().len().max(1) as f64
    }

    fn note_lines(&self) -> Vec<String> {
        if self.note.is_empty() {
            return Vec::new();
        }
        let room = match self.sample {
            Sample::Halo(..) | Sample::Dashed(..) => COLUMN - 64.0,
            _ => COLUMN - 8.0,
        };
        wrap_words(&self.note, SMALL, room)
    }

    fn sample_height(&self) -> f64 {
        match &self.sample {
            Sample::Words => 0.0,
            Sample::Boxes(boxes) => 24.0 * box_rows(boxes).len() as f64,
            Sample::Label(lines) => label_height(lines) + 4.0,
            Sample::Widths(list) => 16.0 * list.len() as f64 + 2.0,
            Sample::Ramp(..) => 30.0,
            Sample::Halo(..) | Sample::Dashed(..) => 18.0,
            Sample::Swatches(list) => 16.0 * list.len() as f64,
        }
    }

    /// Height of the entry, in pixels.
    pub fn height(&self) -> f64 {
        let notes = 14.0 * self.note_lines().len() as f64;
        match self.sample {
            Sample::Halo(..) | Sample::Dashed(..) => self.heading_height() + f64::max(18.0, notes),
            _ => self.heading_height() + self.sample_height() + notes,
        }
    }

    /// Draws it with its upper left corner there.
    pub fn draw(&self, sheet: &mut Sheet, x: f64, y: f64) {
        for (at, line) in self.heading_lines().iter().enumerate() {
            sheet.text(x, y + SMALL + 14.0 * at as f64, SMALL, TEXT, "font-weight=\"bold\"", line);
        }
        let top = y + self.heading_height();
        match &self.sample {
            Sample::Words => {}
            Sample::Boxes(boxes) => {
                for (row, list) in box_rows(boxes).into_iter().enumerate() {
                    let mut at = x;
                    for (colour, words) in list {
                        let w = box_width(words);
                        let frame = Frame { x: at, y: top + 24.0 * row as f64, w, h: 20.0 };
                        sheet.rect(frame, 4.0, colour, Some(("#7b8a99", 1.0)));
                        sheet.text(at + w / 2.0, frame.y + 14.0, SMALL, TEXT, "text-anchor=\"middle\"", words);
                        at += w + 8.0;
                    }
                }
            }
            Sample::Label(lines) => {
                let w = lines.iter().map(|line| width(line, SMALL)).fold(0.0, f64::max).ceil() + 12.0;
                let h = label_height(lines);
                sheet.rect(Frame { x, y: top, w, h }, 9.0, "#ffffff", Some(("#64748b", 1.0)));
                for (at, line) in lines.iter().enumerate() {
                    sheet.text(x + w / 2.0, top + 13.0 + 13.0 * at as f64, SMALL, TEXT, "text-anchor=\"middle\"", line);
                }
            }
            Sample::Widths(list) => {
                for (at, (line, words)) in list.iter().enumerate() {
                    let y = top + 6.0 + 16.0 * at as f64;
                    sheet.line((x, y), (x + 56.0, y), "#64748b", *line, "");
                    sheet.text(x + 66.0, y + 4.0, SMALL, TEXT, "", words);
                }
            }
            Sample::Ramp(colours, words) => {
                if words[0] == words[2] {
                    let colour = colours.last().map_or("#64748b", String::as_str);
                    sheet.rect(Frame { x, y: top, w: 24.0, h: 12.0 }, 2.0, colour, None);
                    sheet.text(x + 32.0, top + 10.0, SMALL, TEXT, "", &words[0]);
                } else {
                    // Equal gradients may share an id: they are drawn alike.
                    let id = format!("ramp{}", colours.concat().replace('#', ""));
                    sheet.gradient(&id, colours);
                    sheet.rect(Frame { x, y: top, w: BAR, h: 12.0 }, 2.0, &format!("url(#{id})"), None);
                    for ((share, anchor), words) in [(0.0, "start"), (0.5, "middle"), (1.0, "end")].into_iter().zip(words) {
                        sheet.text(x + BAR * share, top + 25.0, SMALL, TEXT, &format!("text-anchor=\"{anchor}\""), words);
                    }
                }
            }
            Sample::Halo(colour, width) => {
                sheet.line((x, top + 8.0), (x + 44.0, top + 8.0), HALO, width + 9.0, "");
                sheet.line((x, top + 8.0), (x + 44.0, top + 8.0), colour, *width, "");
            }
            Sample::Dashed(colour, width) => {
                sheet.line((x, top + 6.0), (x + 44.0, top + 6.0), colour, *width, "stroke-dasharray=\"5 4\"");
            }
            Sample::Swatches(list) => {
                for (at, (colour, words)) in list.iter().enumerate() {
                    let y = top + 16.0 * at as f64;
                    sheet.rect(Frame { x, y, w: 12.0, h: 12.0 }, 2.0, colour, None);
                    sheet.text(x + 18.0, y + 10.0, SMALL, TEXT, "", words);
                }
            }
        }
        let (dx, dy) = match self.sample {
            Sample::Halo(..) | Sample::Dashed(..) => (54.0, 0.0),
            _ => (0.0, self.sample_height()),
        };
        for (at, line) in self.note_lines().iter().enumerate() {
            sheet.text(x + dx, top + dy + SMALL + 14.0 * at as f64, SMALL, WEAK_TEXT, "", line);
        }
    }
}

fn box_width(words: &str) -> f64 {
    (width(words, SMALL) + 16.0).max(44.0).ceil()
}

fn box_rows(boxes: &[(String, String)]) -> Vec<Vec<&(String, String)>> {
    let mut rows: Vec<Vec<&(String, String)>> = Vec::new();
    let mut used = f64::INFINITY;
    for item in boxes {
        let w = box_width(&item.1) + 8.0;
        if used + w > COLUMN {
            rows.push(Vec::new());
            used = 0.0;
        }
        used += w;
        if let Some(row) = rows.last_mut() {
            row.push(item);
        }
    }
    rows
}

/// The height of a label with these lines.
pub fn label_height(lines: &[String]) -> f64 {
    5.0 + 13.0 * lines.len().max(1) as f64
}

/// The explanation of the lines at which cases begin and end.
pub fn terminals() -> Entry {
    Entry::new("Dashed: first and last in a case", Sample::Dashed(CASE_LINE.to_owned(), CASE_WIDTH), "number of cases, no time")
}

/// Where each entry goes in a legend of this width, and the height of the whole: rows from left to
/// right.
pub fn arrange(entries: &[Entry], room: f64) -> (Vec<(f64, f64)>, f64) {
    let columns = ((room / COLUMN).floor() as usize).clamp(1, entries.len().max(1));
    let mut places = Vec::new();
    let mut y = 0.0;
    for row in entries.chunks(columns) {
        for i in 0..row.len() {
            places.push((i as f64 * COLUMN, y));
        }
        y += row.iter().map(Entry::height).fold(0.0, f64::max) + 12.0;
    }
    (places, (y - 12.0).max(0.0))
}
