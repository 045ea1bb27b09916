//! The `meniscus` program.

mod arguments;
mod bench;
mod check;
mod failure;
mod gallery;
mod machine;
mod output;
mod run;
mod validate;

use arguments::{Arguments, Verb};
use clap::{CommandFactory, Parser};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let json = arguments.wants_json();
    match dispatch(arguments) {
        Ok(code) => code,
        Err(failure) => failure.report(json),
    }
}

fn dispatch(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.verb {
        None => {
            println!("{}", output::INTRODUCTION);
            run::run(&arguments::Run::default_job())
        }
        Some(Verb::List(list)) => gallery::list(&list),
        Some(Verb::New(new)) => gallery::new(&new),
        Some(Verb::Check(check)) => check::check(&check),
        Some(Verb::Schema) => output::print_json(&meniscus::scene::schema()),
        Some(Verb::Run(arguments)) => run::run(&arguments),
        Some(Verb::Resume(resume)) => run::resume(&resume),
        Some(Verb::Render(render)) => run::render(&render),
        Some(Verb::Export(export)) => run::export(&export),
        Some(Verb::Validate(validate)) => validate::validate(&validate),
        Some(Verb::Bench(bench)) => bench::bench(&bench),
        Some(Verb::Completions { shell }) => {
            clap_complete::generate(shell, &mut Arguments::command(), "meniscus", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    }
}
