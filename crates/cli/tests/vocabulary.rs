//! Names are the field's own words, and equations that the code cites are in the book.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that are no names any more in `crates/*/src`; `docs/src/notation.md` says what stands for them. Who renames a word adds it
/// in both places.
const GONE: &[&str] = &[
    "pos",
    "vel",
    "acc",
    "dens",
    "idx",
    "cnt",
    "tmp",
    "smoothing_length",
    "smoothing_radius",
    "kernel_radius",
    "particle_radius",
    "num_particles",
    "timestep",
    "time_step",
    "delta_t",
    "youngs_modulus",
    "poisson_ratio",
    "levelset",
    "vof",
    "utils",
    "helpers",
    "misc",
    "Manager",
    "Answer",
    "StepAnswer",
    "Yields",
    "yielding",
    "mobility",
    "Thick",
    "eddies",
    "Sight",
    "Pushing",
    "deficit",
    "Around",
    "Drops",
    "Pitch",
    "Lane",
    "Led",
    "led",
    "lead",
    "is_led",
    "touch_walls",
    "pull_surfaces",
    "seep",
    "push_interface",
    "turn_elements",
    "part_liquid",
    "expect_solids",
    "MOST",
    "NEAR",
    "SEEN",
    "LOOSE",
    "ENOUGH",
    "KEPT",
    "Touch",
    "Touching",
    "BodyTouch",
    "answer",
    "answered",
    "answering",
    "find_answers",
    "Rub",
    "RubList",
    "Rubbed",
    "rub",
    "rubs",
    "rubbed",
    "wall_push",
    "Grip",
    "grip",
    "grips",
    "Openings",
    "openings",
    "kink",
    "kinks",
    "Dice",
    "dice",
    "liquid_places",
    "part_places",
];

/// Words that are in no name either, as one of its parts.
const GONE_PARTS: &[&str] = &[
    "mobility",
    "mobilities",
    "yielding",
    "yielded",
    "deficit",
    "deficits",
    "eddies",
    "levelset",
    "utils",
    "misc",
    "MOST",
    "ENOUGH",
    "rub",
    "rubs",
    "rubbed",
    "rubbing",
    "grip",
    "grips",
    "openings",
    "kinks",
    "dice",
];

/// The same for names of files, crate by crate: the field has a word for what each is about.
const GONE_FILES: &[(&str, &[&str])] = &[
    ("sph", &["thick", "eddies", "lanes", "wall", "walls", "surface", "cut", "passed", "rub", "chosen"]),
    ("twophase", &["jump", "kink", "openings", "heights", "volume", "regions", "dice"]),
    ("fem", &["answer", "growth", "cut", "search", "settle", "float", "link", "touch"]),
    ("elastic", &["touch"]),
    ("particles", &["touch"]),
    ("sim", &["build_wet", "bumps", "grips", "cover", "obstacle", "solids"]),
];

/// Where stages of a step are told: a chapter of the book, and the files whose tables it repeats, in `crates`.
const STAGES: [(&str, &[&str]); 5] = [
    ("liquid", &["sph/src/liquid/step.rs", "sim/src/methods/gauss.rs"]),
    ("unified", &["sim/src/methods/unified.rs"]),
    ("particle-bodies", &["sim/src/methods/connections.rs", "particles/src/system.rs"]),
    ("air-and-water", &["twophase/src/step.rs"]),
    ("solids", &["fem/src/step.rs"]),
];

