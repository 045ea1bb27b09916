//! The map is true: paths exist, arrows hold, citations resolve, documents agree with the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(&path)).unwrap_or_else(|e| panic!("{}: {e}", path.as_ref().display()))
}

/// Files below a folder with one of these endings.
fn files(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    fn visit(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let skipped = path.file_name().is_some_and(|name| name == "target" || name == "book" || name == ".git");
            if path.is_dir() && !skipped {
                visit(&path, endings, found);
            } else if endings.iter().any(|ending| path.extension().is_some_and(|e| e == *ending)) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    visit(&root().join(folder), endings, &mut found);
    found.sort();
    found
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_path_in_the_documents_exists() {
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        let text = read(document);
        let starts = ["crates/", "scenes/", "validation/", "docs/", ".ci/", "benches/", "fuzz/"];
        let paths: Vec<&str> =
            quoted(&text).filter(|word| starts.iter().any(|start| word.starts_with(start))).collect();
        assert!(document == "README.md" || paths.len() > 4, "{document} names only {paths:?}");
        for path in paths {
            assert!(root().join(path).exists(), "{document} names {path}");
        }
        // Links between documents.
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let local = !link.starts_with("http") && !link.starts_with('#');
            assert!(!local || root().join(link).exists(), "{document} links to {link}");
        }
    }
}

/// Pages of the book and of validation.
fn pages() -> Vec<(PathBuf, String)> {
    let pages = files("docs/src", &["md"]).into_iter().chain(files("validation", &["md"]));
    pages.map(|path| (path.clone(), read(path))).collect()
}

/// Files of our Rust code, below a folder.
fn code(folder: &str) -> Vec<PathBuf> {
    files(folder, &["rs"])
}

#[test]
fn files_that_pages_name_exist() {
    let (all, starts) = (code(""), ["crates/", "scenes/", "validation/", "docs/", ".ci/", "fuzz/", "tools/"]);
    let mut checked = 0;
    for (page, text) in pages() {
        for word in quoted(&text).filter(|word| !word.contains([' ', '*', '{'])) {
            let path = starts.iter().any(|start| word.starts_with(start));
            let file = word.ends_with(".rs");
            checked += usize::from(path || file);
            assert!(!path || root().join(word).exists(), "{} names {word}", page.display());
            assert!(path || !file || all.iter().any(|known| known.ends_with(word)), "{} names {word}", page.display());
        }
    }
    assert!(checked > 20, "only {checked} paths");
}

/// Whether a path such as `sph::traction` or `geometry::NeighbourGrid` leads somewhere in a crate of ours.
fn leads_somewhere(krate: &str, path: &[&str]) -> bool {
    let source = root().join("crates").join(krate).join("src");
    let modules: PathBuf = path.iter().take_while(|part| part.starts_with(char::is_lowercase)).collect();
    let module = source.join(&modules);
    if module.with_extension("rs").is_file() || module.join("mod.rs").is_file() {
        return true;
    }
    // An item of the crate.
    let Some(item) = path.iter().find(|part| part.starts_with(char::is_uppercase)).or(path.last()) else {
        return false;
    };
    let kinds = ["fn", "struct", "enum", "trait", "type", "const", "macro_rules!"];
    let defined = kinds.map(|kind| format!("{kind} {item}"));
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let defines = |text: &str| defined.iter().any(|word| text.split(word.as_str()).skip(1).any(ends));
    code(&format!("crates/{krate}/src")).iter().any(|file| defines(&read(file)))
}

#[test]
fn modules_that_pages_name_exist() {
    assert!(leads_somewhere("sph", &["traction"]) && leads_somewhere("geometry", &["NeighbourGrid"]));
    assert!(!leads_somewhere("sph", &["eddies"]) && !leads_somewhere("sph", &["wall_integrals_of_old"]));
    let mut checked = 0;
    for (page, text) in pages() {
        for word in quoted(&text) {
            let parts: Vec<&str> = word.trim_end_matches("()").split("::").collect();
            let [krate, path @ ..] = &parts[..] else { continue };
            if path.is_empty() || !ARROWS.iter().any(|(name, _)| name == krate) {
                continue;
            }
            checked += 1;
            assert!(leads_somewhere(krate, path), "{} names {word}", page.display());
        }
    }
    assert!(checked > 5, "only {checked} module paths");
}

