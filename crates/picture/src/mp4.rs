//! Films as MP4, H.264 of constant quality: plays everywhere. Needs the feature `mp4`, which builds the encoder from C++.

use std::io::Write;

use muxide::api::{Muxer, MuxerBuilder, VideoCodec};
use openh264::OpenH264API;
use openh264::encoder::{
    Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, QpRange, RateControlMode, UsageType,
};
use openh264::formats::YUVSlices;

use crate::y4m::planes;
use crate::{Image, PictureError};

/// Quantiser: lower is finer and larger.
const QUALITY: u8 = 22;
/// Time between pictures from which a player can start \[s\].
const KEY_FRAMES: f64 = 2.0;

/// Writes an MP4, picture by picture.
pub struct Mp4Writer<W: Write> {
    muxer: Option<Muxer<W>>,
    out: Option<W>,
    encoder: Encoder,
    /// Pictures per second \[1/s\].
    rate: f64,
    /// Width and height \[px\], even.
    size: [u32; 2],
    pushed: u32,
}

fn failed(reason: impl std::fmt::Display) -> PictureError {
    PictureError::Mp4 { reason: reason.to_string() }
}

impl<W: Write> Mp4Writer<W> {
    /// A film of so many pictures per second \[1/s\].
    ///
    /// # Errors
    /// When the encoder does not start.
    pub fn new(out: W, pictures_per_second: f64) -> Result<Self, PictureError> {
        let usable = pictures_per_second.is_finite() && pictures_per_second > 0.0;
        let rate = if usable { pictures_per_second } else { 25.0 };
        let config = EncoderConfig::new()
            .usage_type(UsageType::ScreenContentRealTime)
            .max_frame_rate(FrameRate::from_hz(rate as f32))
            .rate_control_mode(RateControlMode::Off)
            .qp(QpRange::new(QUALITY, QUALITY))
            .skip_frames(false)
            .intra_frame_period(IntraFramePeriod::from_num_frames((KEY_FRAMES * rate).ceil() as u32));
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config).map_err(failed)?;
        Ok(Self { muxer: None, out: Some(out), encoder, rate, size: [0; 2], pushed: 0 })
    }

    /// Adds a picture. A last odd row or column is left out: colours have half the size.
    ///
    /// # Errors
    /// When it is empty, has another size than the first one, or encoding or writing fails.
    pub fn push(&mut self, image: &Image) -> Result<(), PictureError> {
        let size = [image.width() & !1, image.height() & !1];
        if let Some(out) = self.out.take() {
            self.size = size;
            let builder = MuxerBuilder::new(out).video(VideoCodec::H264, size[0], size[1], self.rate);
            self.muxer = Some(builder.with_fast_start(true).build().map_err(failed)?);
        }
        if self.size != size || size.contains(&0) {
            let ([width, height], [other_width, other_height]) = (self.size, size);
            return Err(PictureError::FilmSize { width, height, other_width, other_height });
        }
        let (width, height) = (size[0] as usize, size[1] as usize);
        let planes = planes(image);
        let (luma, colors) = planes.split_at(width * height);
        let (blue, red) = colors.split_at(colors.len() / 2);
        let source = YUVSlices::new((luma, blue, red), (width, height), (width, width / 2, width / 2));
        let bits = self.encoder.encode(&source).map_err(failed)?;
        let key = matches!(bits.frame_type(), FrameType::IDR | FrameType::I);
        let time = f64::from(self.pushed) / self.rate;
        self.pushed += 1;
        let muxer = self.muxer.as_mut().ok_or_else(|| failed("it has not begun"))?;
        muxer.write_video(time, &bits.to_vec(), key).map_err(failed)
    }

    /// Ends the film.
    ///
    /// # Errors
    /// When there is no picture, or writing fails.
    pub fn finish(self) -> Result<(), PictureError> {
        self.muxer.ok_or_else(|| failed("it has no pictures"))?.finish().map_err(failed)
    }
}
