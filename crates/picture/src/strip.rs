//! Several pictures side by side, with their times.

use glam::Vec2;

use crate::Image;
use crate::color::linear_of_bytes;
use crate::legend::time_label;
use crate::pen::{Align, Pen};

/// Lays pictures out in rows of `columns`, with thin white gaps and the simulated time in the corner of each. All take
/// the size of the first; no pictures give an empty one.
#[must_use]
pub fn film_strip(images: &[Image], columns: usize) -> Image {
    let Some((width, height)) = images.first().map(|i| (i.width(), i.height())) else { return Image::default() };
    let columns = columns.clamp(1, images.len());
    let rows = images.len().div_ceil(columns);
    let gap = (width / 120).max(2);
    let side = |count: usize, length: u32| count as u32 * (length + gap) - gap;
    let mut strip = Image::filled(side(columns, width), side(rows, height), [255; 3]);
    for (i, image) in images.iter().enumerate() {
        let corner = ((i % columns) as u32 * (width + gap), (i / columns) as u32 * (height + gap));
        paste(&mut strip, &labelled(image, width, height), corner);
    }
    strip
}

/// A strip with words below each of its columns, a line each.
#[must_use]
pub fn captioned(strip: &Image, captions: &[[String; 2]]) -> Image {
    let (width, columns) = (strip.width(), captions.len().max(1) as f32);
    let size = (width as f32 / columns / 36.0).max(7.0);
    let band = (5.6 * size) as u32;
    let mut whole = Image::filled(width, strip.height() + band, [255; 3]);
    paste(&mut whole, strip, (0, 0));
    let (ink, paper) = (linear_of_bytes([44, 52, 62]), linear_of_bytes([255; 3]));
    let mut pen = Pen { image: &mut whole, ink, paper, size };
    for (column, lines) in captions.iter().enumerate() {
        let x = (column as f32 + 0.5) * width as f32 / columns;
        for (line, text) in lines.iter().enumerate() {
            let y = strip.height() as f32 + (1.9 + 2.1 * line as f32) * size;
            pen.write(text, Vec2::new(x, y), Align::Center);
        }
    }
    whole
}

/// A cell of a strip that has words where there is no picture, in lines of at most 40 letters.
#[must_use]
pub fn worded([width, height]: [u32; 2], words: &str) -> Image {
    let ground = [236, 238, 240];
    let mut cell = Image::filled(width, height, ground);
    let size = (width as f32 / 44.0).max(5.0);
    let lines = wrapped(words, 40);
    let mut pen = Pen { image: &mut cell, ink: linear_of_bytes([44, 52, 62]), paper: linear_of_bytes(ground), size };
    let top = 0.5 * height as f32 - size * (lines.len().max(1) - 1) as f32;
    for (number, line) in lines.iter().enumerate() {
        pen.write(line, Vec2::new(0.5 * width as f32, top + 2.0 * size * number as f32), Align::Center);
    }
    cell
}

/// Words in lines of at most so many letters; a longer word has a line of its own.
fn wrapped(words: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= most) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The picture in the size of a cell, with its time in the upper left corner.
fn labelled(image: &Image, width: u32, height: u32) -> Image {
    let mut cell = image.resized(width, height);
    if let Some(time) = image.time() {
        let size = (height as f32 / 28.0).max(7.0);
        let around = linear_of_bytes(cell.pixel(0, 0).unwrap_or_default());
        let [dark, light] = [linear_of_bytes([44, 52, 62]), linear_of_bytes([226, 230, 236])];
        let ink = if around.element_sum() > 0.6 { dark } else { light };
        let mut pen = Pen { image: &mut cell, ink, paper: around, size };
        pen.write(&time_label(time), Vec2::new(1.4 * size, 2.4 * size), Align::Left);
    }
    cell
}

fn paste(strip: &mut Image, cell: &Image, (left, top): (u32, u32)) {
    let (strip_width, cell_width) = (strip.width() as usize, cell.width() as usize);
    if cell_width == 0 {
        return;
    }
    let rows = cell.pixels().chunks_exact(3 * cell_width);
    for (row, to) in rows.zip(strip.pixels_mut().chunks_mut(strip_width).skip(top as usize)) {
        to[left as usize..left as usize + cell_width].as_flattened_mut().copy_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_lie_in_rows_with_gaps() {
        let colors = [[200, 0, 0], [0, 200, 0], [0, 0, 200]];
        let images = colors.map(|c| Image::filled(60, 40, c));
        let strip = film_strip(&images, 2);
        assert_eq!((strip.width(), strip.height()), (122, 82));
        assert_eq!(strip.pixel(30, 20), Some(colors[0]));
        assert_eq!(strip.pixel(61, 20), Some([255; 3]));
        assert_eq!((strip.pixel(92, 20), strip.pixel(30, 62)), (Some(colors[1]), Some(colors[2])));
        assert_eq!(strip.pixel(92, 62), Some([255; 3]));
    }

    #[test]
    fn captions_stand_below() {
        let strip = Image::filled(200, 100, [9; 3]);
        let with = captioned(&strip, &[["gauss".into(), "1 ms".into()], ["unified".into(), String::new()]]);
        assert_eq!(with.width(), 200);
        assert!(with.height() > 130 && with.pixel(100, 50) == Some([9; 3]));
        let below = |x: u32| (101..with.height()).any(|y| with.pixel(x, y).is_some_and(|p| p[0] < 200));
        assert!((30..70).any(below) && (130..170).any(below));
        assert_eq!(captioned(&Image::default(), &[]).width(), 0);
    }

    #[test]
    fn words_stand_in_the_middle_of_a_cell() {
        assert_eq!(wrapped("a bc def  ghij", 6), ["a bc", "def", "ghij"]);
        assert_eq!(wrapped("incomprehensible a", 6), ["incomprehensible", "a"]);
        let cell = worded([200, 100], "it cannot");
        let dark = |y: u32| (0..200).any(|x| cell.pixel(x, y).is_some_and(|p| p[0] < 150));
        assert!((35..65).any(dark) && !(0..25).any(dark) && !(75..100).any(dark));
        assert_eq!(worded([10, 10], "").pixel(5, 5), Some([236, 238, 240]));
    }

    #[test]
    fn times_are_written_and_odd_input_is_harmless() {
        let image = Image::filled(200, 120, [255; 3]);
        let strip = film_strip(&[image.clone().at_time(Some(0.25))], 5);
        assert_ne!(strip, image);
        assert_eq!(film_strip(&[], 3), Image::default());
        assert_eq!(film_strip(&[Image::default(), image.clone()], 0).width(), 0);
        assert_eq!(film_strip(&[image, Image::default(), Image::filled(3, 999, [0; 3])], 2).width(), 402);
    }
}
