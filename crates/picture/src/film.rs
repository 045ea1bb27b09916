//! Animated GIF: one palette for the whole film, only what changed in each frame.

use std::io::Write;
use std::mem;

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use crate::color::dither_threshold;
use crate::palette::{COLORS, Census, Palette};
use crate::{Image, PictureError};

/// The index that means "as in the frame before".
const SAME: u8 = COLORS as u8;
/// Memory for pictures that wait for the palette \[bytes\]; a longer film takes its palette from as many as fit.
const WAITING: usize = 96 << 20;
/// Levels by which the ordered dither moves a colour, from one end to the other.
const DITHER: f32 = 5.0;
/// Shortest delay that browsers honour \[hundredths of a second\].
const SHORTEST: u64 = 2;

/// Writes an animated GIF that loops for ever.
///
/// Pictures wait in memory until [`finish`](Self::finish) (or until about a hundred megabytes have gathered): then a palette of 255
/// colours is made for all of them. The same pictures give the same bytes.
///
/// ```
/// use meniscus_picture::{GifWriter, Image};
///
/// let mut film = GifWriter::new(Vec::new(), 320, 25.0);
/// for shade in [0, 128, 255] {
///     film.push(&Image::filled(640, 360, [shade; 3]))?;
/// }
/// let bytes = film.finish()?;
/// assert!(bytes.starts_with(b"GIF89a"));
/// # Ok::<(), meniscus_picture::PictureError>(())
/// ```
pub struct GifWriter<W: Write> {
    phase: Phase<W>,
    /// Width asked for \[px\].
    width: u32,
    /// Pictures per second \[1/s\].
    rate: f64,
    /// Size of the film \[px\], and of the pictures it is made from; known from the first one on.
    size: Option<[(u32, u32); 2]>,
    pushed: u64,
    /// Start of the last picture that was kept \[hundredths of a second\].
    last_start: Option<u64>,
    waiting: Vec<Shot>,
    waiting_bytes: usize,
    census: Census,
}

/// A picture that waits to be written.
struct Shot {
    pixels: Vec<u8>,
    /// Start \[hundredths of a second\].
    start: u64,
}

/// Before and after the palette is known.
enum Phase<W: Write> {
    Gathering(W),
    Writing(Box<Writing<W>>),
    /// Writing failed.
    Broken,
}

struct Writing<W: Write> {
    encoder: Encoder<W>,
    palette: Palette,
    /// Indices on the screen.
    shown: Vec<u8>,
    /// The picture that waits for its delay to be known: indices and start.
    next: Option<(Vec<u8>, u64)>,
}

impl<W: Write> GifWriter<W> {
    /// A film `width` \[px\] wide (pictures are never enlarged), of so many pictures per second \[1/s\]. Browsers do not
    /// show more than 50 pictures per second; of a faster film some are left out.
    pub fn new(out: W, width: u32, pictures_per_second: f64) -> Self {
        let usable = pictures_per_second.is_finite() && pictures_per_second > 0.0;
        Self {
            phase: Phase::Gathering(out),
            width,
            rate: if usable { pictures_per_second.max(0.01) } else { 25.0 },
            size: None,
            pushed: 0,
            last_start: None,
            waiting: Vec::new(),
            waiting_bytes: 0,
            census: Census::default(),
        }
    }

    /// Adds a picture.
    ///
    /// # Errors
    /// When it is empty, has another size than the first one, or writing fails.
    pub fn push(&mut self, image: &Image) -> Result<(), PictureError> {
        let (width, height) = self.check_size(image)?;
        let start = (100.0 * self.pushed as f64 / self.rate).round() as u64;
        self.pushed += 1;
        if self.last_start.is_some_and(|last| start < last + SHORTEST) {
            return Ok(());
        }
        self.last_start = Some(start);
        let shot = Shot { pixels: image.resized(width, height).into_pixels(), start };
        match &mut self.phase {
            Phase::Writing(writing) => writing.write(&shot, width),
            _ => {
                self.census.add(shot.pixels.as_chunks().0);
                self.waiting_bytes += shot.pixels.len();
                self.waiting.push(shot);
                if self.waiting_bytes > WAITING { self.start_writing() } else { Ok(()) }
            }
        }
    }

