//! `run`, `resume`, `render`, `export`.

use crate::arguments::{Export, FilmFormat, Format, Quality, Render, Resume, Run, Surface};
use crate::failure::Failure;
use crate::machine;
use crate::output::{self, Progress, count};
use crate::signals::Signals;
use meniscus::record::export::{ExportReport, SequenceFormat, export_vtk};
use meniscus::record::{RunFolder, RunStatus, Skipped};
use meniscus::scene::{Loaded, Set};
use meniscus::sim::World;
use meniscus::{Event, Movie, Rendered, RunError, RunOptions, Summary, check_memory, gallery, read_log, shell_word};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    let threads = machine::threads(arguments.threads)?;
    let loaded = gallery::load(&arguments.scene, &overrides(&arguments.set, arguments.seconds))?;
    check_memory(&loaded, machine::free_memory())?;
    output::warn_of_sizes(&loaded)?;
    let signals = Signals::default();
    let options = RunOptions {
        no_pictures: arguments.no_pictures,
        replay: arguments.commands.as_deref().map_or(Ok(Vec::new()), read_log)?,
        threads,
        stop: Some(signals.stop()),
        log: arguments.log_format.into(),
    };
    let chatty = !arguments.json && !arguments.quiet;
    let mut progress = Progress::new(arguments.quiet);
    let mut known = Vec::new();
    let make_folder = || match &arguments.out {
        Some(dir) => RunFolder::create_at(dir),
        None => RunFolder::create("out", &loaded.name),
    };
    let result = machine::in_pool(threads, || {
        meniscus::run(&loaded, make_folder, &options, &mut |event| {
            if let Event::Start { world, .. } = &event {
                signals.listen();
                known = world.warnings().to_vec();
            }
            if let (true, Event::Start { world, .. }) = (chatty, &event) {
                say!("{}", headline(&loaded, world, threads));
                world.warnings().iter().for_each(|warning| say!("warning: {warning}"));
            }
            progress.tell(&event);
        })
    })?;
    progress.clear();
    let (folder, summary) = result.map_err(|error| signals.failure(error))?;
    let result = Finished { folder: &folder, summary: &summary, scene: &arguments.scene, known: &known };
    result.tell(arguments.json, arguments.quiet)
}

pub(crate) fn resume(arguments: &Resume) -> Result<ExitCode, Failure> {
    let threads = machine::threads(arguments.threads)?;
    let folder = RunFolder::open(&arguments.dir)?;
    let status = folder.status()?;
    let signals = Signals::default();
    let options = RunOptions {
        no_pictures: arguments.no_pictures,
        replay: arguments.commands.as_deref().map_or(Ok(Vec::new()), read_log)?,
        threads,
        stop: Some(signals.stop()),
        log: arguments.log_format.into(),
    };
    let changes = arguments.set.iter().map(|text| change(text)).collect::<Result<Vec<_>, _>>()?;
    let mut progress = Progress::new(arguments.quiet);
    let mut known = Vec::new();
    let mut tell = |event: Event| {
        if let Event::Start { world, frames } = &event {
            signals.listen();
            known = world.warnings().to_vec();
            if !arguments.json && !arguments.quiet {
                say!("resuming {} ({status}) at frame {}/{frames}", folder.dir().display(), world.frame_number());
            }
        }
        progress.tell(&event);
    };
    let result = machine::in_pool(threads, || match (&arguments.out, arguments.from_frame) {
        (Some(out), Some(frame)) => {
            meniscus::branch(&folder, frame, &changes, || RunFolder::create_at(out), &options, &mut tell)
        }
        (_, from) => meniscus::resume(&folder, from, &options, &mut tell).map(|summary| (folder.clone(), summary)),
    })?;
    progress.clear();
    let (folder, summary) = result.map_err(|error| signals.failure(error))?;
    let scene = folder.scene_path().display().to_string();
    Finished { folder: &folder, summary: &summary, scene: &scene, known: &known }.tell(arguments.json, arguments.quiet)
}

/// `key=value` for a key that can be changed while a scene runs.
fn change(text: &str) -> Result<Set, Failure> {
    let wrong = |why: &str| Failure::input("set-invalid", format!("--set {text}: {why}"));
    let (key, value) = text.split_once('=').ok_or_else(|| wrong("write key=value"))?;
    let value = serde_json::from_str(value.trim()).map_err(|_| wrong("the value must be a number or [x, y, z]"))?;
    Ok(Set { key: key.trim().to_owned(), value })
}

/// Settings of the command line, in one list.
pub(crate) fn overrides(set: &[String], seconds: Option<f64>) -> Vec<String> {
    set.iter().cloned().chain(seconds.map(|seconds| format!("seconds={seconds:?}"))).collect()
}

/// The first of `parent/name`, `parent/name-2`, … that does not exist.
pub(crate) fn free_folder(parent: &str, name: &str) -> PathBuf {
    let candidate = |k: u32| Path::new(parent).join(if k == 1 { name.to_owned() } else { format!("{name}-{k}") });
    (1..).map(candidate).find(|path| !path.exists()).unwrap_or_else(|| candidate(1))
}

