//! Films decode to the right pictures at the right pace.

use meniscus_picture::{GifWriter, Image, PictureError};

struct Film {
    size: (u16, u16),
    repeat: gif::Repeat,
    delays: Vec<u16>,
    /// Red, green and blue of the whole screen after each frame.
    screens: Vec<Vec<u8>>,
}

fn decode(bytes: &[u8]) -> Film {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(bytes).unwrap();
    let size = (decoder.width(), decoder.height());
    let mut screen = vec![0; 3 * size.0 as usize * size.1 as usize];
    let (mut delays, mut screens) = (Vec::new(), Vec::new());
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        delays.push(frame.delay);
        for (i, pixel) in frame.buffer.chunks(4).enumerate() {
            let (x, y) =
                (i % frame.width as usize + frame.left as usize, i / frame.width as usize + frame.top as usize);
            if pixel[3] > 0 {
                let at = 3 * (y * size.0 as usize + x);
                screen[at..at + 3].copy_from_slice(&pixel[..3]);
            }
        }
        screens.push(screen.clone());
    }
    Film { size, repeat: decoder.repeat(), delays, screens }
}

/// A bright square that moves over a grey gradient.
fn shot(step: u32) -> Image {
    let (width, height) = (120, 80);
    let pixels = (0..width * height).flat_map(|i| {
        let (x, y) = (i % width, i / width);
        let inside = (10 * step..10 * step + 20).contains(&x) && (30..50).contains(&y);
        if inside { [250, 210, 30] } else { [(190 + y / 2) as u8, (195 + y / 2) as u8, (200 + y / 2) as u8] }
    });
    Image::from_rgb(width, height, pixels.collect()).unwrap()
}

fn film(count: u32, width: u32, rate: f64) -> Vec<u8> {
    let mut film = GifWriter::new(Vec::new(), width, rate);
    for step in 0..count {
        film.push(&shot(step)).unwrap();
    }
    film.finish().unwrap()
}

#[test]
fn every_picture_comes_back() {
    let bytes = film(8, 120, 25.0);
    let decoded = decode(&bytes);
    assert_eq!((decoded.size, decoded.repeat), ((120, 80), gif::Repeat::Infinite));
    assert_eq!(decoded.delays, [4; 8]);
    for (step, screen) in decoded.screens.iter().enumerate() {
        let source = shot(step as u32);
        let error = screen.iter().zip(source.pixels()).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(error <= 6, "frame {step}: {error}");
    }
    assert!(bytes.len() < 8 * 4000, "{}", bytes.len());
}

#[test]
fn delays_add_up_at_any_pace() {
    for (rate, count) in [(30.0, 30), (24.0, 12), (12.5, 5), (0.5, 3)] {
        let delays = decode(&film(count, 60, rate)).delays;
        assert_eq!(delays.len(), count as usize);
        let total: u32 = delays.iter().map(|d| u32::from(*d)).sum();
        assert_eq!(total, (100.0 * f64::from(count) / rate).round() as u32, "{rate}");
    }
    // Browsers show no more than 50 pictures per second: of 100 every second one is left out.
    let fast = decode(&film(20, 60, 100.0)).delays;
    assert_eq!(fast, [2; 10]);
}

#[test]
fn pictures_are_made_smaller_but_not_larger() {
    assert_eq!(decode(&film(2, 60, 25.0)).size, (60, 40));
    assert_eq!(decode(&film(2, 1000, 25.0)).size, (120, 80));
}

#[test]
fn still_films_and_equal_films() {
    let mut still = GifWriter::new(Vec::new(), 120, 25.0);
    (0..5).for_each(|_| still.push(&shot(0)).unwrap());
    let still = still.finish().unwrap();
    assert_eq!(decode(&still).screens.len(), 5);
    assert!(still.len() < film(1, 120, 25.0).len() + 200);
    assert_eq!(film(6, 100, 25.0), film(6, 100, 25.0));
}

#[test]
fn odd_pictures_are_refused() {
    let mut film = GifWriter::new(Vec::new(), 120, f64::NAN);
    assert!(film.push(&Image::default()).is_err());
    film.push(&shot(0)).unwrap();
    let other = Image::filled(10, 10, [0; 3]);
    assert!(matches!(film.push(&other), Err(PictureError::FilmSize { width: 120, height: 80, .. })));
    film.push(&shot(1)).unwrap();
    assert_eq!(decode(&film.finish().unwrap()).delays, [4, 4]);
    assert!(GifWriter::new(Vec::new(), 120, 25.0).finish().unwrap().is_empty());
    assert!(GifWriter::new(Vec::new(), 0, 25.0).push(&shot(0)).is_err());
}