    /// Writes what is left and hands the output back. A film without pictures is an empty output.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(mut self) -> Result<W, PictureError> {
        if self.size.is_some() && matches!(self.phase, Phase::Gathering(_)) {
            self.start_writing()?;
        }
        // The last picture stays as long as the others.
        let end = (100.0 * self.pushed as f64 / self.rate).round() as u64;
        match self.phase {
            Phase::Gathering(out) => Ok(out),
            Phase::Writing(mut writing) => {
                let width = self.size.map_or(0, |[film, _]| film.0);
                writing.show_next(end, width)?;
                Ok(writing.encoder.into_inner()?)
            }
            Phase::Broken => Err(PictureError::Gif(std::io::Error::other("an earlier picture failed").into())),
        }
    }

    /// The size of the film, when the picture has the size of the first one.
    fn check_size(&mut self, image: &Image) -> Result<(u32, u32), PictureError> {
        let (width, height) = (image.width(), image.height());
        let [film, first] = self.size.unwrap_or([film_size((width, height), self.width), (width, height)]);
        if film.0 == 0 || film.1 == 0 {
            return Err(PictureError::FilmSize {
                width: self.width,
                height: 0,
                other_width: width,
                other_height: height,
            });
        }
        if (width, height) != first {
            let (film_width, film_height) = first;
            let (other_width, other_height) = (width, height);
            return Err(PictureError::FilmSize { width: film_width, height: film_height, other_width, other_height });
        }
        self.size = Some([film, first]);
        Ok(film)
    }

    /// Makes the palette and writes all that waits.
    fn start_writing(&mut self) -> Result<(), PictureError> {
        let Phase::Gathering(out) = mem::replace(&mut self.phase, Phase::Broken) else { return Ok(()) };
        let (width, height) = self.size.map_or((0, 0), |[film, _]| film);
        let palette = Palette::new(&self.census);
        let mut encoder = Encoder::new(out, width as u16, height as u16, &palette.bytes())?;
        encoder.set_repeat(Repeat::Infinite)?;
        let mut writing = Writing { encoder, palette, shown: Vec::new(), next: None };
        for shot in mem::take(&mut self.waiting) {
            writing.write(&shot, width)?;
        }
        self.phase = Phase::Writing(Box::new(writing));
        Ok(())
    }
}

/// The size of a film made from pictures of a size, not wider than asked for; GIF allows 65,535 pixels.
fn film_size((width, height): (u32, u32), wish: u32) -> (u32, u32) {
    let most = u64::from(u16::MAX);
    let new_width = u64::from(wish.min(width)).min(most);
    let new_height = (u64::from(height) * new_width * 2 + u64::from(width)) / (2 * u64::from(width)).max(1);
    let new_height = if new_width > 0 && height > 0 { new_height.clamp(1, most) } else { 0 };
    (new_width as u32, new_height as u32)
}

impl<W: Write> Writing<W> {
    /// Takes the next picture; it is written when its successor, hence its delay, is known.
    fn write(&mut self, shot: &Shot, width: u32) -> Result<(), PictureError> {
        let indices = self.indices(&shot.pixels, width as usize);
        self.show_next(shot.start, width)?;
        self.next = Some((indices, shot.start));
        Ok(())
    }

    /// Writes the picture that waits, to be shown until `end` \[hundredths of a second\].
    fn show_next(&mut self, end: u64, width: u32) -> Result<(), PictureError> {
        let Some((indices, start)) = self.next.take() else { return Ok(()) };
        let delay = end.saturating_sub(start).clamp(SHORTEST, u64::from(u16::MAX)) as u16;
        let mut frame = self.changes(&indices, width as usize);
        frame.delay = delay;
        self.encoder.write_frame(&frame)?;
        self.shown = indices;
        Ok(())
    }

    /// Nearest colours with an ordered dither, which leaves alone what does not move.
    fn indices(&self, pixels: &[u8], width: usize) -> Vec<u8> {
        let pixels: &[[u8; 3]] = pixels.as_chunks().0;
        let dithered = pixels.iter().enumerate().map(|(i, pixel)| {
            let shift = (dither_threshold(i % width, i / width) - 0.5) * DITHER;
            self.palette.nearest(pixel.map(|v| (f32::from(v) + shift + 0.5) as u8))
        });
        dithered.collect()
    }

    /// The smallest rectangle that changed; what did not change in it is transparent.
    fn changes(&self, indices: &[u8], width: usize) -> Frame<'static> {
        let height = indices.len() / width.max(1);
        if self.shown.len() != indices.len() {
            return whole(indices, width, height);
        }
        let changed = |x: usize, y: usize| indices[y * width + x] != self.shown[y * width + x];
        let row_changed = |y: &usize| (0..width).any(|x| changed(x, *y));
        let Some(top) = (0..height).find(row_changed) else { return part(vec![SAME], [0, 0], 1) };
        let bottom = (0..height).rfind(row_changed).unwrap_or(top);
        let column_changed = |x: &usize| (top..=bottom).any(|y| changed(*x, y));
        let left = (0..width).find(column_changed).unwrap_or(0);
        let right = (0..width).rfind(column_changed).unwrap_or(left);
        let pixels = (top..=bottom).flat_map(|y| (left..=right).map(move |x| (x, y)));
        let buffer = pixels.map(|(x, y)| if changed(x, y) { indices[y * width + x] } else { SAME }).collect();
        part(buffer, [left, top], right - left + 1)
    }
}

fn whole(indices: &[u8], width: usize, height: usize) -> Frame<'static> {
    Frame {
        width: width as u16,
        height: height as u16,
        dispose: DisposalMethod::Keep,
        buffer: indices.to_vec().into(),
        ..Frame::default()
    }
}

fn part(buffer: Vec<u8>, [left, top]: [usize; 2], width: usize) -> Frame<'static> {
    let height = buffer.len() / width.max(1);
    let frame = whole(&buffer, width, height);
    Frame { left: left as u16, top: top as u16, transparent: Some(SAME), ..frame }
}
