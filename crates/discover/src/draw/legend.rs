//! The legend of a picture: scales in, a block of drawings with their numbers out.
//!
//! Everything is drawn by the functions that draw the picture, with the numbers of this picture, and only what
//! occurs in the picture is explained.

use super::picture::Picture;
use super::scale::box_colour;
use super::sheet::{CASE_LINE, Frame, HALO, Sheet, TEXT, WEAK_TEXT};
use super::svg::CASE_WIDTH;
use super::text::{count, duration, width, wrap_words};

/// Width of one explanation.
pub(super) const COLUMN: f64 = 236.0;
const SMALL: f64 = 11.0;
const BAR: f64 = 150.0;

/// One explanation: its height and how to draw it at a place.
pub(super) struct Entry<'a> {
    pub height: f64,
    draw: Drawing<'a>,
}

/// Draws with its upper left corner at a place.
type Drawing<'a> = Box<dyn Fn(&mut Sheet, f64, f64) + 'a>;

impl Entry<'_> {
    pub fn draw(&self, sheet: &mut Sheet, x: f64, y: f64) {
        (self.draw)(sheet, x, y);
    }
}

/// What has to be explained in this picture.
pub(super) fn entries<'a>(picture: &'a Picture<'a>) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    if !picture.activities.is_empty() {
        entries.push(boxes(picture));
    }
    if !picture.edges.is_empty() {
        entries.push(labels(picture));
        entries.push(lines(picture));
        entries.push(colours(picture));
    }
    if !picture.slowest.is_empty() {
        entries.push(marks(picture));
    }
    if !picture.starts.is_empty() || !picture.ends.is_empty() {
        entries.push(cases());
    }
    entries
}

fn heading(sheet: &mut Sheet, x: f64, y: f64, text: &str) {
    sheet.text(x, y + SMALL, SMALL, TEXT, "font-weight=\"bold\"", text);
}

fn note(sheet: &mut Sheet, x: f64, y: f64, text: &str) {
    sheet.text(x, y + SMALL, SMALL, WEAK_TEXT, "", text);
}

fn boxes<'a>(picture: &'a Picture<'a>) -> Entry<'a> {
    let scale = picture.boxes;
    let samples = scale.samples();
    Entry {
        height: 46.0,
        draw: Box::new(move |sheet, x, y| {
            heading(sheet, x, y, "Box: activity and its events");
            let mut at = x;
            for &n in &samples {
                let label = count(n);
                let w = (width(&label, SMALL) + 16.0).max(44.0);
                let frame = Frame { x: at, y: y + 20.0, w, h: 20.0 };
                sheet.rect(frame, 4.0, &box_colour(scale, n), Some(("#7b8a99", 1.0)));
                sheet.text(at + w / 2.0, y + 34.0, SMALL, TEXT, "text-anchor=\"middle\"", &label);
                at += w + 8.0;
            }
        }),
    }
}

fn labels<'a>(picture: &'a Picture<'a>) -> Entry<'a> {
    // A label of this very picture says more than an invented one.
    let most = picture.edges.iter().copied().max_by_key(|&e| (picture.dfg.edges[e].frequency, std::cmp::Reverse(e)));
    let label = most.map(|e| picture.plain_label(e)).unwrap_or_default();
    Entry {
        height: 56.0,
        draw: Box::new(move |sheet, x, y| {
            heading(sheet, x, y, "Line: event directly after event");
            let w = (width(&label, SMALL) + 12.0).ceil();
            sheet.rect(Frame { x, y: y + 20.0, w, h: 18.0 }, 9.0, "#ffffff", Some(("#64748b", 1.0)));
            sheet.text(x + w / 2.0, y + 33.0, SMALL, TEXT, "text-anchor=\"middle\"", &label);
            note(sheet, x, y + 41.0, &format!("how often · {} time between them", picture.time.name()));
        }),
    }
}

