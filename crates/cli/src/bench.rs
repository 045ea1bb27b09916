//! `bench`: how fast it is, each size in a process of its own.
//!
//! The scene of the particle benchmarks, shared with other engines: n³ particles on a lattice of spacing 2r, side 1 m,
//! r = 0.5/n, in a tank from −r to 2 + r, 2, 1 + r; h = 4r, cubic spline, mass 0.8 (2r)³ ρ0.

mod coupling;
mod fem;
mod particles;
mod plot;
mod surface;
mod twophase;
mod unified;

use crate::arguments::Bench;
use crate::failure::Failure;
use crate::machine;
use crate::output;
use meniscus::core::{StepReport, par};
use meniscus::record::write_atomic;
use meniscus::scene::Loaded;
use meniscus::sim::World;
use serde::{Deserialize, Serialize};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// One line of the result.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Measurement {
    case: String,
    size: usize,
    threads: usize,
    ns_per_item_step: f64,
    items: u64,
    steps: u64,
    /// How often it was measured: this is the median, and the least time was so much.
    #[serde(default)]
    rounds: usize,
    #[serde(default)]
    least_ns_per_item_step: f64,
    peak_rss_mb: f64,
    /// Time of a frame \[ms\]: 1/60 s of a solid's life, a frame of a gallery scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ms_per_frame: Option<f64>,
    /// Error of a result against its reference, over the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    /// ns per item and step of each stage.
    stages: Vec<(String, f64)>,
}

/// A benchmark.
struct Case {
    name: &'static str,
    sizes: &'static [usize],
    /// Measures a size on the threads that are there.
    measure: fn(&Case, [usize; 2]) -> Result<Measurement, Failure>,
}

/// Takes one step, adds its stages to a profile, and returns the number of items that moved.
type Stepper = Box<dyn FnMut(&mut StepReport) -> Result<u64, Failure>>;

const CASES: &[Case] = &[
    Case {
        name: "sph/dfsph",
        sizes: &[31, 46, 67],
        measure: |case, at| {
            let solver = "pressure = \"dfsph\"\nmax_density_iterations = 2\nmax_divergence_iterations = 1\n\
                density_error = 1e-12\ndivergence_error = 1e-12";
            measure_steps(case, at, measured_steps(at[0]), scene(at[0], 0.15, solver)?)
        },
    },
    Case {
        name: "sph/state-equation",
        sizes: &[31, 46, 67],
        measure: |case, at| {
            let solver = "pressure = \"state-equation\"\nstiffness = 350\nexponent = 7";
            measure_steps(case, at, measured_steps(at[0]), scene(at[0], 0.04, solver)?)
        },
    },
    Case {
        name: "twophase/dam-break",
        sizes: &[64, 96, 128],
        measure: |case, at| measure_steps(case, at, twophase::measured_steps(at[0]), twophase::dam_break(at[0])?),
    },
    coupling::POOL,
    coupling::POOL_10X,
    coupling::VESSEL,
    coupling::DRY,
    fem::CANTILEVER,
    particles::BODIES,
    particles::VAT_LIQUID,
    particles::VAT_100,
    surface::HALF,
    surface::SIX_TENTHS,
    surface::SEVEN_TENTHS,
    unified::SINKS,
    unified::FLOATS,
    unified::STREAM,
];

/// Steps measured, fewer where they are long.
fn measured_steps(n: usize) -> u64 {
    match n {
        0..=31 => 12,
        32..=46 => 8,
        _ => 4,
    }
}

fn scene(n: usize, dt_over_r: f64, solver: &str) -> Result<Stepper, Failure> {
    let loaded = Loaded::from_text("bench", "bench", &shared_scene(n, dt_over_r, solver), &[], &|_| {
        Err(std::io::ErrorKind::NotFound.into())
    })?;
    let mut world = World::new(&loaded)?;
    Ok(Box::new(move |profile: &mut StepReport| {
        world.step(f64::INFINITY).map_err(meniscus::RunError::from)?;
        profile.absorb(world.report());
        Ok(world.totals().particles)
    }))
}

fn shared_scene(n: usize, dt_over_r: f64, solver: &str) -> String {
    let r = 0.5 / n as f64;
    format!(
        "[sph]\nspacing = {:?}\nkernel = \"cubic-spline\"\nmass_factor = 0.8\n{solver}\n\
         [time]\ndt = {:?}\n\
         [liquid.water]\nfill = [{{ box = {{ min = [0, 0, 0], max = [1, 1, 1] }} }}]\n\
         [wall.tank]\nshape = {{ box = {{ min = [{:?}, {:?}, {:?}], max = [{:?}, 2, {:?}] }} }}\n",
        2.0 * r,
        dt_over_r * r,
        -r,
        -r,
        -r,
        2.0 + r,
        1.0 + r,
    )
}