/// A file that a comment names is one of its own crate.
#[test]
fn files_that_comments_name_exist() {
    let mut checked = 0;
    for (room, _) in ARROWS.iter().filter(|(room, _)| root().join("crates").join(room).is_dir()) {
        let all = code(&format!("crates/{room}"));
        for file in &all {
            let text = read(file);
            let comments = text.lines().filter(|line| line.trim_start().starts_with("//"));
            for word in
                comments.flat_map(quoted).filter(|word| word.ends_with(".rs") && !word.contains(['*', '{', ' ']))
            {
                checked += 1;
                let found = all.iter().any(|known| known.ends_with(word)) || root().join(word).exists();
                assert!(found, "{} names {word}", file.display());
            }
        }
    }
    assert!(checked > 10, "only {checked} names of files");
}

/// Which of our crates a crate may import; dev-dependencies are free.
const ARROWS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("geometry", &["core"]),
    ("boundary", &["core", "geometry"]),
    ("sph", &["core", "geometry", "boundary"]),
    ("elastic", &["core", "geometry", "boundary"]),
    ("fem", &["core", "geometry", "boundary"]),
    ("rigid", &["core", "geometry", "boundary"]),
    ("particles", &["core", "geometry", "boundary"]),
    ("twophase", &["core", "geometry", "boundary"]),
    ("coupling", &["core", "geometry", "boundary", "sph", "elastic", "fem", "rigid", "particles", "twophase"]),
    ("surface", &["core", "geometry"]),
    ("scene", &["core", "geometry", "boundary", "sph", "fem", "rigid", "particles", "twophase", "surface"]),
    (
        "sim",
        &[
            "core",
            "geometry",
            "boundary",
            "scene",
            "sph",
            "elastic",
            "fem",
            "rigid",
            "particles",
            "twophase",
            "coupling",
        ],
    ),
    ("record", &["core", "geometry"]),
    ("picture", &["core", "geometry"]),
    ("viewer", &["core", "sim", "scene", "record", "surface"]),
    ("assets", &["geometry"]),
    ("scenes", &[]),
];

#[test]
fn the_arrows_hold() {
    let mut seen = BTreeSet::new();
    for manifest in files("", &["toml"]).iter().filter(|path| path.ends_with("Cargo.toml")) {
        let table: toml::Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
        let Some(name) = table.get("package").and_then(|p| p["name"].as_str()) else { continue };
        let short = name.strip_prefix("meniscus-").unwrap_or(name);
        let Some((_, allowed)) = ARROWS.iter().find(|(room, _)| *room == short) else { continue };
        seen.insert(short.to_owned());
        let dependencies = table.get("dependencies").and_then(|d| d.as_table()).cloned().unwrap_or_default();
        for ours in dependencies.keys().filter(|d| d.starts_with("meniscus")) {
            let other = ours.strip_prefix("meniscus-").unwrap_or("the facade");
            assert!(allowed.contains(&other), "{short} must not import {other}");
        }
    }
    assert!(seen.contains("core") && seen.contains("sim") && seen.contains("scenes"), "{seen:?}");
}

