//! SVG markup: lengths, colours and words in, elements out. Whatever is text is escaped here, and
//! only here.

use crate::text::xml;
use std::fmt::Write;

/// Colour of names and numbers.
pub const TEXT: &str = "#1b2733";
/// Colour of notes, `#rrggbb`.
pub const WEAK_TEXT: &str = "#52606d";
/// Colour of the lines at which cases begin and end.
pub const CASE_LINE: &str = "#7b8794";
/// Width of these lines: beginning and ending is not a step of the process, so they are all alike.
pub const CASE_WIDTH: f64 = 1.8;
/// Colour around what is marked.
pub const HALO: &str = "#ffd766";

const FONTS: &str = "'Helvetica Neue', Helvetica, Arial, 'Noto Sans', 'DejaVu Sans', sans-serif";

/// Where a rectangle is, in pixels.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Left side, in pixels from the left of the figure.
    pub x: f64,
    /// Upper side, in pixels from the top of the figure.
    pub y: f64,
    /// Width, in pixels.
    pub w: f64,
    /// Height, in pixels.
    pub h: f64,
}

/// A part of a figure around the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Heading and facts.
    Heading,
    /// Explanations of the marks.
    Legend,
}

/// The elements of an SVG figure, to which more can be added.
#[derive(Default)]
pub struct Sheet {
    /// The markup of the elements so far.
    pub body: String,
}

impl Sheet {
    /// A rectangle, perhaps with a border of a colour and width.
    pub fn rect(&mut self, at: Frame, radius: f64, fill: &str, border: Option<(&str, f64)>) {
        let Frame { x, y, w, h } = at;
        let (x, y, w, h, radius) = (Num(x), Num(y), Num(w), Num(h), Num(radius));
        let _ = write!(self.body, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{radius}\" fill=\"{fill}\"");
        if let Some((colour, width)) = border {
            let _ = write!(self.body, " stroke=\"{colour}\" stroke-width=\"{}\"", Num(width));
        }
        self.body.push_str("/>\n");
    }

    /// A straight line. `extra` are attributes.
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), colour: &str, width: f64, extra: &str) {
        let _ = write!(
            self.body,
            "<path d=\"M{} {}L{} {}\" stroke=\"{colour}\" stroke-width=\"{}\" fill=\"none\"",
            Num(x1),
            Num(y1),
            Num(x2),
            Num(y2),
            Num(width)
        );
        self.attributes(extra);
        self.body.push_str("/>\n");
    }

    fn attributes(&mut self, extra: &str) {
        if !extra.is_empty() {
            let _ = write!(self.body, " {extra}");
        }
    }

    /// One line of text with its baseline at `y`. `extra` are attributes; `text` is escaped here.
    pub fn text(&mut self, x: f64, y: f64, size: f64, colour: &str, extra: &str, text: &str) {
        let _ = write!(self.body, "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{colour}\"", Num(x), Num(y), Num(size));
        self.attributes(extra);
        let _ = writeln!(self.body, ">{}</text>", xml(text));
    }

    /// A gradient from left to right.
    pub fn gradient(&mut self, id: &str, colours: &[String]) {
        let _ = write!(self.body, "<defs><linearGradient id=\"{id}\">");
        for (i, colour) in colours.iter().enumerate() {
            let at = i as f64 / (colours.len().max(2) - 1) as f64;
            let _ = write!(self.body, "<stop offset=\"{}\" stop-color=\"{colour}\"/>", Num(at));
        }
        self.body.push_str("</linearGradient></defs>\n");
    }

    /// A filled shape: path data from [`Num`]s. `extra` are attributes.
    pub fn path(&mut self, data: &str, fill: &str, extra: &str) {
        let _ = write!(self.body, "<path d=\"{data}\" fill=\"{fill}\"");
        self.attributes(extra);
        self.body.push_str("/>\n");
    }

    /// A disc with a thin white border, so that neighbours are distinguished.
    pub fn dot(&mut self, (x, y): (f64, f64), radius: f64, fill: &str) {
        let (x, y, radius) = (Num(x), Num(y), Num(radius));
        let _ =
            writeln!(self.body, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"#ffffff\" stroke-width=\"0.5\"/>");
    }

    /// A disc with a border.
    pub fn circle(&mut self, (x, y): (f64, f64), radius: f64, fill: &str, border: &str, width: f64) {
        let (x, y, radius, width) = (Num(x), Num(y), Num(radius), Num(width));
        let _ = writeln!(
            self.body,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{border}\" stroke-width=\"{width}\"/>"
        );
    }

    /// Begins a part of the figure around the drawing, which [`plain`](crate::plain::plain) leaves
    /// out; [`end`](Self::end) ends it.
    pub fn begin(&mut self, part: Part) {
        let class = match part {
            Part::Heading => "heading",
            Part::Legend => "legend",
        };
        let _ = writeln!(self.body, "<g class=\"{class}\">");
    }

    /// Ends the part that was begun.
    pub fn end(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// Marks the rectangle of the drawing.
    pub fn drawing(&mut self, at: Frame) {
        let Frame { x, y, w, h } = at;
        let _ = writeln!(self.body, "<view id=\"drawing\" viewBox=\"{} {} {} {}\"/>", Num(x), Num(y), Num(w), Num(h));
    }

    /// The whole figure of this size with its white ground.
    pub fn document(&self, w: f64, h: f64, title: &str, description: &str) -> String {
        let mut out = String::with_capacity(self.body.len() + 1024);
        let _ = write!(
            out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" \
             width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" font-family=\"{FONTS}\" \
             style=\"white-space:pre\" xml:space=\"preserve\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n",
            xml(title),
            xml(description),
            w = Num(w),
            h = Num(h),
        );
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }

    /// What those see who point at the element that is open; escaped here.
    pub fn title(&mut self, lines: &[String]) {
        let _ = writeln!(self.body, "<title>{}</title>", xml(&lines.join("\n")));
    }
}

/// A number with at most two decimals.
pub struct Num(pub f64);

impl std::fmt::Display for Num {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hundredths = (self.0 * 100.0).round() as i64;
        let sign = if hundredths < 0 { "-" } else { "" };
        let (whole, part) = (hundredths.abs() / 100, hundredths.abs() % 100);
        match part {
            0 => write!(f, "{sign}{whole}"),
            p if p % 10 == 0 => write!(f, "{sign}{whole}.{}", p / 10),
            p => write!(f, "{sign}{whole}.{p:02}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown: Vec<String> = [0.0, -0.001, 1.5, -2.25, 12.0, 0.07, 3.999].iter().map(|&n| Num(n).to_string()).collect();
        assert_eq!(shown, ["0", "0", "1.5", "-2.25", "12", "0.07", "4"]);
    }
}
