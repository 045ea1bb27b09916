//! Why a picture could not be made.

/// A picture could not be made or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// The picture has no pixels, or more than the renderer accepts.
    #[error("a picture of {width} × {height} pixels, {supersample} times finer, is empty or above {limit} pixels")]
    Size {
        /// Width asked for \[px\].
        width: u32,
        /// Height asked for \[px\].
        height: u32,
        /// Supersampling factor asked for, dimensionless.
        supersample: u32,
        /// Largest number of pixels to be shaded.
        limit: u64,
    },
    /// The camera looks nowhere.
    #[error("the camera cannot be used: {reason}")]
    Camera {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A frame of a film has another shape than the first one.
    #[error("a film of {width} × {height} pixels cannot take a picture of {other_width} × {other_height}")]
    FilmSize {
        /// Width of the film \[px\].
        width: u32,
        /// Height of the film \[px\].
        height: u32,
        /// Width of the picture \[px\].
        other_width: u32,
        /// Height of the picture \[px\].
        other_height: u32,
    },
    /// The PNG encoder failed.
    #[error("cannot write the PNG")]
    Png(#[from] png::EncodingError),
    /// The PNG decoder failed.
    #[error("cannot read the PNG: {0}")]
    ReadPng(#[from] png::DecodingError),
    /// A PNG that this program did not write.
    #[error("the PNG is not of eight bits per channel, red, green and blue")]
    ForeignPng,
    /// A film could not be written.
    #[error("cannot write the film")]
    Film(#[from] std::io::Error),
    /// The JPEG encoder failed.
    #[error("cannot write the JPEG: {0}")]
    Jpeg(#[from] jpeg_encoder::EncodingError),
    /// The MP4 could not be encoded.
    #[error("cannot write the MP4: {reason}")]
    Mp4 {
        /// What the encoder says.
        reason: String,
    },
    /// The GIF encoder failed.
    #[error("cannot write the GIF")]
    Gif(#[from] gif::EncodingError),
}