/// What the map says that a room may import is what is allowed here.
#[test]
fn the_map_says_what_is_allowed() {
    const SOLVERS: [&str; 6] = ["sph", "elastic", "fem", "rigid", "particles", "twophase"];
    let map = read("ARCHITECTURE.md");
    let table =
        map.split("| room | what it is | may import |").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    let mut seen = 0;
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let room = cells[1].trim_matches('`').trim_start_matches("crates/");
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == room) else { continue };
        seen += 1;
        let words = cells[3].split(" (").next().unwrap().split(", ").filter(|word| *word != "nothing of ours");
        let told: BTreeSet<&str> =
            words.flat_map(|word| if word == "solvers" { SOLVERS.to_vec() } else { vec![word] }).collect();
        assert_eq!(told, allowed.iter().copied().collect(), "{room}");
    }
    assert_eq!(seen, ARROWS.len());
}

#[test]
fn only_cargo_toml_of_rigid_names_rapier() {
    for manifest in files("crates", &["toml"]) {
        let names_it = fs::read_to_string(&manifest).unwrap().contains("rapier3d");
        assert!(!names_it || manifest.ends_with("rigid/Cargo.toml"), "{}", manifest.display());
    }
}

/// Keys such as MCG03: capitals and perhaps small letters, then two digits.
fn citations(text: &str) -> BTreeSet<String> {
    let is_key = |word: &str| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.len() == letters.len() + 2
            && letters.len() >= 2
            && letters.starts_with(|c: char| c.is_ascii_uppercase())
            && letters.chars().all(|c| c.is_ascii_alphabetic())
    };
    let bracketed = text.split('[').skip(1).filter_map(|rest| rest.split([']', '\\']).next());
    bracketed.flat_map(|inside| inside.split([' ', ',', ';'])).filter(|word| is_key(word)).map(str::to_owned).collect()
}

#[test]
fn citations_resolve() {
    let known: BTreeSet<String> = read("references.bib")
        .lines()
        .filter_map(|line| line.strip_prefix('@')?.split('{').nth(1)?.strip_suffix(',').map(str::to_owned))
        .collect();
    let mut cited = BTreeSet::new();
    for path in
        files("crates", &["rs"]).into_iter().chain(files("docs/src", &["md"])).chain(files("validation", &["rs", "md"]))
    {
        for key in citations(&fs::read_to_string(&path).unwrap()) {
            assert!(known.contains(&key), "{} cites [{key}], which references.bib does not have", path.display());
            cited.insert(key);
        }
    }
    assert!(cited.contains("MCG03") && cited.len() > 5, "{cited:?}");
}

#[test]
fn the_book_is_whole() {
    let summary = read("docs/src/SUMMARY.md");
    let chapters: BTreeSet<String> =
        summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect();
    let on_disk: BTreeSet<String> = files("docs/src", &["md"])
        .iter()
        .map(|path| path.strip_prefix(root().join("docs/src")).unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "SUMMARY.md")
        .collect();
    assert_eq!(chapters, on_disk);
    for chapter in &chapters {
        let text = read(Path::new("docs/src").join(chapter));
        assert!(text.starts_with("# "), "{chapter} has no title");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let local = !link.starts_with("http") && !link.is_empty();
            assert!(!local || root().join("docs/src").join(link).exists(), "{chapter} links to {link}");
        }
    }
}

#[test]
fn nothing_names_this_machine() {
    for path in files("", &["rs", "md", "toml", "py", "sh", "bib", "cff", "js", "html"]) {
        let text = fs::read_to_string(&path).unwrap();
        for word in [concat!("/", "work/"), concat!("/", "root/"), concat!("../", "shared"), concat!("/", "home/")] {
            assert!(!text.contains(word), "{} contains {word}", path.display());
        }
    }
}

/// docs/src/scene-format.md is made from the schema; set UPDATE_DOCS to write it anew.
#[test]
fn the_key_reference_agrees_with_the_schema() {
    let wanted = scene_format(&meniscus::scene::schema());
    let path = root().join("docs/src/scene-format.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "run: UPDATE_DOCS=1 cargo test -p meniscus-cli --test architecture");
}

fn scene_format(schema: &serde_json::Value) -> String {
    let mut text = String::from(
        "# The scene file, key by key\n\nMade from the JSON schema (`meniscus schema`). Types in italics have their own table below.\n",
    );
    table(&mut text, "A scene", schema);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        table(&mut text, name, definition);
    }
    text
}

