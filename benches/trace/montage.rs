//! The Montage workflow (Debian's package) on made sky images that overlap.

use std::f64::consts::PI;
use std::fs;
use std::io::Write;
use std::path::Path;

/// The size of an image of the 2MASS survey, for which Montage was made.
const WIDTH: usize = 512;
const HEIGHT: usize = 1024;

/// Writes `count` images in FITS (32-bit floats, gnomonic projection, about an arc second a pixel)
/// with stars and a sloping background.
pub fn images(count: usize, dir: &Path) -> std::io::Result<()> {
    fs::create_dir_all(dir)?;
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (ra0, dec0) = (10.0, 5.0);
    let stars: Vec<(f64, f64, f64)> =
        (0..16000).map(|_| (ra0 + random.unit() * 1.6 - 0.8, dec0 + random.unit() * 1.6 - 0.8, 150.0 / (random.unit() + 0.02))).collect();
    let side = (count as f64).sqrt().ceil() as usize;
    for index in 0..count {
        let (ra, dec) = (ra0 + (index / side) as f64 * 0.11 - 0.2, dec0 + (index % side) as f64 * 0.22 - 0.4);
        let (level, slope_x, slope_y) = (200.0 + 100.0 * random.unit(), random.unit() * 0.04 - 0.02, random.unit() * 0.04 - 0.02);
        let mut pixels: Vec<f64> = (0..WIDTH * HEIGHT)
            .map(|at| level + 3.0 * random.normal() + (at % WIDTH) as f64 * slope_x + (at / WIDTH) as f64 * slope_y)
            .collect();
        for &(star_ra, star_dec, bright) in &stars {
            let (x, y) =
                ((ra - star_ra) * 3600.0 * (dec * PI / 180.0).cos() + WIDTH as f64 / 2.0, (star_dec - dec) * 3600.0 + HEIGHT as f64 / 2.0);
            if x < 5.0 || y < 5.0 || x > WIDTH as f64 - 6.0 || y > HEIGHT as f64 - 6.0 {
                continue;
            }
            for dy in -4..=4i32 {
                for dx in -4..=4i32 {
                    let (px, py) = (x.floor() + f64::from(dx), y.floor() + f64::from(dy));
                    let distance = (px - x).powi(2) + (py - y).powi(2);
                    pixels[py as usize * WIDTH + px as usize] += bright * (-distance / 3.0).exp();
                }
            }
        }
        let mut file = fs::File::create(dir.join(format!("im{index:03}.fits")))?;
        file.write_all(&header(ra, dec))?;
        let mut bytes: Vec<u8> = pixels.iter().flat_map(|value| (*value as f32).to_be_bytes()).collect();
        bytes.resize(bytes.len().next_multiple_of(2880), 0);
        file.write_all(&bytes)?;
    }
    Ok(())
}

/// A FITS header: cards of 80 characters, filled up to 2880 bytes (FITS standard 4.0, section 4).
fn header(ra: f64, dec: f64) -> Vec<u8> {
    let number = |key: &str, value: String| format!("{key:<8}= {value:>20}");
    let text = |key: &str, value: &str| format!("{key:<8}= '{value:<8}'");
    let cards = [
        number("SIMPLE", "T".into()),
        number("BITPIX", "-32".into()),
        number("NAXIS", "2".into()),
        number("NAXIS1", WIDTH.to_string()),
        number("NAXIS2", HEIGHT.to_string()),
        text("CTYPE1", "RA---TAN"),
        text("CTYPE2", "DEC--TAN"),
        number("CRVAL1", format!("{ra:.9}")),
        number("CRVAL2", format!("{dec:.9}")),
        number("CRPIX1", format!("{:.1}", WIDTH as f64 / 2.0 + 0.5)),
        number("CRPIX2", format!("{:.1}", HEIGHT as f64 / 2.0 + 0.5)),
        number("CDELT1", format!("{:.12}", -1.0 / 3600.0)),
        number("CDELT2", format!("{:.12}", 1.0 / 3600.0)),
        number("CROTA2", "0.0".into()),
        number("EQUINOX", "2000.0".into()),
        "END".to_owned(),
    ];
    let mut bytes: Vec<u8> = cards.iter().flat_map(|card| format!("{card:<80}").into_bytes()).collect();
    bytes.resize(bytes.len().next_multiple_of(2880), b' ');
    bytes
}

/// The workflow's steps, as a shell script that runs in a directory that holds `raw/`.
pub const SCRIPT: &str = "set -e
rm -rf proj diff corr *.tbl *.hdr mosaic.fits small.fits; mkdir proj diff corr
mImgtbl raw raw.tbl; mMakeHdr raw.tbl t.hdr
ls raw | xargs -P 2 -I{} mProjectPP raw/{} proj/{} t.hdr
mImgtbl proj proj.tbl; mOverlaps proj.tbl diffs.tbl
mDiffExec -p proj diffs.tbl t.hdr diff; mFitExec diffs.tbl fits.tbl diff
mBgModel proj.tbl fits.tbl corr.tbl; mBgExec -p proj proj.tbl corr.tbl corr
mImgtbl corr c.tbl; mAdd -p corr c.tbl t.hdr mosaic.fits; mShrink mosaic.fits small.fits 4
test -s small.fits";

/// A small generator (xorshift*), so that the images are the same each time.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}