/// Chapters that state their problem as numbered equations.
const CHAPTERS: [&str; 5] = ["air-and-water", "solids", "liquid", "unified", "particle-bodies"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All Rust files of our crates with their text, tests aside.
fn sources() -> Vec<(PathBuf, String)> {
    fn visit(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                visit(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    for room in fs::read_dir(root().join("crates")).unwrap() {
        visit(&room.unwrap().path().join("src"), &mut found);
    }
    assert!(found.len() > 100, "only {} files", found.len());
    found
}

/// Identifiers of a line, without comments and texts between quotes.
fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    let outside = code.split('"').step_by(2);
    outside.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_')).filter(|word| !word.is_empty())
}

#[test]
fn words_that_are_gone_do_not_come_back() {
    let gone: BTreeSet<&str> = GONE.iter().copied().collect();
    for (path, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            let is_gone = |word: &&str| gone.contains(word) || word.split('_').any(|part| GONE_PARTS.contains(&part));
            if let Some(word) = identifiers(line).find(is_gone) {
                panic!("{}:{}: `{word}`; docs/src/notation.md has the word for it", path.display(), number + 1);
            }
        }
    }
}

#[test]
fn the_test_of_words_can_fail() {
    let words: Vec<&str> = identifiers("let pos = idx.max(2); // vel \"dens\"").collect();
    assert_eq!(words, ["let", "pos", "idx", "max", "2"]);
    assert_eq!(identifiers("let s = \"vel\" + acc;").collect::<Vec<_>>(), ["let", "s", "acc"]);
}

/// Whether a line calls a point in space a place, or several places. The word is for files, and for putting things somewhere.
fn calls_a_position_a_place(line: &str) -> bool {
    const POINTS: [&str; 7] = ["DVec2", "DVec3", "Vec2", "Vec3", "Packed", "[f32; 3]", "[f64; 3]"];
    const BEFORE: [&str; 8] = ["&", "mut ", "'a ", "[", "Vec<", "Option<", "(", "vec!["];
    let code = line.split("//").next().unwrap_or_default();
    let of_points = |mut kind: &str| {
        while !POINTS.iter().any(|point| kind.starts_with(point)) {
            let Some(rest) = BEFORE.iter().find_map(|before| kind.strip_prefix(before)) else { return false };
            kind = rest;
        }
        true
    };
    ["place: ", "places: ", "place = ", "places = "].iter().any(|name| {
        let is_whole = |at: usize| !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '.');
        let named = code.match_indices(name).filter(|(at, _)| is_whole(*at));
        named.map(|(at, _)| &code[at + name.len()..]).any(of_points)
    })
}

#[test]
fn points_in_space_are_positions() {
    for (path, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            assert!(!calls_a_position_a_place(line), "{}:{}: it is a position", path.display(), number + 1);
        }
    }
    let wrong = [
        "    pub place: DVec3,",
        "fn f(places: &'a mut [Vec3]) {",
        "let liquid_places: Vec<DVec3> =",
        "let place = [DVec3::X; 2];",
    ];
    assert!(wrong.iter().all(|line| calls_a_position_a_place(line)));
    let right =
        ["fn missing(soup: &Soup, place: Place)", "places: Vec<usize>,", "// place: DVec3", "let displace = DVec3::X;"];
    assert!(!right.iter().any(|line| calls_a_position_a_place(line)));
}

/// The table of words that are gone says the same as the list here.
#[test]
fn the_vocabulary_lists_what_is_gone() {
    let page = fs::read_to_string(root().join("docs/src/notation.md")).unwrap();
    let table = page.split("| gone | the word is |").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    let first = table.lines().filter_map(|line| line.split('|').nth(1));
    let listed: BTreeSet<&str> = first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert_eq!(listed, GONE.iter().copied().collect());
}

#[test]
fn files_that_are_gone_do_not_come_back() {
    let sources = sources();
    for (room, names) in GONE_FILES {
        let mut own = sources
            .iter()
            .map(|(path, _)| path)
            .filter(|path| path.components().any(|part| part.as_os_str() == *room))
            .peekable();
        assert!(own.peek().is_some(), "there is no crate {room}");
        let old = own.find(|path| path.file_stem().is_some_and(|stem| names.contains(&stem.to_str().unwrap())));
        assert_eq!(old, None, "has a name that is gone");
    }
}

/// Numbers and names of the stages in all tables of a text whose second column is "stage"; of a comment, without its slashes.
fn stages(text: &str) -> Vec<[String; 2]> {
    let mut found = Vec::new();
    let mut within = false;
    for line in text.lines().map(|line| line.trim_start_matches("//!").trim()) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        within = (within && line.starts_with('|')) || cells.get(2) == Some(&"stage");
        let row = within && cells.len() > 3 && cells[2] != "stage" && !cells[1].starts_with("--");
        if row && !cells[2].is_empty() {
            found.push([cells[1].to_owned(), cells[2].to_owned()]);
        }
    }
    found
}

