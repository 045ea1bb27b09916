//! The `meniscus` program.

// They panic when the reader has gone; `say!` and `note!` do not.
#![warn(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod output;

mod arguments;
mod bench;
mod check;
mod compare;
mod doctor;
mod failure;
mod gallery;
mod machine;
mod play;
mod run;
mod signals;
mod validate;

use arguments::{Arguments, Verb};
use clap::{CommandFactory, Parser};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return misused(&error),
    };
    let json = arguments.wants_json();
    match dispatch(arguments) {
        Ok(code) => code,
        Err(failure) => failure.report(json),
    }
}

/// Help and version are answers; anything else is bad usage, told as JSON to those who asked for it.
fn misused(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && std::env::args().any(|argument| argument == "--json") {
        return Failure::input("usage", error.to_string().trim_start_matches("error: ").trim_end()).report(true);
    }
    // Nothing is left to do if the terminal is gone.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { failure::BAD_INPUT } else { 0 })
}

fn dispatch(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.verb {
        None => {
            say!("{}", output::INTRODUCTION);
            run::run(&arguments::Run::default_job())
        }
        Some(Verb::List(list)) => gallery::list(&list),
        Some(Verb::New(new)) => gallery::new(&new),
        Some(Verb::Check(check)) => check::check(&check),
        Some(Verb::Schema) => output::print_json(&meniscus::scene::schema()),
        Some(Verb::Run(arguments)) => run::run(&arguments),
        Some(Verb::Resume(resume)) => run::resume(&resume),
        Some(Verb::Play(play)) => play::play(play),
        Some(Verb::View(view)) => play::view(view),
        Some(Verb::Render(render)) => run::render(&render),
        Some(Verb::Surface(surface)) => run::surface(&surface),
        Some(Verb::Export(export)) => run::export(&export),
        Some(Verb::Compare(arguments)) => compare::compare(&arguments),
        Some(Verb::Validate(validate)) => validate::validate(&validate),
        Some(Verb::Bench(bench)) => bench::bench(&bench),
        Some(Verb::Doctor(doctor)) => doctor::doctor(&doctor),
        Some(Verb::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "meniscus", &mut script);
            output::print(&script)
        }
    }
}
