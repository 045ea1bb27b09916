//! `compare`: the same scene by several methods.

use crate::arguments::Compare;
use crate::failure::Failure;
use crate::machine;
use crate::output::{self, Progress};
use crate::run::{free_folder, overrides};
use meniscus::compare::{Task, compare as by_methods};
use meniscus::record::RecordError;
use meniscus::scene::{Method, Settings};
use meniscus::{check_memory, gallery};
use std::path::Path;
use std::process::ExitCode;

/// Fewer than two methods are no comparison.
const CHECK_FAILED: u8 = 1;

pub(crate) fn compare(arguments: &Compare) -> Result<ExitCode, Failure> {
    let threads = machine::threads(arguments.threads)?;
    let set = overrides(&arguments.set, arguments.seconds);
    let methods = methods(arguments, &set)?;
    if let Some(folder) = &arguments.out {
        refuse_full(folder)?;
    }
    let progress = Progress::new(arguments.quiet);
    let load = |settings: &Settings| gallery::load_with(&arguments.scene, settings);
    for &method in &methods {
        let settings = Settings { set: set.clone(), method: Some(method) };
        if let Ok(loaded) = load(&settings) {
            check_memory(&loaded, machine::free_memory())?;
        }
    }
    let task = Task { methods: &methods, moments: usize::from(arguments.moments), load: &load, set: &set };
    let result = machine::in_pool(threads, || {
        by_methods(&task, &mut |method, time| progress.say(&format!("{} {time:.2} s", method.name())))
    })?;
    progress.clear();
    let comparison = result?;
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => free_folder("out", &format!("{}-compare", comparison.scene)),
    };
    let files = comparison.write(&folder)?;
    if arguments.json {
        output::print_json(&comparison.json())?;
    } else {
        say!("{}", comparison.text().trim_end());
        if !arguments.quiet {
            let files: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
            say!("{}", files.join("  "));
        }
    }
    Ok(if comparison.ran() >= 2 { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

/// Results are not written over others.
fn refuse_full(folder: &Path) -> Result<(), Failure> {
    let is_full = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if is_full { Err(RecordError::FolderNotEmpty { dir: folder.to_owned() }.into()) } else { Ok(()) }
}

/// The methods asked for; otherwise the scene's own and those that it names.
fn methods(arguments: &Compare, set: &[String]) -> Result<Vec<Method>, Failure> {
    if !arguments.methods.is_empty() {
        let methods: Vec<Method> = arguments.methods.iter().map(|name| method(name)).collect::<Result<_, _>>()?;
        let twice = methods.iter().enumerate().find(|(k, method)| methods[..*k].contains(method));
        return match twice {
            None => Ok(methods),
            Some((_, method)) => Err(Failure::input("methods", format!("`{}` is named twice", method.name()))),
        };
    }
    let scene = gallery::load(&arguments.scene, set)?.scene;
    let mut methods = vec![scene.method];
    methods.extend(scene.compare.iter().filter(|&&other| other != scene.method));
    if methods.len() > 1 { Ok(methods) } else { Ok(Method::ALL.to_vec()) }
}

fn method(name: &str) -> Result<Method, Failure> {
    Method::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
        let known: Vec<String> = Method::ALL.iter().map(|method| method.name().to_owned()).collect();
        let advice = meniscus::scene::nearest(name, &known, "method").unwrap_or_default();
        Failure::input("no-such-method", format!("there is no method `{name}`: {advice}"))
    })
}
