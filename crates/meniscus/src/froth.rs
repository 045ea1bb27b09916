//! Foam of a record, frame by frame.

use crate::run::RunError;
use glam::Vec3;
use meniscus_core::{Foam, Frame};
use meniscus_record::RunFolder;
use meniscus_scene::Scene;
use meniscus_surface::{Limits, Settings, Survey, Whitewater};

/// Finds the foam of a record's frames. It grows from frame to frame: going on is quick, going back begins anew.
pub(crate) struct Froth {
    folder: RunFolder,
    numbers: Vec<u32>,
    settings: Settings,
    limits: Limits,
    /// \[m/s²\]
    gravity: Vec3,
    water: Whitewater,
    /// The last frame that was taken.
    reached: Option<u32>,
}

impl Froth {
    /// Looks through all frames that can be read for what the run has at its most violent; nothing if the scene has no foam.
    pub(crate) fn open(folder: &RunFolder, scene: &Scene) -> Result<Option<Self>, RunError> {
        if !scene.surface.foam {
            return Ok(None);
        }
        let numbers = folder.frame_numbers()?;
        let mut survey = Survey::default();
        for frame in numbers.iter().filter_map(|&number| folder.read_frame(number).ok()) {
            survey.look(&frame);
        }
        let gravity = Vec3::from(scene.gravity.map(|g| g as f32));
        let (settings, limits) = (scene.surface, survey.limits(gravity.length()));
        let water = Whitewater::new(&settings, limits, gravity);
        Ok(Some(Self { folder: folder.clone(), numbers, settings, limits, gravity, water, reached: None }))
    }

    /// The foam of a frame of the record. Frames before it that cannot be read are passed over.
    pub(crate) fn of(&mut self, frame: &Frame) -> Foam {
        if self.reached.is_some_and(|reached| reached > frame.number) {
            self.water = Whitewater::new(&self.settings, self.limits, self.gravity);
            self.reached = None;
        }
        if self.reached != Some(frame.number) {
            let from = self.reached.map_or(0, |reached| reached + 1);
            let between = self.numbers.iter().filter(|n| (from..frame.number).contains(n));
            for earlier in between.filter_map(|&number| self.folder.read_frame(number).ok()) {
                self.water.advance(&earlier);
            }
            self.water.advance(frame);
            self.reached = Some(frame.number);
        }
        self.water.foam(frame)
    }
}

/// The foam of a frame, if there is any to be found.
pub(crate) fn foam_of(froth: &mut Option<Froth>, frame: &Frame) -> Foam {
    froth.as_mut().map(|froth| froth.of(frame)).unwrap_or_default()
}
