//! Fields on a grid, for other programs: from checkpoints, so that the record need not hold them.

use crate::run::RunError;
use meniscus_record::export::{DataArray, ExportReport, FieldData, ImageData, time_series};
use meniscus_record::{RecordError, RunFolder, write_atomic};
use meniscus_scene::Loaded;
use meniscus_sim::{Fields, World};
use std::path::Path;

/// Exports the fields of every checkpoint as `fields_00000.vti` …, with their time series `fields.pvd`. `progress` is
/// told how many of how many checkpoints are done.
///
/// # Errors
/// When the scene cannot be built, its method has no grid, or a file cannot be written. Checkpoints that cannot be read are in the report.
pub fn export_fields(
    folder: &RunFolder,
    out_dir: &Path,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ExportReport, RunError> {
    let mut world = World::new(&Loaded::from_file(&folder.scene_path(), &[])?)?;
    if world.fields().is_none() {
        return Err(RunError::NoGrid { dir: folder.dir().to_owned() });
    }
    let io = |source| RecordError::Io { action: "make the folder", path: out_dir.to_owned(), source };
    std::fs::create_dir_all(out_dir).map_err(io)?;
    let (mut report, mut files) = (ExportReport::default(), Vec::new());
    let numbers = folder.checkpoint_numbers()?;
    for (done, &number) in numbers.iter().enumerate() {
        progress(done, numbers.len());
        let search = folder.checkpoint_at_or_before(number)?;
        let Some(checkpoint) = search.found.filter(|found| found.header.frame == number) else {
            report.skipped.extend(search.skipped.into_iter().take(1));
            continue;
        };
        let path = folder.checkpoint_path(number);
        world.load(&checkpoint.payload).map_err(|source| RunError::Load { path, source })?;
        let Some(fields) = world.fields() else { break };
        let file = format!("fields_{number:05}.vti");
        let bytes = encode(&fields, world.time())?;
        write_atomic(out_dir.join(&file), &bytes)?;
        report.frames += 1;
        report.files += 1;
        report.bytes += bytes.len() as u64;
        files.push((world.time(), file));
    }
    progress(numbers.len(), numbers.len());
    write_atomic(out_dir.join("fields.pvd"), &time_series("fields", files))?;
    report.files += 1;
    Ok(report)
}

fn encode(fields: &Fields, time: f64) -> Result<Vec<u8>, RecordError> {
    let scalars = fields.scalars.iter().map(|(name, values)| DataArray::scalars(name, values.as_slice()));
    let vectors = fields.vectors.iter().map(|(name, values)| DataArray::vectors(name, values.as_slice()));
    ImageData {
        cells: fields.cells,
        origin: fields.origin,
        spacing: [fields.spacing; 3],
        point_data: Vec::new(),
        cell_data: scalars.chain(vectors).collect(),
        field: FieldData { time: Some(time), ..FieldData::default() },
    }
    .encode()
}
