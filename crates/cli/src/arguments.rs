//! The command line: a contract that scripts rely on.

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::net::IpAddr;
use std::path::PathBuf;

/// Liquids meet deformable, rigid and animated solids.
#[derive(Parser, Debug)]
#[command(
    name = "meniscus",
    version,
    after_help = "Examples:\n  \
        meniscus                                  run the default scene into out/\n  \
        meniscus list                             what there is to see\n  \
        meniscus play jelly-drop                  live in the browser\n  \
        meniscus run dam-break --set resolution=0.03\n  \
        meniscus new dam-break                    copy a scene here, edit it, then: meniscus run dam-break.toml\n\n\
        Exit codes: 0 done, 1 a check failed or frames were passed over, 2 bad usage or bad input, 3 the simulation failed, \
        130 and 143 stopped by Ctrl-C or SIGTERM."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

impl Arguments {
    /// Whether standard output is to be exactly one JSON document.
    pub(crate) fn wants_json(&self) -> bool {
        match &self.verb {
            Some(Verb::List(list)) => list.json,
            Some(Verb::Check(check)) => check.json,
            Some(Verb::Run(run)) => run.json,
            Some(Verb::Resume(resume)) => resume.json,
            Some(Verb::Validate(validate)) => validate.json,
            Some(Verb::Bench(bench)) => bench.json,
            Some(Verb::Doctor(doctor)) => doctor.json,
            Some(Verb::Compare(compare)) => compare.json,
            _ => false,
        }
    }
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Show the gallery: name, method, paper figure, one line
    List(List),
    /// Copy a gallery scene here to edit
    New(New),
    /// Validate a scene; counts, memory and time estimate, warnings
    Check(Check),
    /// Print the JSON schema of the scene file
    Schema,
    /// Simulate a scene into a folder of frames, pictures, probes and checkpoints
    Run(Run),
    /// Go on with a run from its last checkpoint, bit for bit
    Resume(Resume),
    /// Simulate live in the browser: look round, reach in, change parameters
    Play(Play),
    /// Replay a run in the browser
    View(View),
    /// Take the pictures of a run again and make the film
    Render(Render),
    /// Make the surfaces of the liquids of a run: PLY files with velocities, and the spray
    Surface(Surface),
    /// Write the frames of a run in the formats of other programs
    Export(Export),
    /// Simulate a scene by several methods: one film strip, one table, one plot
    Compare(Compare),
    /// Compare with theory and experiment: case, quantity, reference, measured, error, tolerance, verdict
    Validate(Validate),
    /// Measure speed: ns per particle-step, per stage
    Bench(Bench),
    /// Look whether all is well here: version, instruction set, threads, memory, browser, a self-test with a known digest
    Doctor(Doctor),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Args, Debug)]