pub(crate) fn bench(arguments: &Bench) -> Result<ExitCode, Failure> {
    let chosen = select(&arguments.cases)?;
    if let (Some(one), [case, ..]) = (&arguments.one, &chosen[..]) {
        return output::print_json(&measure_here(case, one)?);
    }
    let mut results = Vec::new();
    for case in chosen {
        for &size in case.sizes {
            for result in measure_in_turn(case, size)? {
                if !arguments.json {
                    say!("{}", line(&result));
                }
                results.push(result);
            }
        }
    }
    if let Some(file) = &arguments.plot {
        write_atomic(file, plot::svg(&results).as_bytes()).map_err(|e| Failure::input("plot", e.to_string()))?;
    }
    if arguments.json { output::print_json(&results) } else { Ok(ExitCode::SUCCESS) }
}

fn select(names: &[String]) -> Result<Vec<&'static Case>, Failure> {
    let mut chosen: Vec<&Case> = Vec::new();
    for name in names {
        let matching: Vec<&Case> =
            CASES.iter().filter(|case| case.name == name || case.name.starts_with(&format!("{name}/"))).collect();
        if matching.is_empty() {
            let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
            return Err(Failure::input(
                "no-such-case",
                format!("there is no case `{name}`; there are: {}", known.join(", ")),
            ));
        }
        chosen.extend(matching);
    }
    Ok(if names.is_empty() { CASES.iter().collect() } else { chosen })
}

/// A size is measured this often, but not again after so many seconds.
const ROUNDS: (usize, f64) = (5, 8.0);

/// Measures on one thread and on two in turn, several times if that does not take long, and returns the medians: other work of
/// the machine comes in bursts, and a burst should not decide what a second thread is worth.
fn measure_in_turn(case: &Case, size: usize) -> Result<[Measurement; 2], Failure> {
    let start = Instant::now();
    let (mut one, mut two) = (Vec::new(), Vec::new());
    while one.is_empty() || one.len() < ROUNDS.0 && start.elapsed().as_secs_f64() < ROUNDS.1 {
        one.push(measure_apart(case, size, 1)?);
        two.push(measure_apart(case, size, 2)?);
    }
    Ok([median(one), median(two)])
}

fn median(mut runs: Vec<Measurement>) -> Measurement {
    runs.sort_by(|a, b| a.ns_per_item_step.total_cmp(&b.ns_per_item_step));
    let (rounds, least_ns_per_item_step) = (runs.len(), runs[0].ns_per_item_step);
    let middle = runs.swap_remove(rounds / 2);
    Measurement { rounds, least_ns_per_item_step, ..middle }
}

/// Starts this program again for one size, so that its memory is its own.
fn measure_apart(case: &Case, size: usize, threads: usize) -> Result<Measurement, Failure> {
    let fail = |what: String| Failure::input("bench", format!("{} at size {size}: {what}", case.name));
    let program = std::env::current_exe().map_err(|e| fail(e.to_string()))?;
    let output = Command::new(program)
        .args(["bench", case.name, "--json", "--one", &format!("{size},{threads}")])
        .output()
        .map_err(|e| fail(e.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).map_err(|e| fail(format!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr))))
}

fn measure_here(case: &Case, one: &str) -> Result<Measurement, Failure> {
    let numbers: Vec<usize> = one.split(',').filter_map(|n| n.parse().ok()).collect();
    let [size, threads] = numbers[..] else { return Err(Failure::input("usage", "--one SIZE,THREADS")) };
    machine::in_pool(machine::threads(Some(threads))?, || (case.measure)(case, [size, threads]))?
}

fn measure_steps(
    case: &Case,
    [size, threads]: [usize; 2],
    steps: u64,
    mut step: Stepper,
) -> Result<Measurement, Failure> {
    let mut profile = StepReport::default();
    let (items, seconds) = par::awake(|| {
        for _ in 0..3 {
            step(&mut profile)?;
        }
        profile.clear();
        let (mut items, start) = (0, Instant::now());
        for _ in 0..steps {
            items = step(&mut profile)?;
        }
        Ok::<_, Failure>((items, start.elapsed().as_secs_f64()))
    })?;
    let per_item = |seconds: f64| seconds * 1e9 / (items * steps) as f64;
    Ok(Measurement {
        case: case.name.into(),
        size,
        threads,
        ns_per_item_step: per_item(seconds),
        items,
        steps,
        rounds: 1,
        least_ns_per_item_step: per_item(seconds),
        peak_rss_mb: machine::peak_memory().unwrap_or(0.0),
        ms_per_frame: None,
        error: None,
        stages: profile.stages().iter().map(|s| (s.name.to_owned(), per_item(s.time.as_secs_f64()))).collect(),
    })
}

fn line(m: &Measurement) -> String {
    let stages: Vec<String> = m.stages.iter().map(|(name, ns)| format!("{name} {ns:.0}")).collect();
    let frame = m.ms_per_frame.map_or(String::new(), |ms| format!("  {ms:.2} ms per frame"));
    let least = if m.rounds > 1 { format!(" (least {:.1})", m.least_ns_per_item_step) } else { String::new() };
    let error = m.error.map_or(String::new(), |error| format!("  error {:+.2} %", 100.0 * error));
    format!(
        "{:20} n = {:3} {:>8} items {} thread{}  {:7.1} ns per item-step{least}{frame}{error}  {:6.1} MB   {}",
        m.case,
        m.size,
        m.items,
        m.threads,
        if m.threads == 1 { " " } else { "s" },
        m.ns_per_item_step,
        m.peak_rss_mb,
        stages.join(", ")
    )
}
