//! Where the eye is, and how a point reaches the picture.

use glam::{Vec2, Vec3};
use meniscus_core::{Camera, Frame, Style};

use crate::studio::key_direction;
use crate::{Bounds, PictureError};

/// A three-quarter view from slightly above that shows all of a box, whatever the shape of the picture.
#[must_use]
pub fn framing(bounds: Bounds) -> Camera {
    Camera { subject: Some([bounds.min.into(), bounds.max.into()]), ..Camera::default() }
}

/// The same camera with its subject fixed to what these frames show, so that it stands still in a film.
#[must_use]
pub fn settled_camera<'a>(camera: &Camera, frames: impl IntoIterator<Item = &'a Frame>) -> Camera {
    if camera.subject.is_some() {
        return camera.clone();
    }
    let bounds = frames.into_iter().map(Bounds::of).fold(Bounds::EMPTY, |a, b| a.union(&b));
    let subject = (!bounds.is_empty()).then(|| [bounds.min.into(), bounds.max.into()]);
    Camera { subject, ..camera.clone() }
}

/// Where a camera stands and how it is turned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standpoint {
    /// Position of the eye \[m\].
    pub eye: Vec3,
    /// Unit vector to the right of the picture.
    pub right: Vec3,
    /// Unit vector up in the picture.
    pub up: Vec3,
    /// Unit vector to what is looked at.
    pub forward: Vec3,
    /// Unit vector to the key light.
    pub to_light: Vec3,
}

/// Where a camera and its light stand when a picture of a frame is taken in a style.
///
/// # Errors
/// When there is no such picture.
pub fn standpoint(camera: &Camera, frame: &Frame, style: &Style) -> Result<Standpoint, PictureError> {
    let view = View::new(camera, &Bounds::of(frame), style.width, style.height)?;
    let to_light = key_direction(style, &view);
    let View { eye, right, up, forward, .. } = view;
    Ok(Standpoint { eye, right, up, forward, to_light })
}

/// What a camera has to show: what it was given, or what there is.
fn subject_or(camera: &Camera, shown: &Bounds) -> Bounds {
    let given = camera.subject.map(|[a, b]| {
        let (a, b) = (Vec3::from(a), Vec3::from(b));
        Bounds { min: a.min(b), max: a.max(b) }
    });
    let bounds = given.unwrap_or(*shown);
    if bounds.is_empty() { Bounds { min: Vec3::splat(-0.5), max: Vec3::splat(0.5) } } else { bounds }
}

/// A camera made ready for a picture of so many pixels.
///
/// View space: x right, y up, z forward from the eye \[m\]. A ray is (x, y, 1), so its parameter is the depth z.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) eye: Vec3,
    pub(crate) right: Vec3,
    pub(crate) up: Vec3,
    pub(crate) forward: Vec3,
    /// Pixels per unit of x / z.
    pub(crate) focal: f32,
    /// One over `focal`.
    pub(crate) pixel_slope: f32,
    /// Nearest depth that is drawn \[m\].
    pub(crate) near: f32,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl View {
    /// Places `camera` for a picture of `width` × `height` pixels of a scene that fills `shown`.
    pub(crate) fn new(camera: &Camera, shown: &Bounds, width: u32, height: u32) -> Result<Self, PictureError> {
        let half_angle = camera.field_of_view.to_radians() * 0.5;
        let half_height = libm::tanf(half_angle);
        if !(0.5..=170.0).contains(&camera.field_of_view) {
            return Err(PictureError::Camera { reason: "its field of view is not between 0.5 and 170 degrees" });
        }
        let half_size = Vec2::new(half_height * width as f32 / height as f32, half_height);
        let subject = subject_or(camera, shown);
        let (eye, forward) = place(camera, &subject, half_size)?;
        let right = level_right(forward);
        let up = right.cross(forward);
        let focal = 0.5 * height as f32 / half_height;
        let distance = (subject.center() - eye).length() + subject.radius();
        let near = (1e-4 * distance).max(1e-7);
        let (width, height) = (width as usize, height as usize);
        Ok(Self { eye, right, up, forward, focal, pixel_slope: 1.0 / focal, near, width, height })
    }

    /// A world point in view space.
    #[inline]
    pub(crate) fn to_view(self, p: Vec3) -> Vec3 {
        self.turn(p - self.eye)
    }

    /// A world direction in view space.
    #[inline]
    pub(crate) fn turn(self, d: Vec3) -> Vec3 {
        Vec3::new(self.right.dot(d), self.up.dot(d), self.forward.dot(d))
    }

    /// A view-space direction in the world.
    #[inline]
    pub(crate) fn turn_back(self, d: Vec3) -> Vec3 {
        self.right * d.x + self.up * d.y + self.forward * d.z
    }

    /// The slopes (x, y) of the ray through a point of the picture \[px\].
    #[inline]
    pub(crate) fn slopes(self, x: f32, y: f32) -> Vec2 {
        Vec2::new(x - 0.5 * self.width as f32, 0.5 * self.height as f32 - y) * self.pixel_slope
    }

    /// The point of the picture \[px\] that slopes (x, y) reach.
    #[inline]
    pub(crate) fn pixel(self, slopes: Vec2) -> Vec2 {
        Vec2::new(0.5 * self.width as f32 + self.focal * slopes.x, 0.5 * self.height as f32 - self.focal * slopes.y)
    }
}

