//! What was done in a live session, on disk: enough to repeat it bit for bit.

use meniscus_record::{CommandWriter, RecordError, RunFolder, RunInfo};
use meniscus_scene::Loaded;
use meniscus_sim::World;
use std::path::{Path, PathBuf};

/// Writes the scene and the commands of one world into a folder, made when the first command was given.
pub(crate) struct Session {
    parent: PathBuf,
    writer: Option<CommandWriter>,
    written: usize,
}

impl Session {
    pub(crate) fn new(parent: &Path) -> Self {
        Self { parent: parent.to_owned(), writer: None, written: 0 }
    }

    /// Writes the commands that were given since the last call.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn follow(&mut self, loaded: &Loaded, world: &World) -> Result<(), RecordError> {
        let new = &world.log()[self.written..];
        if new.is_empty() {
            return Ok(());
        }
        if self.writer.is_none() {
            self.writer = Some(begin(&self.parent, loaded, world)?);
        }
        for logged in new {
            if let (Some(writer), Ok(row)) = (&mut self.writer, serde_json::to_value(logged)) {
                writer.write(&row)?;
            }
        }
        self.written = world.log().len();
        Ok(())
    }
}

fn begin(parent: &Path, loaded: &Loaded, world: &World) -> Result<CommandWriter, RecordError> {
    let folder = RunFolder::create(parent, &loaded.name)?;
    let (scene, assets) = loaded.self_contained();
    for asset in &assets {
        folder.write_asset(&asset.file, &asset.bytes)?;
    }
    // A scene that was read can be written.
    folder.write_scene(&meniscus_scene::to_text(&scene).unwrap_or_default())?;
    let mut info = RunInfo::start(&loaded.name, scene.method.name());
    info.warnings = world.warnings().to_vec();
    folder.write_info(&info)?;
    folder.command_writer()
}
