//! The way from a frame to a picture.

use glam::Vec3;
use meniscus_core::{Frame, Liquids, StepReport};
use rayon::prelude::*;

use crate::camera::View;
use crate::color::Light;
use crate::coloring::Paint;
use crate::cut::cut_open;
use crate::drawing::Drawing;
use crate::glass::Glass;
use crate::ground::Ground;
use crate::legend::Legend;
use crate::lines::Lines;
use crate::occlusion::Occlusion;
use crate::penumbra::Softness;
use crate::shade::{Shader, Shadows};
use crate::shadow::LightSpace;
use crate::studio::Studio;
use crate::style::line_scale;
use crate::tile::TILE;
use crate::visibility::{Scene, Visibility};
use crate::water::{Behind, Water};
use crate::{Bounds, Camera, Image, PictureError, Style};

/// Largest number of pixels to be shaded: 4K twice finer, and 8K, fit.
const MAX_PIXELS: u64 = 1 << 26;
/// Largest width and height to be shaded \[px\].
const LONGEST: u64 = 32_768;
/// Texels along the side of the shadow map, and of the one for supersampled pictures.
const SHADOW_SIZE: usize = 1024;
const FINE_SHADOW_SIZE: usize = 2048;
/// Texels along the side of the map of what the sky sees.
const SKY_SIZE: usize = 256;
/// Reach of ambient occlusion over the radius of the scene.
const OCCLUSION_REACH: f32 = 0.15;

/// Draws one frame.
///
/// # Errors
/// When the picture has no pixels or too many, or the camera looks nowhere.
pub fn render(frame: &Frame, camera: &Camera, style: &Style) -> Result<Image, PictureError> {
    let mut renderer = Renderer::new(style.clone());
    renderer.render(frame, camera)?;
    Ok(renderer.image)
}

/// Draws frames one after the other, reusing its memory. The same frame, camera and style give the same pixels,
/// whatever was drawn before and however many threads there are.
#[derive(Debug, Default)]
pub struct Renderer {
    style: Style,
    drawing: Drawing,
    visibility: Visibility,
    shadows: Shadows,
    sky: Shadows,
    occlusion: Occlusion,
    glass: Glass,
    water: Water,
    lines: Lines,
    /// What the eye would see without glass and water.
    light: Vec<Light>,
    /// The picture before it is averaged down, when it is supersampled.
    fine: Image,
    image: Image,
    report: StepReport,
}

impl Renderer {
    /// A renderer for pictures of a style.
    #[must_use]
    pub fn new(style: Style) -> Self {
        Self { style, ..Self::default() }
    }

    /// The style of its pictures.
    #[must_use]
    pub fn style(&self) -> &Style {
        &self.style
    }

    /// Names and times of the stages of the last picture.
    #[must_use]
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// Draws a frame.
    ///
    /// # Errors
    /// When the picture has no pixels or too many, or the camera looks nowhere.
    pub fn render(&mut self, frame: &Frame, camera: &Camera) -> Result<&Image, PictureError> {
        let mut r = std::mem::take(&mut self.report);
        r.clear();
        let set = r.stage("set up", || Set::new(frame, camera, &self.style))?;
        r.stage("collect", || self.collect(&cut_open(frame, &self.style), &set));
        r.stage("cast shadows", || self.cast_shadows(&set));
        r.stage("resolve visibility", || self.visibility.resolve(&set.scene(&self.drawing)));
        r.stage("estimate occlusion", || self.estimate_occlusion(&set));
        r.stage("shade", || self.shade(&set));
        r.stage("average down", || self.average_down());
        r.stage("label", || set.legend(&self.style, frame.time).draw(&mut self.image));
        self.image.set_time(Some(frame.time));
        self.report = r;
        Ok(&self.image)
    }

    fn collect(&mut self, frame: &Frame, set: &Set) {
        self.drawing.collect(frame, &set.view, &set.paint, &self.style);
        self.glass.sort(&self.drawing.glass, &set.view);
        self.water.sort(&self.drawing.water, &set.view);
        let width = self.style.line_width * line_scale(&self.style) * set.supersample as f32;
        self.lines.project(&self.drawing.segments, &set.view, &set.studio, width);
    }