/// Eye and unit direction of a camera; `half_size` are the slopes of the picture's right and upper border.
fn place(camera: &Camera, subject: &Bounds, half_size: Vec2) -> Result<(Vec3, Vec3), PictureError> {
    let target = camera.target.map(Vec3::from);
    if let Some(eye) = camera.eye.map(Vec3::from) {
        let forward = (target.unwrap_or(subject.center()) - eye).try_normalize();
        let forward = forward.ok_or(PictureError::Camera { reason: "its eye and its target coincide" })?;
        return finite(eye, forward);
    }
    let (azimuth, elevation) = (camera.azimuth.to_radians(), camera.elevation.clamp(-89.9, 89.9).to_radians());
    let (sin_a, cos_a) = libm::sincosf(azimuth);
    let (sin_e, cos_e) = libm::sincosf(elevation);
    let forward = -Vec3::new(cos_e * sin_a, sin_e, cos_e * cos_a);
    let margin = if camera.margin.is_finite() { camera.margin.clamp(0.0, 0.45) } else { 0.0 };
    let eye = stand_back(subject, forward, half_size * (1.0 - 2.0 * margin), target);
    finite(eye, forward)
}

fn finite(eye: Vec3, forward: Vec3) -> Result<(Vec3, Vec3), PictureError> {
    if eye.is_finite() && forward.is_finite() {
        Ok((eye, forward))
    } else {
        Err(PictureError::Camera { reason: "its numbers are not finite" })
    }
}

/// The nearest eye along `-forward` that sees all of `subject`, looking at `target` or at what centres the subject.
fn stand_back(subject: &Bounds, forward: Vec3, half_size: Vec2, target: Option<Vec3>) -> Vec3 {
    let right = level_right(forward);
    let up = right.cross(forward);
    let mut aim = target.unwrap_or(subject.center());
    let mut distance = 0.0;
    // Perspective moves the outline when the eye moves: a few rounds settle both.
    for _ in 0..8 {
        let corners = subject.corners().map(|p| p - aim);
        let needed = corners.map(|p| {
            let slope = (right.dot(p).abs() / half_size.x).max(up.dot(p).abs() / half_size.y);
            slope - forward.dot(p)
        });
        distance = needed.into_iter().fold(1e-6, f32::max);
        if target.is_some() {
            break;
        }
        let seen = corners.map(|p| Vec2::new(right.dot(p), up.dot(p)) / (forward.dot(p) + distance).max(1e-6));
        let low = seen.into_iter().fold(Vec2::INFINITY, Vec2::min);
        let high = seen.into_iter().fold(Vec2::NEG_INFINITY, Vec2::max);
        let shift = (low + high) * 0.5 * distance;
        aim += right * shift.x + up * shift.y;
    }
    aim - forward * distance
}

