//! A page: heading, facts, what is left out, the picture itself, a legend.

use flowmine_draw::legend::{self, Entry};
use flowmine_draw::sheet::{Frame, Part, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{atoms, width, wrap_name, wrap_words};

/// Room at each side of a page, in pixels.
pub const MARGIN: f64 = 24.0;
/// Width of what is within the margins.
pub const INNER: f64 = 952.0;
/// Font size of facts and names, in pixels.
pub const NAME: f64 = 12.0;
/// The colour of what is left out and of warnings.
pub const WARNING: &str = "#8a2c0d";
/// Colour of the lines between parts of a page.
pub const RULE: &str = "#d5dce4";

/// Room around a drawing without heading and legend, in pixels.
const AROUND: f64 = 12.0;

/// What stands around a picture. All texts are fit to be seen.
#[derive(Debug, Default)]
pub struct Page {
    /// Heading of the page, also the title of the SVG document.
    pub title: String,
    /// Sentences below the heading: what the picture is of.
    pub facts: Vec<String>,
    /// What is not shown, in parts of a sentence.
    pub left_out: Vec<String>,
    /// Explanations of what is drawn, below the picture.
    pub legend: Vec<Entry>,
}

impl Page {
    /// The whole picture. `body` draws below the height it is given and gives its lower end.
    pub fn draw(self, body: impl FnOnce(&mut Sheet, f64) -> f64) -> String {
        let mut sheet = Sheet::default();
        sheet.begin(Part::Heading);
        let mut y = MARGIN;
        for line in wrap_name(&self.title, 18.0 * 1.14, INNER, 2) {
            y += 20.0;
            sheet.text(MARGIN, y, 18.0, TEXT, "font-weight=\"bold\"", &line);
        }
        y += 6.0;
        for line in self.facts.iter().flat_map(|fact| wrap_words(&cut(fact), NAME, INNER)) {
            y += 16.0;
            sheet.text(MARGIN, y, NAME, WEAK_TEXT, "", &line);
        }
        let mut told = self.facts;
        if !self.left_out.is_empty() {
            let words = format!("Not shown: {}.", self.left_out.join("; "));
            for line in wrap_words(&cut(&words), NAME * 1.14, INNER) {
                y += 16.0;
                sheet.text(MARGIN, y, NAME, WARNING, "font-weight=\"bold\"", &line);
            }
            told.push(words);
        }
        sheet.end();
        let top = y + 20.0;
        let mut y = body(&mut sheet, top);
        sheet.drawing(Frame { x: MARGIN - AROUND, y: top - AROUND, w: INNER + 2.0 * AROUND, h: y - top + 2.0 * AROUND });
        if !self.legend.is_empty() {
            sheet.begin(Part::Legend);
            y += 16.0;
            sheet.line((MARGIN, y), (MARGIN + INNER, y), RULE, 1.0, "");
            y += 12.0;
            let (places, height) = legend::arrange(&self.legend, INNER);
            for (entry, (dx, dy)) in self.legend.iter().zip(places) {
                entry.draw(&mut sheet, MARGIN + dx, y + dy);
            }
            y += height;
            sheet.end();
        }
        sheet.document(INNER + 2.0 * MARGIN, (y + MARGIN).ceil(), &self.title, &told.join(" "))
    }
}

/// A sentence of a length that somebody would read.
fn cut(text: &str) -> String {
    const MOST: usize = 1200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A name on one line of this room, shortened in its middle.
pub fn name_in(text: &str, size: f64, room: f64) -> String {
    // A name of megabytes need not be measured whole: no line has room for so much of its front or its end.
    const ENDS: usize = 200;
    let short = |text: &str| wrap_name(text, size, room, 1).pop().unwrap_or_default();
    let front = text.char_indices().nth(ENDS).map(|(at, _)| at);
    let back = text.char_indices().rev().nth(ENDS).map(|(at, _)| at);
    let mut shown = match front.zip(back).filter(|(front, back)| front < back) {
        Some((front, back)) => short(&format!("{}{}", &text[..front], &text[back..])),
        None => short(text),
    };
    if width(&shown, size) > room {
        // Nothing but an escape that is longer than the line.
        shown = atoms(text).into_iter().take(1).filter(|atom| width(atom, size) <= room).collect();
        shown.push('…');
    }
    shown
}

/// What is said in place of a picture that has nothing to show.
pub fn nothing(sheet: &mut Sheet, top: f64, words: &str) -> f64 {
    let mut y = top;
    for line in wrap_words(words, NAME, INNER) {
        y += 16.0;
        sheet.text(MARGIN, y, NAME, TEXT, "", &line);
    }
    y + 8.0
}
