//! `validate`: theory and experiment against us.

use crate::arguments::Validate;
use crate::failure::Failure;
use crate::machine;
use crate::output;
use meniscus::record::write_atomic;
use meniscus_validation::{CASES, Case, Row, Size, figure};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// A check failed.
const CHECK_FAILED: u8 = 1;

pub(crate) fn validate(arguments: &Validate) -> Result<ExitCode, Failure> {
    let cases = select(&arguments.cases)?;
    let threads = machine::threads(arguments.threads)?;
    let size = if arguments.fine { Size::Fine } else { Size::Quick };
    if let Some(folder) = &arguments.plot {
        std::fs::create_dir_all(folder).map_err(|e| Failure::input("plot", format!("{}: {e}", folder.display())))?;
    }
    let (mut rows, mut drawn): (Vec<Row>, Result<(), Failure>) = (Vec::new(), Ok(()));
    side_by_side(&cases, threads, size, |result, seconds| {
        if !arguments.json {
            for row in &result {
                say!("{}", line(row));
            }
            say!("{:24} {seconds:.1} s", "");
        }
        if let Some(folder) = &arguments.plot
            && drawn.is_ok()
        {
            drawn = draw(folder, &result);
        }
        rows.extend(result);
    })?;
    drawn?;
    let failed = rows.iter().filter(|row| !row.pass).count();
    if arguments.json {
        output::print_json(&rows)?;
    } else {
        say!("{} passed, {failed} failed", rows.len() - failed);
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

/// Draws the figure of a case.
fn draw(folder: &Path, rows: &[Row]) -> Result<(), Failure> {
    let Some(case) = rows.first().map(|row| &row.case) else { return Ok(()) };
    let file = folder.join(format!("{case}.svg"));
    write_atomic(&file, figure(case, rows).as_bytes())
        .map_err(|e| Failure::input("plot", format!("{}: {e}", file.display())))
}

/// Runs cases side by side, which keeps threads busier than one case on all of them; tells rows and seconds in the order of the
/// cases, as soon as they are there.
fn side_by_side(
    cases: &[&Case],
    threads: usize,
    size: Size,
    mut tell: impl FnMut(Vec<Row>, f64),
) -> Result<(), Failure> {
    let workers = threads.min(cases.len());
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (send, next) = (send.clone(), &next);
            // What does not divide goes to the first.
            let share = threads / workers + usize::from(worker < threads % workers);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(number) else { break };
                    let start = Instant::now();
                    let result = machine::in_pool(share, || (case.run)(size));
                    // Nobody listens any more after a failure.
                    let _ = send.send((number, result, start.elapsed().as_secs_f64()));
                }
            });
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        for (number, case) in cases.iter().enumerate() {
            let (result, seconds) = loop {
                if let Some(found) = waiting.remove(&number) {
                    break found;
                }
                let (number, result, seconds) = receive.recv().map_err(|_| lost(case.name))?;
                waiting.insert(number, (result?, seconds));
            };
            tell(result, seconds);
        }
        Ok(())
    })
}

fn lost(case: &str) -> Failure {
    Failure::input("lost-case", format!("case `{case}` ended without a result"))
}

fn select(names: &[String]) -> Result<Vec<&'static Case>, Failure> {
    if names.is_empty() {
        return Ok(CASES.iter().collect());
    }
    let find = |name: &String| {
        CASES.iter().find(|case| case.name == name).ok_or_else(|| {
            let known: Vec<String> = CASES.iter().map(|case| case.name.to_owned()).collect();
            let advice = meniscus::scene::nearest(name, &known, "case").unwrap_or_default();
            Failure::input("no-such-case", format!("there is no case `{name}`: {advice}"))
        })
    };
    names.iter().map(find).collect()
}

fn line(row: &Row) -> String {
    format!(
        "{:24} {:44} reference {:>12} measured {:>12} error {:>10} tolerance {:>10} {}  {}",
        row.case,
        row.quantity,
        short(row.reference),
        short(row.measured),
        short(row.error),
        short(row.tolerance),
        row.bound.name(),
        if row.pass { "ok" } else { "FAILS" },
    )
}

fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) {
        let text = format!("{value:.5}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.3e}")
    }
}