/// Stages of a report in a source, with the number of the comment behind them.
fn reported(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    text.lines().filter_map(|line| {
        let name = line.split("report.stage(\"").nth(1)?.split('"').next()?;
        let after = line.split("; // ").nth(1).and_then(|rest| rest.split_whitespace().next());
        Some((name, after.filter(|word| word.parse::<u32>().is_ok())))
    })
}

#[test]
fn the_book_has_the_stages_of_the_code() {
    for (chapter, files) in STAGES {
        let page = fs::read_to_string(root().join("docs/src").join(format!("{chapter}.md"))).unwrap();
        let of_code = files.iter().flat_map(|file| {
            let text = fs::read_to_string(root().join("crates").join(file)).unwrap();
            let whole = stages(&text).into_iter();
            // "1–9: sort particles … advance" stands for the rows of another table.
            whole
                .filter(|[number, name]| !(chapter == "liquid" && number == "1–9" && name.contains('…')))
                .collect::<Vec<_>>()
        });
        let of_code: Vec<[String; 2]> = of_code.collect();
        assert!(of_code.len() > 5, "{chapter}: {of_code:?}");
        assert_eq!(stages(&page), of_code, "{chapter}");
    }
}

/// What a report can name is told in the book, under the same number.
#[test]
fn stages_of_reports_are_in_the_book() {
    let mut told: Vec<[String; 2]> = Vec::new();
    let mut quoted = BTreeSet::new();
    for (chapter, _) in STAGES {
        let page = fs::read_to_string(root().join("docs/src").join(format!("{chapter}.md"))).unwrap();
        told.extend(stages(&page));
        quoted.extend(page.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    let single = |name: &str| -> Vec<String> {
        let rows = told.iter().filter(|[_, names]| names.split(", ").any(|one| one == name));
        rows.map(|[number, _]| number.clone()).collect()
    };
    let mut seen = 0;
    for (path, text) in sources() {
        let solver = ["sph", "elastic", "fem", "rigid", "particles", "twophase", "coupling", "sim"];
        if !path.components().any(|part| solver.iter().any(|name| part.as_os_str() == *name)) {
            continue;
        }
        for (name, number) in reported(&text) {
            seen += 1;
            let numbers = single(name);
            assert!(
                !numbers.is_empty() || quoted.contains(name),
                "{}: no chapter tells of the stage \"{name}\"",
                path.display()
            );
            let right = number.is_none_or(|number| {
                numbers.is_empty() || numbers.iter().any(|told| told == number || told.contains(['–', ',']))
            });
            assert!(right, "{}: \"{name}\" is {number:?} here and {numbers:?} in the book", path.display());
        }
    }
    assert!(seen > 50, "only {seen} stages");
}

/// Numbers of the equations of a chapter.
fn equations(chapter: &str) -> Vec<usize> {
    let path = root().join("docs/src").join(format!("{chapter}.md"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let tags = text.split("\\tag{").skip(1).filter_map(|rest| rest.split('}').next());
    tags.map(|number| number.parse().unwrap()).collect()
}

#[test]
fn equations_are_numbered_and_the_code_cites_them() {
    let sources = sources();
    for chapter in CHAPTERS {
        let numbers = equations(chapter);
        assert!(numbers.len() >= 5 && numbers.iter().copied().eq(1..=numbers.len()), "{chapter}: {numbers:?}");
        let mark = format!(" of docs/src/{chapter}.md");
        let cited = sources.iter().any(|(_, text)| text.contains(&mark));
        assert!(cited, "no code cites an equation of {chapter}");
    }
    for (path, text) in &sources {
        for (before, after) in text.split(") of docs/src/").zip(text.split(") of docs/src/").skip(1)) {
            let number = before.rsplit('(').next().and_then(|n| n.parse::<usize>().ok());
            let chapter = after.split(".md").next().unwrap();
            let known = number.is_some_and(|number| equations(chapter).contains(&number));
            assert!(known, "{} cites ({number:?}) of {chapter}", path.display());
        }
    }
}
