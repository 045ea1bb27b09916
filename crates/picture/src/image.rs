//! Pixels, and their way into a PNG.

use std::io::Write;

use rayon::prelude::*;

use crate::PictureError;
use crate::color::{Encoder, Light, linear_of_bytes};

/// A picture: eight bits each of red, green and blue (sRGB), rows from top to bottom.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Image {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
    time: Option<f64>,
}

impl Image {
    /// A picture of one colour (sRGB), `width` × `height` \[px\].
    #[must_use]
    pub fn filled(width: u32, height: u32, color: [u8; 3]) -> Self {
        let mut image = Self::default();
        image.reshape(width, height);
        image.pixels.as_chunks_mut().0.fill(color);
        image
    }

    /// A picture from its bytes, three per pixel; `None` when their number is not `3 width height`.
    #[must_use]
    pub fn from_rgb(width: u32, height: u32, pixels: Vec<u8>) -> Option<Self> {
        (pixels.len() == byte_count(width, height)).then_some(Self { width, height, pixels, time: None })
    }

    /// Width \[px\].
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height \[px\].
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All bytes: red, green, blue of each pixel, rows from top to bottom.
    #[must_use]
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Red, green and blue at column `x`, row `y`, or `None` outside.
    #[must_use]
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        let inside = x < self.width && y < self.height;
        let index = y as usize * self.width as usize + x as usize;
        if inside { self.pixels.as_chunks().0.get(index).copied() } else { None }
    }

    /// Simulated time that the picture shows \[s\], when it shows one.
    #[must_use]
    pub fn time(&self) -> Option<f64> {
        self.time
    }

    /// The same picture with another time \[s\].
    #[must_use]
    pub fn at_time(mut self, time: Option<f64>) -> Self {
        self.time = time;
        self
    }

    /// The picture in another size \[px\]: each new pixel is the average light of the area it covers.
    #[must_use]
    pub fn resized(&self, width: u32, height: u32) -> Self {
        let mut small = Self { time: self.time, ..Self::default() };
        small.fill_from(self, width, height);
        small
    }

    /// Writes the picture as a PNG.
    ///
    /// # Errors
    /// When the picture is empty or the writer fails.
    pub fn write_png(&self, out: impl Write) -> Result<(), PictureError> {
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        Ok(writer.finish()?)
    }

    /// The picture as the bytes of a PNG file.
    ///
    /// # Errors
    /// When the picture is empty.
    pub fn to_png(&self) -> Result<Vec<u8>, PictureError> {
        let mut bytes = Vec::with_capacity(self.pixels.len() / 2);
        self.write_png(&mut bytes)?;
        Ok(bytes)
    }

    /// The picture as the bytes of a JPEG file, of a quality from 1 to 100: smaller than a PNG where there is much detail.
    ///
    /// # Errors
    /// When the picture is empty or more than 65,535 pixels wide or high.
    pub fn to_jpeg(&self, quality: u8) -> Result<Vec<u8>, PictureError> {
        let error = PictureError::Size { width: self.width, height: self.height, supersample: 1, limit: 65_535 };
        let (Ok(width), Ok(height)) = (u16::try_from(self.width), u16::try_from(self.height)) else {
            return Err(error);
        };
        let mut bytes = Vec::new();
        let mut encoder = jpeg_encoder::Encoder::new(&mut bytes, quality.clamp(1, 100));
        encoder.set_optimized_huffman_tables(true);
        encoder.encode(&self.pixels, width, height, jpeg_encoder::ColorType::Rgb)?;
        Ok(bytes)
    }

    /// Reads back a PNG that [`Image::to_png`] has written, or any other of eight bits per channel without transparency.
    ///
    /// # Errors
    /// When the bytes are no such PNG.
    pub fn from_png(bytes: &[u8]) -> Result<Self, PictureError> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info()?;
        let size = reader.output_buffer_size().ok_or(png::DecodingError::LimitsExceeded)?;
        let mut pixels = vec![0; size];
        let info = reader.next_frame(&mut pixels)?;
        let plain = info.color_type == png::ColorType::Rgb && info.bit_depth == png::BitDepth::Eight;
        let image = plain.then(|| Self::from_rgb(info.width, info.height, pixels)).flatten();
        image.ok_or(PictureError::ForeignPng)
    }

    /// Takes another size, reusing the memory; the content is whatever it was.
    pub(crate) fn reshape(&mut self, width: u32, height: u32) {
        (self.width, self.height) = (width, height);
        self.pixels.resize(byte_count(width, height), 0);
    }

    /// Gives its bytes away.
    pub(crate) fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }

    /// Sets the time shown \[s\].
    pub(crate) fn set_time(&mut self, time: Option<f64>) {
        self.time = time;
    }

    /// The pixels, three bytes each.
    pub(crate) fn pixels_mut(&mut self) -> &mut [[u8; 3]] {
        self.pixels.as_chunks_mut().0
    }

    /// Becomes `source` in another size, by area average in linear light.
    pub(crate) fn fill_from(&mut self, source: &Self, width: u32, height: u32) {
        self.reshape(width, height);
        if width == 0 || height == 0 || source.pixels.is_empty() {
            self.pixels.fill(0);
            return;
        }
        if (width, height) == (source.width, source.height) {
            self.pixels.copy_from_slice(&source.pixels);
            return;
        }
        let columns: Vec<Cover> = (0..width).map(|x| Cover::of(x, width, source.width)).collect();
        let encoder = Encoder::new();
        self.pixels.par_chunks_mut(3 * width as usize).enumerate().for_each(|(y, row)| {
            let rows = Cover::of(y as u32, height, source.height);
            for (pixel, columns) in row.as_chunks_mut().0.iter_mut().zip(&columns) {
                *pixel = encoder.bytes(source.mean_light(columns, &rows));
            }
        });
    }

    fn mean_light(&self, columns: &Cover, rows: &Cover) -> Light {
        let (mut sum, mut area) = (Light::ZERO, 0.0);
        let pixels = self.pixels.as_chunks().0;
        for (y, height) in rows.parts() {
            let row = y as usize * self.width as usize;
            for (x, width) in columns.parts() {
                sum += linear_of_bytes(pixels[row + x as usize]) * (width * height);
                area += width * height;
            }
        }
        sum / area
    }
}