/// The horizontal direction to the right of `forward`; for a straight look up or down, x.
fn level_right(forward: Vec3) -> Vec3 {
    let right = Vec3::new(-forward.z, 0.0, forward.x);
    if right.length_squared() > 1e-10 { right.normalize() } else { Vec3::X }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(camera: &Camera, bounds: &Bounds, width: u32, height: u32) -> (Vec2, Vec2) {
        let view = View::new(camera, bounds, width, height).unwrap();
        let pixels = bounds.corners().map(|p| {
            let p = view.to_view(p);
            assert!(p.z > view.near);
            view.pixel(p.truncate() / p.z)
        });
        (pixels.into_iter().fold(Vec2::INFINITY, Vec2::min), pixels.into_iter().fold(Vec2::NEG_INFINITY, Vec2::max))
    }

    #[test]
    fn framing_fills_any_aspect_and_centres() {
        let bounds = Bounds { min: Vec3::new(-1.0, 0.0, 2.0), max: Vec3::new(3.0, 1.5, 3.0) };
        for (width, height) in [(1280, 720), (300, 900), (500, 500), (1000, 50)] {
            let camera = framing(bounds);
            let (low, high) = seen(&camera, &bounds, width, height);
            let (w, h) = (width as f32, height as f32);
            assert!(low.x >= 0.079 * w && low.y >= 0.079 * h && high.x <= 0.921 * w && high.y <= 0.921 * h);
            let fill = ((high - low) / Vec2::new(w, h)).max_element();
            assert!(fill > 0.78, "{width}x{height}: {low} {high}");
            assert!(((low + high) * 0.5 - Vec2::new(w, h) * 0.5).abs().max_element() < 0.01 * w.max(h));
        }
    }

    #[test]
    fn pixels_and_rays_agree() {
        let camera = Camera::looking(Vec3::new(1.0, 2.0, 3.0), Vec3::ZERO, 40.0);
        let view = View::new(&camera, &Bounds::EMPTY, 640, 480).unwrap();
        let centre = view.to_view(Vec3::ZERO);
        assert!((view.pixel(centre.truncate() / centre.z) - Vec2::new(320.0, 240.0)).length() < 1e-3);
        let p = Vec3::new(0.3, -0.2, 0.1);
        let seen = view.to_view(p);
        let pixel = view.pixel(seen.truncate() / seen.z);
        assert!((view.slopes(pixel.x, pixel.y) * seen.z - seen.truncate()).length() < 1e-5);
        assert!((view.turn_back(seen) + view.eye - p).length() < 1e-5);
        let above = view.to_view(Vec3::Y * 0.1);
        assert!(view.pixel(above.truncate() / above.z).y < 240.0);
    }

    #[test]
    fn useless_cameras_are_refused() {
        let view = |camera: Camera| View::new(&camera, &Bounds::EMPTY, 64, 64);
        assert!(view(Camera::looking(Vec3::ONE, Vec3::ONE, 30.0)).is_err());
        assert!(view(Camera::looking(Vec3::NAN, Vec3::ONE, 30.0)).is_err());
        assert!(view(Camera::looking(Vec3::ZERO, Vec3::ONE, f32::NAN)).is_err());
        assert!(view(Camera { azimuth: f32::INFINITY, ..Camera::default() }).is_err());
        assert!(view(Camera::looking(Vec3::ZERO, -Vec3::Y, 30.0)).is_ok());
        assert!(view(Camera { subject: Some([[f32::NAN; 3]; 2]), ..Camera::default() }).is_ok());
        assert!(view(Camera::default()).is_ok());
    }

    #[test]
    fn tables_reject_unknown_keys() {
        assert_eq!(toml::from_str::<Camera>("").unwrap(), Camera::default());
        let camera: Camera = toml::from_str("eye = [1.0, 2.0, 3.0]\nfield_of_view = 50.0").unwrap();
        assert_eq!((camera.eye, camera.field_of_view), (Some([1.0, 2.0, 3.0]), 50.0));
        assert!(toml::from_str::<Camera>("fov = 3.0").is_err());
    }
}