fn table(text: &mut String, name: &str, definition: &serde_json::Value) {
    let about = definition["description"].as_str().unwrap_or_default().replace('\n', " ");
    text.push_str(&format!("\n## {name}\n\n{about}\n\n| key | type | |\n|---|---|---|\n"));
    let row = |key: &str, value: &serde_json::Value, about: &str| {
        let about = about.replace('\n', " ").replace('|', "\\|");
        format!("| `{key}` | {} | {about} |\n", type_of(value))
    };
    for (key, value) in definition["properties"].as_object().into_iter().flatten() {
        text.push_str(&row(key, value, value["description"].as_str().unwrap_or_default()));
    }
    for choice in definition["oneOf"].as_array().into_iter().flatten() {
        let about = choice["description"].as_str().unwrap_or_default();
        if let Some(word) = choice["const"].as_str() {
            text.push_str(&row(word, &serde_json::Value::Null, about));
        }
        for (key, value) in choice["properties"].as_object().into_iter().flatten() {
            text.push_str(&row(key, value, about));
        }
    }
}

fn type_of(value: &serde_json::Value) -> String {
    if let Some(reference) = value["$ref"].as_str() {
        return format!("*{}*", reference.trim_start_matches("#/$defs/"));
    }
    if let Some(any) = value["anyOf"].as_array() {
        return type_of(&any[0]);
    }
    match &value["type"] {
        serde_json::Value::String(name) if name == "array" => match value["maxItems"].as_u64() {
            Some(count) => format!("{count} × {}", type_of(&value["items"])),
            None => format!("list of {}", type_of(&value["items"])),
        },
        serde_json::Value::String(name) if name == "object" => {
            format!("named: {}", type_of(&value["additionalProperties"]))
        }
        serde_json::Value::String(name) => name.clone(),
        serde_json::Value::Array(names) => names[0].as_str().unwrap_or_default().to_owned(),
        _ => "word".to_owned(),
    }
}

