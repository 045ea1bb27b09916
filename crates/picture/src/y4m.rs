//! Films as raw planes, which any encoder reads: `YUV4MPEG2`.
//!
//! Luma and colour differences are those of BT.709, 8 bits, limited range (16 to 235), colours at half the size in both directions:
//! Y = 0.2126 R + 0.7152 G + 0.0722 B, Cb = (B − Y)/1.8556, Cr = (R − Y)/1.5748.

use std::io::Write;

use crate::{Image, PictureError};

/// Writes a raw film, picture by picture.
///
/// ```
/// use meniscus_picture::{Image, Y4mWriter};
///
/// let mut film = Y4mWriter::new(Vec::new(), 25.0);
/// film.push(&Image::filled(64, 36, [255, 255, 255]))?;
/// let bytes = film.finish()?;
/// assert!(bytes.starts_with(b"YUV4MPEG2 W64 H36 F25000:1000 "));
/// # Ok::<(), meniscus_picture::PictureError>(())
/// ```
pub struct Y4mWriter<W: Write> {
    out: W,
    /// Pictures per second \[1/s\].
    rate: f64,
    /// Width and height of the film \[px\], even; known from the first picture on.
    size: Option<[u32; 2]>,
}

impl<W: Write> Y4mWriter<W> {
    /// A film of so many pictures per second \[1/s\].
    pub fn new(out: W, pictures_per_second: f64) -> Self {
        let usable = pictures_per_second.is_finite() && pictures_per_second > 0.0;
        Self { out, rate: if usable { pictures_per_second } else { 25.0 }, size: None }
    }

    /// Adds a picture. A last odd row or column is left out: colours have half the size.
    ///
    /// # Errors
    /// When it is empty, has another size than the first one, or writing fails.
    pub fn push(&mut self, image: &Image) -> Result<(), PictureError> {
        let size = [image.width() & !1, image.height() & !1];
        let first = self.size.is_none();
        let film = *self.size.get_or_insert(size);
        if film != size || size.contains(&0) {
            let ([width, height], [other_width, other_height]) = (film, size);
            return Err(PictureError::FilmSize { width, height, other_width, other_height });
        }
        if first {
            self.write_header(size)?;
        }
        self.out.write_all(b"FRAME\n")?;
        Ok(self.out.write_all(&planes(image))?)
    }

    /// Ends the film and gives back where it was written to.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(mut self) -> Result<W, PictureError> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn write_header(&mut self, [width, height]: [u32; 2]) -> Result<(), PictureError> {
        let thousandths = (1000.0 * self.rate).round().max(1.0) as u64;
        let line = format!("YUV4MPEG2 W{width} H{height} F{thousandths}:1000 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\n");
        Ok(self.out.write_all(line.as_bytes())?)
    }
}

/// Luma, then the two colour differences, of a picture without its last odd row and column.
pub(crate) fn planes(image: &Image) -> Vec<u8> {
    let (width, height) = (image.width() as usize & !1, image.height() as usize & !1);
    let at = |x: usize, y: usize| {
        let index = 3 * (y * image.width() as usize + x);
        [0, 1, 2].map(|k| f32::from(image.pixels()[index + k]) / 255.0)
    };
    let mut bytes = Vec::with_capacity(width * height * 3 / 2);
    for y in 0..height {
        bytes.extend((0..width).map(|x| (16.5 + 219.0 * luma(at(x, y))) as u8));
    }
    for (channel, scale) in [(2, 1.8556), (0, 1.5748)] {
        for y in (0..height).step_by(2) {
            bytes.extend((0..width).step_by(2).map(|x| {
                let corners = [at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)];
                let mean = [0, 1, 2].map(|k| corners.iter().map(|c| c[k]).sum::<f32>() * 0.25);
                (128.5 + 224.0 * (mean[channel] - luma(mean)) / scale) as u8
            }));
        }
    }
    bytes
}

fn luma([r, g, b]: [f32; 3]) -> f32 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pure_colours_have_the_values_of_the_standard() {
        // BT.709, limited range: white 235, black 16; red (63, 102, 240), blue (32, 240, 118).
        let of = |color| {
            let planes = planes(&Image::filled(2, 2, color));
            assert_eq!(planes.len(), 6);
            [planes[0], planes[4], planes[5]]
        };
        assert_eq!(of([255; 3]), [235, 128, 128]);
        assert_eq!(of([0; 3]), [16, 128, 128]);
        assert_eq!(of([255, 0, 0]), [63, 102, 240]);
        assert_eq!(of([0, 0, 255]), [32, 240, 118]);
    }

    #[test]
    fn a_film_has_one_header_and_pictures_of_one_size() {
        let mut film = Y4mWriter::new(Vec::new(), 30.0);
        film.push(&Image::filled(5, 4, [9; 3])).unwrap();
        film.push(&Image::filled(4, 5, [9; 3])).unwrap();
        assert!(film.push(&Image::filled(6, 4, [9; 3])).is_err());
        let bytes = film.finish().unwrap();
        let header = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
        assert_eq!(bytes.len() - header, 2 * (6 + 4 * 4 * 3 / 2));
        assert!(Y4mWriter::new(Vec::new(), 30.0).push(&Image::default()).is_err());
    }
}