fn byte_count(width: u32, height: u32) -> usize {
    3usize.saturating_mul(width as usize).saturating_mul(height as usize)
}

/// The source pixels that one new pixel covers along an axis, and how much of the first and the last.
struct Cover {
    first: u32,
    last: u32,
    first_part: f32,
    last_part: f32,
}

impl Cover {
    fn of(index: u32, new_len: u32, source_len: u32) -> Self {
        // In units of 1 / new_len of a source pixel, so that all borders are whole numbers.
        let (new_len, source_len) = (u64::from(new_len), u64::from(source_len));
        let start = u64::from(index) * source_len;
        let end = start + source_len;
        let (first, last) = (start / new_len, (end - 1) / new_len);
        let first_part = ((first + 1) * new_len).min(end) - start;
        let last_part = end - (last * new_len).max(start);
        let part = |units: u64| units as f32 / new_len as f32;
        Self { first: first as u32, last: last as u32, first_part: part(first_part), last_part: part(last_part) }
    }

    fn parts(&self) -> impl Iterator<Item = (u32, f32)> {
        (self.first..=self.last).map(|i| {
            let part = if i == self.first {
                self.first_part
            } else if i == self.last {
                self.last_part
            } else {
                1.0
            };
            (i, part)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_averages_light_not_bytes() {
        let image = Image::from_rgb(2, 1, vec![0, 0, 0, 255, 255, 255]).unwrap();
        assert_eq!(image.resized(1, 1).pixel(0, 0), Some([188, 188, 188]));
    }

    #[test]
    fn a_flat_picture_stays_flat_at_any_size() {
        let image = Image::filled(7, 5, [10, 100, 200]);
        for (width, height) in [(1, 1), (3, 4), (7, 5), (20, 13)] {
            let other = image.resized(width, height);
            assert_eq!((other.width(), other.height()), (width, height));
            assert!(other.pixels().chunks(3).all(|p| p == [10, 100, 200]));
        }
    }

    #[test]
    fn empty_pictures_are_refused_not_fatal() {
        assert!(Image::default().to_png().is_err());
        assert_eq!(Image::default().resized(2, 2).pixels(), [0; 12]);
        assert!(Image::filled(2, 2, [0; 3]).resized(0, 3).pixels().is_empty());
        assert_eq!(Image::filled(2, 2, [0; 3]).pixel(2, 0), None);
        assert_eq!(Image::from_rgb(2, 2, vec![0; 11]), None);
    }

    #[test]
    fn png_decodes_to_the_same_pixels() {
        let pixels: Vec<u8> = (0..3 * 31 * 17u32).map(|i| (i * i % 251) as u8).collect();
        let image = Image::from_rgb(31, 17, pixels).unwrap();
        let bytes = image.to_png().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut decoded).unwrap();
        assert_eq!((info.width, info.height, info.color_type), (31, 17, png::ColorType::Rgb));
        assert_eq!(&decoded[..info.buffer_size()], image.pixels());
    }
}
