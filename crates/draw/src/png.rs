//! A figure for slides: SVG text in, PNG bytes out.
//!
//! Drawn by `resvg` with the sans-serif fonts of this machine, so that the same SVG gives the same
//! bytes only where the fonts are the same. Nothing is fetched and no file is read but the fonts.
//! Refused are: text that is not SVG, a scale that is not between 0.05 and 20, a figure of more
//! than 100 megapixels, and a machine without any font ([`PngError`]).

use std::sync::Arc;

use resvg::{tiny_skia, usvg};

/// Maximum number of pixels of a figure: 400 MB while it is drawn.
pub const MOST_PIXELS: u64 = 100_000_000;

/// Reason why there is no figure.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum PngError {
    /// There is nothing to draw letters with.
    #[error("no font was found on this machine, and the figure would have no text; install one, such as the package fonts-dejavu-core")]
    NoFont,
    /// The scale makes no sense.
    #[error("a scale of {0} cannot be drawn; take one from 0.05 to 20, such as 2 for 192 dots an inch")]
    Scale(f32),
    /// The figure would be too large.
    #[error("the figure would have {width}×{height} pixels, and at most {} million are drawn; choose a smaller scale or a smaller figure", MOST_PIXELS / 1_000_000)]
    TooLarge {
        /// Width of the figure, in pixels.
        width: u64,
        /// Height of the figure, in pixels.
        height: u64,
    },
    /// The text is no SVG that can be drawn.
    #[error("the text is no SVG that can be drawn: {0}")]
    NotSvg(String),
    /// The bytes could not be made.
    #[error("the figure could not be written as PNG: {0}")]
    Encoding(String),
}

/// Draws an SVG text. A scale of 1 makes one pixel of each pixel of the SVG (96 dots an inch), 2
/// makes four of it.
///
/// # Errors
/// [`PngError`] says what is refused.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_system_fonts();
    png_with(svg, scale, fonts)
}

/// As [`png`], with these fonts in place of the system's.
fn png_with(svg: &str, scale: f32, mut fonts: usvg::fontdb::Database) -> Result<Vec<u8>, PngError> {
    if !(0.05..=20.0).contains(&scale) {
        return Err(PngError::Scale(scale));
    }
    let first = fonts.faces().next().and_then(|face| face.families.first()).map(|family| family.0.clone()).ok_or(PngError::NoFont)?;
    // `sans-serif` of a machine without a setting for it: a usual one, or else any.
    let has = |name: &&str| fonts.faces().any(|face| face.families.iter().any(|family| family.0 == **name));
    let usual = ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica"].into_iter().find(has).map_or(first, str::to_owned);
    fonts.set_sans_serif_family(usual);
    let options = usvg::Options { fontdb: Arc::new(fonts), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|problem| PngError::NotSvg(problem.to_string()))?;
    let pixels = |length: f32| (f64::from(length) * f64::from(scale)).ceil().max(1.0) as u64;
    let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
    let too_large = PngError::TooLarge { width, height };
    if width.saturating_mul(height) > MOST_PIXELS {
        return Err(too_large);
    }
    let (Ok(w), Ok(h)) = (u32::try_from(width), u32::try_from(height)) else { return Err(too_large) };
    let Some(mut pixmap) = tiny_skia::Pixmap::new(w, h) else { return Err(too_large) };
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|problem| PngError::Encoding(problem.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(png: &[u8]) -> (u32, u32) {
        let number = |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
        assert_eq!(&png[1..4], b"PNG");
        (number(16), number(20))
    }

    const WORDS: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"50\" font-family=\"sans-serif\"><text x=\"9\" y=\"30\">flow</text></svg>";

    #[test]
    fn a_scale_of_two_has_twice_the_pixels_and_the_words_are_there() {
        let Ok(small) = png(WORDS, 1.0) else {
            // Without fonts the error below is what there is to see.
            assert_eq!(png(WORDS, 1.0), Err(PngError::NoFont));
            return;
        };
        let large = png(WORDS, 2.0).expect("there is a font");
        assert_eq!((size(&small), size(&large)), ((200, 50), (400, 100)));
        let without = png(&WORDS.replace("flow", ""), 2.0).expect("there is a font");
        assert_ne!(large, without);
        assert_eq!(large, png(WORDS, 2.0).expect("there is a font"));
    }

    #[test]
    fn what_cannot_be_drawn_is_refused_in_a_sentence() {
        let none = png_with(WORDS, 1.0, usvg::fontdb::Database::new());
        assert!(none.expect_err("there is no font").to_string().contains("fonts-dejavu-core"));
        assert_eq!(png(WORDS, f32::NAN).map_err(|problem| matches!(problem, PngError::Scale(_))), Err(true));
        if png(WORDS, 1.0).is_ok() {
            let huge = WORDS.replace("\"200\"", "\"200000\"");
            assert_eq!(png(&huge, 4.0), Err(PngError::TooLarge { width: 800_000, height: 200 }));
            assert!(matches!(png("<svg", 1.0), Err(PngError::NotSvg(_))));
        }
    }
}