    fn cast_shadows(&mut self, set: &Set) {
        if !self.style.shadows {
            return;
        }
        let size = if set.supersample > 1 { FINE_SHADOW_SIZE } else { SHADOW_SIZE };
        let space = |to_light: Vec3, size: usize| LightSpace::new(&set.bounds, to_light, &set.view, size);
        self.shadows.map.cast(&self.drawing, space(set.studio.to_light_world, size));
        if let Some(ground) = &set.ground {
            self.shadows.soft.prepare(&self.shadows.map, ground.plane(), Softness::KEY);
            self.sky.map.cast(&self.drawing, space(Vec3::Y, SKY_SIZE));
            self.sky.soft.prepare(&self.sky.map, ground.plane(), Softness::SKY);
        }
    }

    fn estimate_occlusion(&mut self, set: &Set) {
        if self.style.occlusion > 0.0 {
            let radius = OCCLUSION_REACH * set.bounds.radius().max(1e-6);
            self.occlusion.estimate(&self.visibility, &set.view, radius);
        }
    }

    fn shade(&mut self, set: &Set) {
        let shader = Shader {
            scene: set.scene(&self.drawing),
            studio: &set.studio,
            shadows: self.style.shadows.then_some(&self.shadows),
            sky: self.style.shadows.then_some(&self.sky),
            occlusion: (self.style.occlusion > 0.0).then_some(&self.occlusion),
            strength: self.style.occlusion.clamp(0.0, 1.0),
            coarse: &self.visibility.coarse,
            glass: &self.glass,
            water: &self.water,
            lines: &self.lines,
        };
        let image = if set.supersample > 1 { &mut self.fine } else { &mut self.image };
        image.reshape(set.view.width as u32, set.view.height as u32);
        self.light.resize(set.view.width * set.view.height, Light::ZERO);
        let lit = self.light.par_chunks_mut(set.view.width * TILE);
        lit.zip(&self.visibility.bands).enumerate().for_each(|(i, (light, band))| shader.light(i, band, light));
        let behind = Behind { light: &self.light, bands: &self.visibility.bands, clarity: set.clarity };
        let rows = image.pixels_mut().par_chunks_mut(set.view.width * TILE);
        rows.enumerate().for_each_init(Vec::new, |light, (i, pixels)| shader.finish(i, &behind, light, pixels));
    }

    fn average_down(&mut self) {
        if self.style.supersample > 1 {
            self.image.fill_from(&self.fine, self.style.width, self.style.height);
        }
    }
}

/// A frame's surroundings: eye, lights, ground and colours.
struct Set {
    view: View,
    bounds: Bounds,
    paint: Paint,
    studio: Studio,
    ground: Option<Ground>,
    supersample: u32,
    /// The way through a liquid after which its colour is that of its body \[m\].
    clarity: f32,
}

impl Set {
    fn new(frame: &Frame, camera: &Camera, style: &Style) -> Result<Self, PictureError> {
        let supersample = style.supersample.clamp(1, 4);
        check_size(style, supersample)?;
        let shown = Bounds::of(frame);
        let view = View::new(camera, &shown, style.width * supersample, style.height * supersample)?;
        let bounds = if shown.is_empty() { Bounds { min: Vec3::splat(-0.5), max: Vec3::splat(0.5) } } else { shown };
        let height = style.ground_height.unwrap_or(bounds.min.y);
        let ground = if style.ground { Ground::new(height, &bounds, &view, style.pattern) } else { None };
        let studio = Studio::new(style, &view);
        let mut paint = Paint::new(frame, style.color, style.range);
        if style.liquids == Liquids::Deep && style.shows_surfaces() {
            paint.drop_scale_of_spray(frame);
        }
        let clarity = style.clarity.filter(|c| c.is_finite() && *c > 0.0).unwrap_or(0.5 * bounds.radius());
        Ok(Self { view, bounds, paint, studio, ground, supersample, clarity: clarity.max(1e-6) })
    }

    fn legend<'a>(&'a self, style: &'a Style, time: f64) -> Legend<'a> {
        Legend { style, paint: &self.paint, studio: &self.studio, ground: self.ground.as_ref(), time }
    }

    fn scene<'a>(&'a self, drawing: &'a Drawing) -> Scene<'a> {
        Scene { drawing, view: &self.view, ground: self.ground.as_ref() }
    }
}

/// Whether a picture has pixels, and not too many.
pub(crate) fn check_size(style: &Style, supersample: u32) -> Result<(), PictureError> {
    let (width, height) =
        (u64::from(style.width) * u64::from(supersample), u64::from(style.height) * u64::from(supersample));
    let fits = width.max(height) <= LONGEST && width * height <= MAX_PIXELS && width * height > 0;
    let error = PictureError::Size { width: style.width, height: style.height, supersample, limit: MAX_PIXELS };
    if fits { Ok(()) } else { Err(error) }
}