fn headline(loaded: &Loaded, world: &World, threads: usize) -> String {
    let totals = world.totals();
    let liquids: Vec<&str> = loaded.scene.liquid.keys().map(String::as_str).collect();
    let solids: Vec<&str> = loaded.scene.solid.keys().map(String::as_str).collect();
    let mut parts = vec![loaded.name.clone()];
    let bodies: Vec<&str> = loaded.scene.body.keys().map(String::as_str).collect();
    if totals.cells > 0 {
        parts.push(format!("{} {} cells", liquids.join(" + "), count(totals.cells)));
    } else if !liquids.is_empty() || solids.is_empty() && bodies.is_empty() {
        parts.push(format!("{} {} particles", liquids.join(" + "), count(totals.particles)));
    }
    if !solids.is_empty() {
        parts.push(format!("{} {} tetrahedra", solids.join(" + "), count(totals.tets)));
    }
    if !bodies.is_empty() {
        parts.push(format!("{} {} particles", bodies.join(" + "), count(totals.body_particles)));
    }
    let s = if threads == 1 { "" } else { "s" };
    parts.extend([loaded.scene.method.name().to_owned(), format!("{threads} thread{s}")]);
    parts.join("   ")
}

/// A run that came to its end.
struct Finished<'a> {
    folder: &'a RunFolder,
    summary: &'a Summary,
    /// How the scene is named on the command line.
    scene: &'a str,
    /// Warnings that were told when it began.
    known: &'a [String],
}