fn lines<'a>(picture: &'a Picture<'a>) -> Entry<'a> {
    let scale = picture.widths;
    let samples = scale.samples();
    Entry {
        height: 20.0 + 16.0 * samples.len() as f64,
        draw: Box::new(move |sheet, x, y| {
            heading(sheet, x, y, "Line width: how often");
            for (i, &n) in samples.iter().enumerate() {
                let at = y + 26.0 + 16.0 * i as f64;
                sheet.line((x, at), (x + 56.0, at), "#64748b", scale.width(n), "");
                sheet.text(x + 66.0, at + 4.0, SMALL, TEXT, "", &count(n));
            }
        }),
    }
}

fn colours<'a>(picture: &'a Picture<'a>) -> Entry<'a> {
    let scale = picture.times;
    Entry {
        height: 48.0,
        draw: Box::new(move |sheet, x, y| {
            heading(sheet, x, y, &format!("Line colour: {} time", picture.time.name()));
            let top = y + 20.0;
            if !scale.has_range() {
                sheet.rect(Frame { x, y: top, w: 24.0, h: 12.0 }, 2.0, &scale.colour(scale.most), None);
                sheet.text(x + 32.0, top + 10.0, SMALL, TEXT, "", &scale.words());
                return;
            }
            sheet.gradient("time", &scale.ramp(9));
            sheet.rect(Frame { x, y: top, w: BAR, h: 12.0 }, 2.0, "url(#time)", None);
            let ticks = [(0.0, "start"), (0.5, "middle"), (1.0, "end")];
            for (share, anchor) in ticks {
                let anchor = format!("text-anchor=\"{anchor}\"");
                sheet.text(x + BAR * share, top + 25.0, SMALL, TEXT, &anchor, &duration(scale.time_at(share)));
            }
            sheet.text(x + BAR + 8.0, top + 10.0, SMALL, WEAK_TEXT, "", "logarithmic");
        }),
    }
}

fn marks<'a>(picture: &'a Picture<'a>) -> Entry<'a> {
    let said = wrap_words(&picture.slowest_words(), SMALL, COLUMN - 64.0);
    let colour = picture.slowest.first().map(|&e| picture.times.colour(picture.time.of(&picture.dfg.edges[e]))).unwrap_or_default();
    Entry {
        height: (18.0 + 14.0 * said.len() as f64).max(44.0),
        draw: Box::new(move |sheet, x, y| {
            heading(sheet, x, y, "▲ Slowest");
            let at = y + 28.0;
            sheet.line((x, at), (x + 44.0, at), HALO, 12.0, "");
            sheet.line((x, at), (x + 44.0, at), &colour, 3.0, "");
            for (i, line) in said.iter().enumerate() {
                note(sheet, x + 54.0, y + 16.0 + 14.0 * i as f64, line);
            }
        }),
    }
}

fn cases<'a>() -> Entry<'a> {
    Entry {
        height: 38.0,
        draw: Box::new(|sheet, x, y| {
            heading(sheet, x, y, "Dashed: first and last events");
            sheet.line((x, y + 26.0), (x + 44.0, y + 26.0), CASE_LINE, CASE_WIDTH, "stroke-dasharray=\"5 4\"");
            note(sheet, x + 54.0, y + 18.0, "number of cases, no time");
        }),
    }
}

/// Where each entry goes in a legend of this width, and the height of the whole: rows from left to right.
pub(super) fn arrange(entries: &[Entry], room: f64) -> (Vec<(f64, f64)>, f64) {
    let columns = ((room / COLUMN).floor() as usize).clamp(1, entries.len().max(1));
    let mut places = Vec::new();
    let mut y = 0.0;
    for row in entries.chunks(columns) {
        for i in 0..row.len() {
            places.push((i as f64 * COLUMN, y));
        }
        y += row.iter().map(|e| e.height).fold(0.0, f64::max) + 12.0;
    }
    (places, (y - 12.0).max(0.0))
}