/// docs/src/scene-methods.md is made from the table of keys and methods; set UPDATE_DOCS to write it anew.
#[test]
fn the_page_of_keys_and_methods_agrees_with_the_table() {
    let wanted = meniscus::scene::support::page();
    let path = root().join("docs/src/scene-methods.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "run: UPDATE_DOCS=1 cargo test -p meniscus-cli --test architecture");
}

/// What a figure took in its paper, and takes here: times of docs/src/benchmarks.md.
const TIMES: &[(&str, &str, &str)] = &[
    ("pool", "50 ms per frame", "1.8 ms per step, 2 s for all five seconds"),
    ("vessel", "70 ms per step", "2.8 ms per step"),
    ("vessel-injury", "60 ms per step, 0.5 s per surface", "5.0 ms per step"),
    ("duck-stream", "1.8 s per frame", "0.065 s per frame, as the scene was on 17 November 2026"),
    ("duck-sinks", "6.5 s per frame", "0.29 s per frame"),
    ("duck-floats", "6.5 s per frame", "0.24 to 0.29 s per frame"),
    ("hand", "15 minutes per frame at 192 × 128 × 128", "not measured at that size"),
    ("heart-bubbles", "4 minutes per frame at 96³", "not measured at that size"),
    ("vat", "9 frames a second", "not measured"),
    ("vat-liquid", "6 frames a second", "204 frames a second"),
];

/// docs/src/figures.md is made from the scenes of the gallery; set UPDATE_DOCS to write it anew.
#[test]
fn the_page_of_figures_agrees_with_the_gallery() {
    let mut wanted = String::from(
        "# Figures of the papers\n\nMade from the gallery. Strips are read row by row; `meniscus run SCENE`, then `meniscus render out/SCENE --strip 6`, makes them again, \
         and `--quality final` makes them shine ([pictures](pictures.md)). Names of papers are those of `references.bib`. Times are those of [benchmarks](benchmarks.md), on two threads.\n",
    );
    for scene in meniscus::gallery::GALLERY {
        let table: toml::Table = scene.text.parse().unwrap();
        let Some(figure) = table.get("figure").and_then(|f| f.as_str()) else { continue };
        let (name, summary) = (scene.name, scene.summary());
        let picture = ["jpg", "png"].map(|end| format!("images/{name}.{end}"));
        let picture = picture.iter().find(|file| root().join("docs/src").join(file).exists());
        let picture = picture.unwrap_or_else(|| panic!("{name} has no strip in docs/src/images"));
        wanted +=
            &format!("\n## {figure}: `{name}`\n\n{summary}\n\n```\nmeniscus run {name}\n```\n\n![{name}]({picture})\n");
        if let Some((_, paper, ours)) = TIMES.iter().find(|(scene, ..)| *scene == name) {
            wanted += &format!("\nTime: {paper} in the paper, {ours} here.\n");
        }
    }
    let path = root().join("docs/src/figures.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "run: UPDATE_DOCS=1 cargo test -p meniscus-cli --test architecture");
}

/// Who reads the book over a thin line waits for its pictures.
#[test]
fn pictures_of_the_book_are_small() {
    let files = fs::read_dir(root().join("docs/src/images")).unwrap().map(|entry| entry.unwrap());
    let sizes: Vec<(String, u64)> =
        files.map(|file| (file.file_name().to_string_lossy().into_owned(), file.metadata().unwrap().len())).collect();
    let large: Vec<_> = sizes.iter().filter(|(_, size)| *size > 200 << 10).collect();
    assert!(large.is_empty(), "larger than 200 KiB: {large:?}");
    let all: u64 = sizes.iter().map(|(_, size)| size).sum();
    assert!(all <= 8 << 20, "{all} bytes in all");
}

/// Numbers that follow a word in a text, up to a mark.
fn numbers_after(text: &str, word: &str, end: &str) -> Vec<f64> {
    let rest = text.split_once(word).unwrap_or_else(|| panic!("{word} is missing")).1;
    let part = rest.split_once(end).unwrap_or_else(|| panic!("no {end} after {word}")).0;
    part.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|number| number.parse().ok()).collect()
}

/// The page draws with the colours and lights of the pictures.
#[test]
fn colours_and_lights_of_page_and_pictures_are_the_same() {
    let page = read("crates/viewer/page/colors.js");
    let palettes = read("crates/picture/src/coloring.rs");
    for (js, rust) in
        [("fire: [", "RED_TO_YELLOW: Stops"), ("swing: [", "BLUE_TO_RED: Stops"), ("water: [", "DEEP_TO_FOAM: Stops")]
    {
        let stops = numbers_after(&page, js, "]],");
        assert_eq!(stops, numbers_after(&palettes, rust, "]];"), "{js}");
        assert_eq!(stops.len(), 21);
    }
    let studio = read("crates/picture/src/studio.rs");
    let lights = [
        ("key", "key"),
        ("sky", "sky"),
        ("bounce", "bounce"),
        ("top", "top"),
        ("bottom", "bottom"),
        ("ground", "ground"),
        ("shadow", "ground_shadow"),
        ("gridLine", "ground_line"),
        ("line", "line"),
        ("glass", "glass"),
    ];
    for theme in ["light", "dark"] {
        let ours = studio.split_once(&format!("fn {theme}() -> Studio {{")).unwrap().1;
        let theirs = page.split_once(&format!("  {theme}: {{")).unwrap().1;
        for (js, rust) in lights {
            let light = numbers_after(theirs, &format!(" {js}: "), "]");
            assert_eq!(light, numbers_after(ours, &format!(" {rust}: "), "),"), "{theme} {js}");
            assert_eq!(light.len(), 3);
        }
    }
}