impl Finished<'_> {
    fn tell(&self, json: bool, quiet: bool) -> Result<ExitCode, Failure> {
        if json {
            return output::print_json(self.summary);
        }
        if !quiet {
            self.say()?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn say(&self) -> Result<(), Failure> {
        let Self { folder, summary, scene, known } = self;
        let dir = folder.dir().display();
        let pictures = folder.picture_numbers()?.len();
        say!(
            "done in {:.1} s: {dir}/   {} frames, {} checkpoints, probes.csv{}",
            summary.wall_seconds,
            folder.frame_numbers()?.len(),
            folder.checkpoint_numbers()?.len(),
            if pictures > 0 { format!(", {pictures} pictures, {}.gif", summary.scene) } else { String::new() },
        );
        let speed = summary.simulated_seconds / summary.wall_seconds.max(1e-9);
        say!("{} steps, {speed:.2} s simulated per second, digest {}", count(summary.steps), summary.digest);
        let late = summary.warnings.iter().filter(|warning| !known.contains(warning));
        late.for_each(|warning| say!("warning: {warning}"));
        let edit = match gallery::find(scene) {
            Some(_) if !Path::new(scene).is_file() => format!(" · meniscus new {scene} (to edit it)"),
            _ => String::new(),
        };
        let (scene, dir) = (shell_word(scene), shell_word(&dir.to_string()));
        say!(
            "next: meniscus play {scene} · meniscus view {dir} · meniscus render {dir} --quality final · \
             meniscus export {dir} --to vtk · meniscus export {dir} --to usd{edit}"
        );
        Ok(())
    }
}

pub(crate) fn render(arguments: &Render) -> Result<ExitCode, Failure> {
    let folder = RunFolder::open(&arguments.dir)?;
    tell_unless_done(&folder)?;
    if arguments.frame.is_some() && arguments.out.is_none() && arguments.album.is_none() {
        return Err(Failure::input("usage", "--frame needs --out FILE or --album DIR"));
    }
    let movie = match arguments.to {
        Some(FilmFormat::Y4m) => Some(Movie::Y4m),
        Some(FilmFormat::Mp4) => Some(Movie::Mp4),
        Some(FilmFormat::Gif) | None => None,
    };
    if let Some(movie) = movie.filter(|movie| !movie.is_built_in()) {
        // Before hours of pictures, not after them.
        meniscus::write_movie(&folder, movie, &mut |_, _| {})?;
    }
    let progress = Progress::new(arguments.quiet);
    let threads = machine::threads(arguments.threads)?;
    let made = machine::in_pool(threads, || take_pictures(arguments, &folder, movie, &progress))??;
    progress.clear();
    if !arguments.quiet {
        say!("{}", made.path.display());
    }
    Ok(passed_over(&made.skipped))
}

/// What was asked for: a strip, one picture, or all of them and a film.
fn take_pictures(
    arguments: &Render,
    folder: &RunFolder,
    movie: Option<Movie>,
    progress: &Progress,
) -> Result<Rendered, RunError> {
    let mut set = arguments.set.clone();
    set.extend(arguments.quality.map(|quality| match quality {
        Quality::Draft => "picture.quality=draft".to_owned(),
        Quality::Final => "picture.quality=final".to_owned(),
    }));
    set.extend(arguments.samples.map(|samples| format!("picture.samples={samples}")));
    set.extend(arguments.no_legend.then(|| "picture.legend=false".to_owned()));
    let mut tell = |done, of| progress.part(done, of);
    if let Some(count) = arguments.strip {
        return meniscus::render_strip(folder, &set, [usize::from(count), usize::from(arguments.columns)]);
    }
    if let Some(album) = &arguments.album {
        meniscus::render_album(folder, &set, (album, arguments.frame), &mut tell)?;
        return Ok(Rendered { path: album.clone(), skipped: Vec::new() });
    }
    if let (Some(number), Some(out)) = (arguments.frame, &arguments.out) {
        return meniscus::render_frame(folder, &set, number, out, &mut tell);
    }
    let made = meniscus::render(folder, &set, &mut tell)?;
    Ok(match movie {
        Some(movie) => Rendered { path: meniscus::write_movie(folder, movie, &mut tell)?, ..made },
        None => made,
    })
}

/// A record that is not whole is no error, but should not be taken for a whole one.
pub(crate) fn tell_unless_done(folder: &RunFolder) -> Result<(), Failure> {
    match folder.status()? {
        RunStatus::Done => {}
        RunStatus::Running => note!("note: the run is still at work: there is more to come"),
        status => {
            let dir = shell_word(&folder.dir().display().to_string());
            note!("note: the run is {status}; `meniscus resume {dir}` goes on with it");
        }
    }
    Ok(())
}

/// Names what could not be read; then something is missing, and a script must be able to know.
fn passed_over(skipped: &[Skipped]) -> ExitCode {
    skipped.iter().for_each(|s| note!("passing over {}: {}", s.path.display(), s.reason));
    ExitCode::from(u8::from(!skipped.is_empty()))
}

pub(crate) fn surface(arguments: &Surface) -> Result<ExitCode, Failure> {
    let folder = RunFolder::open(&arguments.dir)?;
    let mut overrides = arguments.set.clone();
    overrides.extend(arguments.cube.map(|cube| format!("surface.cube={cube:?}")));
    let out = arguments.out.clone().unwrap_or_else(|| folder.dir().join("surface"));
    let progress = Progress::new(arguments.quiet);
    let report = meniscus::write_surfaces(&folder, &overrides, &out, &mut |done, of| progress.files(done, of))?;
    progress.clear();
    tell_export(&report, &out, arguments.quiet);
    Ok(passed_over(&report.skipped))
}

pub(crate) fn export(arguments: &Export) -> Result<ExitCode, Failure> {
    let folder = RunFolder::open(&arguments.dir)?;
    let (name, write): (&str, ExportTo) = match arguments.to {
        Format::Vtk => ("vtk", |run, out, tell| Ok(export_vtk(run, out, tell)?)),
        Format::Ply => ("ply", |run, out, tell| meniscus::export_sequence(run, out, SequenceFormat::Ply, tell)),
        Format::Obj => ("obj", |run, out, tell| meniscus::export_sequence(run, out, SequenceFormat::Obj, tell)),
        Format::Glb => ("glb", meniscus::export_glb),
        Format::Usd => ("usd", |run, out, tell| meniscus::export_usd(run, out, false, tell)),
        Format::Usda => ("usda", |run, out, tell| meniscus::export_usd(run, out, true, tell)),
        Format::Vti => ("vti", meniscus::export_fields),
    };
    tell_unless_done(&folder)?;
    let out = arguments.out.clone().unwrap_or_else(|| folder.dir().join(name));
    let progress = Progress::new(arguments.quiet);
    let report = write(&folder, &out, &mut |done, of| progress.files(done, of))?;
    progress.clear();
    tell_export(&report, &out, arguments.quiet);
    if let Some(opens) = opens(arguments.to, &out).filter(|_| !arguments.quiet) {
        say!("next: {opens}");
    }
    Ok(passed_over(&report.skipped))
}

/// The command that opens an export in the program that it is meant for.
fn opens(format: Format, out: &Path) -> Option<String> {
    let (program, ending) = match format {
        Format::Usd | Format::Usda => ("blender --python", ".blender.py"),
        Format::Vtk => ("paraview", "all.pvd"),
        Format::Vti => ("paraview", "fields.pvd"),
        Format::Ply | Format::Obj | Format::Glb => return None,
    };
    let files = std::fs::read_dir(out).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files = files.filter(|path| path.to_string_lossy().ends_with(ending));
    // Of two, from two exports into one folder, nobody knows which is meant.
    let file = files.next().filter(|_| files.next().is_none())?;
    Some(format!("{program} {}", shell_word(&file.display().to_string())))
}

fn tell_export(report: &ExportReport, out: &Path, quiet: bool) {
    report.left_out.iter().for_each(|what| note!("left out: {what}"));
    if !quiet {
        let megabytes = report.bytes as f64 / 1e6;
        say!("{} frames, {} files, {megabytes:.1} MB in {}/", report.frames, report.files, out.display());
    }
}

type ExportTo = fn(&RunFolder, &Path, &mut dyn FnMut(usize, usize)) -> Result<ExportReport, RunError>;