pub(crate) struct List {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct New {
    /// Name of a gallery scene
    pub(crate) name: String,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  meniscus check dam-break --set resolution=0.005")]
pub(crate) struct Check {
    /// A gallery name or a TOML file
    pub(crate) scene: String,
    /// Override a key of the scene, such as liquid.water.viscosity=0.1
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug, Default)]
#[command(after_help = "Examples:\n  \
    meniscus run dam-break\n  \
    meniscus run dam-break --seconds 0.5 --set resolution=0.03 --set picture.color=speed\n  \
    meniscus run my-scene.toml --out results/a --threads 1 --json")]
pub(crate) struct Run {
    /// A gallery name or a TOML file
    pub(crate) scene: String,
    /// Folder for the results; must be empty or not exist [default: out/SCENE, -2, -3 ...]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Simulated time [s], instead of the scene's
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seconds: Option<f64>,
    /// Number of threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Override a key of the scene, such as liquid.water.viscosity=0.1
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Repeat the commands of another run: its commands.jsonl
    #[arg(long, value_name = "FILE")]
    pub(crate) commands: Option<PathBuf>,
    /// How run.log is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = LogLines::Text)]
    pub(crate) log_format: LogLines,
    /// Take no pictures
    #[arg(long)]
    pub(crate) no_pictures: bool,
    /// No progress
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print one JSON document; progress goes to standard error
    #[arg(long)]
    pub(crate) json: bool,
}

impl Run {
    /// What `meniscus` without a verb does.
    pub(crate) fn default_job() -> Self {
        Self { scene: meniscus::gallery::DEFAULT.into(), ..Self::default() }
    }
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    meniscus resume out/dam-break --from-frame 30\n  \
    meniscus resume out/dam-break --from-frame 30 --set liquid.water.viscosity=1 --out out/thicker     a branch")]
pub(crate) struct Resume {
    /// Folder of a run
    pub(crate) dir: PathBuf,
    /// Go back to the last checkpoint at or before this frame
    #[arg(long, value_name = "N")]
    pub(crate) from_frame: Option<u32>,
    /// Leave the run at the frame of --from-frame and go on in this new folder
    #[arg(long, value_name = "DIR", requires = "from_frame")]
    pub(crate) out: Option<PathBuf>,
    /// Change a live key there, such as liquid.water.viscosity=0.1
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "out")]
    pub(crate) set: Vec<String>,
    /// Repeat commands of a log from there on
    #[arg(long, value_name = "FILE", requires = "out")]
    pub(crate) commands: Option<PathBuf>,
    /// Number of threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// How run.log is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = LogLines::Text)]
    pub(crate) log_format: LogLines,
    /// Take no pictures
    #[arg(long)]
    pub(crate) no_pictures: bool,
    /// No progress
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print one JSON document; progress goes to standard error
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    meniscus play\n  \
    meniscus play jelly-drop --threads 2\n  \
    meniscus play my-scene.toml --log sessions     then: meniscus run sessions/my-scene/scene.toml --commands sessions/my-scene/commands.jsonl\n\n\
    The link has a secret token; MENISCUS_TOKEN sets it, so that a page finds a server that was started anew.")]
pub(crate) struct Play {
    /// A gallery name or a TOML file
    #[arg(default_value = meniscus::gallery::DEFAULT)]
    pub(crate) scene: String,
    /// Number of threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Override a key of the scene, such as liquid.water.viscosity=0.1
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Keep what is done in a folder per session, to be repeated bit for bit
    #[arg(long, value_name = "DIR")]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) serve: Serve,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  meniscus view out/dam-break")]
pub(crate) struct View {
    /// Folder of a run; it may still be growing
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) serve: Serve,
}

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Address to listen at; others than 127.0.0.1 let other machines in
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// Port to listen at [default: 7420, or any other if that is taken]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// A name, besides localhost and addresses, under which browsers may ask for the page
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// Print the link, open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    meniscus render out/dam-break --set picture.color=speed --set picture.theme=dark\n  \
    meniscus render out/dam-break --strip 6 --columns 3\n  \
    meniscus render out/dam-break --quality final --frame 24 --out hero.jpg --no-legend\n  \
    meniscus render out/dam-break --quality final --to y4m")]
pub(crate) struct Render {
    /// Folder of a run
    pub(crate) dir: PathBuf,
    /// Override a key of the scene, such as picture.color=speed
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// One picture of so many moments (strip.png) instead of one per frame
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) strip: Option<u16>,
    /// Pictures per row of the strip
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) columns: u16,
    /// Drawn quickly, or along paths of light [default: the scene's]
    #[arg(long, value_enum, value_name = "QUALITY")]
    pub(crate) quality: Option<Quality>,
    /// Paths of light per pixel of a final picture [default: the scene's]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) samples: Option<u16>,
    /// Only this frame, into the file of --out
    #[arg(long, value_name = "N", conflicts_with_all = ["strip", "to"])]
    pub(crate) frame: Option<u32>,
    /// A PNG, or a JPEG if its name ends in .jpg
    #[arg(long, value_name = "FILE", requires = "frame")]
    pub(crate) out: Option<PathBuf>,
    /// A strip, a thumbnail and a final picture, of --frame or after three fifths of the run, into this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["strip", "to", "out"])]
    pub(crate) album: Option<PathBuf>,
    /// A film in this format beside the GIF
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "strip")]
    pub(crate) to: Option<FilmFormat>,
    /// No colour bar, no grid size
    #[arg(long)]
    pub(crate) no_legend: bool,
    /// Number of threads; the pictures do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// No progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quality {
    /// In a fraction of a second
    Draft,
    /// Along paths of light: refraction, caustics, soft shadows, motion blur
    Final,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilmFormat {
    /// The animated GIF alone
    Gif,
    /// Raw planes, for encoders
    Y4m,
    /// H.264, if the program was built with the feature mp4
    Mp4,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    meniscus surface out/dam-break\n  \
    meniscus surface out/dam-break --cube 0.4 --set surface.kernel=anisotropic --set surface.smoothing=20")]
pub(crate) struct Surface {
    /// Folder of a run
    pub(crate) dir: PathBuf,
    /// Edge of the cubes that surfaces are cut into, over the particle spacing, 0.2 to 1 [default: the scene's]
    #[arg(long, value_name = "SIZE")]
    pub(crate) cube: Option<f64>,
    /// Override a key of the scene, such as surface.kernel=anisotropic
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Folder for the files [default: DIR/surface]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// No progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  meniscus export out/dam-break --to vtk     then open out/dam-break/vtk/all.pvd in ParaView"
)]
pub(crate) struct Export {
    /// Folder of a run
    pub(crate) dir: PathBuf,
    /// The format
    #[arg(long, value_enum)]
    pub(crate) to: Format,
    /// Folder for the files [default: DIR/FORMAT]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// No progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(ValueEnum, Debug, Clone, Copy, Default)]
pub(crate) enum LogLines {
    /// For people
    #[default]
    Text,
    /// One JSON document per line
    Json,
}

impl From<LogLines> for meniscus::LogFormat {
    fn from(lines: LogLines) -> Self {
        match lines {
            LogLines::Text => Self::Text,
            LogLines::Json => Self::Json,
        }
    }
}

#[derive(ValueEnum, Debug, Clone, Copy)]
pub(crate) enum Format {
    /// VTP files with PVD time series, for `ParaView` and `PyVista`
    Vtk,
    /// Surfaces of liquids and bodies as binary PLY files numbered without gaps, and particles
    Ply,
    /// The same surfaces as OBJ files
    Obj,
    /// Rigid, soft and animated bodies as one glTF file; not liquids
    Glb,
    /// USD with a clip per frame: surfaces of liquids, spray, bodies, camera, for `Blender`, `Houdini`, `Maya`
    Usd,
    /// The same with clips in words, four times as large
    Usda,
    /// Fields on the grid of a `twophase` run, one VTI file per checkpoint, with a PVD time series
    Vti,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    meniscus compare dam-break\n  \
    meniscus compare dam-break --methods gauss,connections --seconds 1 --out results/dam-break\n\n\
    A method that cannot simulate the scene gets a column with its reason. Exit code 0 if two could.")]
pub(crate) struct Compare {
    /// A gallery name or a TOML file
    pub(crate) scene: String,
    /// Methods, such as gauss,unified,connections,twophase [default: those that the scene names, or all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// Simulated time [s], instead of the scene's
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) seconds: Option<f64>,
    /// Folder for the results [default: out/SCENE-compare, -2, -3 ...]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Moments of the film strip
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u16).range(2..=20))]
    pub(crate) moments: u16,
    /// Number of threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Override a key of the scene for all methods, such as resolution=0.04
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// No progress
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print one JSON document; progress goes to standard error
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  meniscus validate dam-break sloshing\n  meniscus validate dam-break --plot figures"
)]
pub(crate) struct Validate {
    /// Cases; all when none is named
    pub(crate) cases: Vec<String>,
    /// The sizes, durations and convergence studies that take longer
    #[arg(long)]
    pub(crate) fine: bool,
    /// Draw a figure of each case into this folder, CASE.svg: measured against reference
    #[arg(long, value_name = "DIR")]
    pub(crate) plot: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  meniscus bench sph --json\n  meniscus bench particles/bodies --plot cost.svg")]
pub(crate) struct Bench {
    /// Cases, such as sph or sph/state-equation; all when none is named
    pub(crate) cases: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw cost against size into an SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Run one size here and print it: what a bench starts for every size
    #[arg(long, hide = true, value_name = "SIZE,THREADS")]
    pub(crate) one: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
