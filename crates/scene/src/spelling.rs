//! Old spellings: read for one release, with a hint.

use crate::parse;
use toml_edit::{Array, DocumentMut, Item, Value};

/// Keys that have another name now; `*` stands for any name.
const RENAMED: [(&str, &str); 15] = [
    ("sph.speed", "reference_speed"),
    ("sph.density_corrects", "position_correction"),
    ("coupling.zero", "rest_distance"),
    ("contact.own", "self_contact"),
    ("contact.depth", "max_penetration"),
    ("connections.sweeps", "iterations"),
    ("connections.damping", "damping_ratio"),
    ("body.*.damping", "damping_ratio"),
    ("liquid.*.hollow", "cutouts"),
    ("emitter.*.start", "from"),
    ("emitter.*.stop", "until"),
    // Moved: the new place is told from the table around.
    ("connections.friction", "contact.friction"),
    ("rigid.*.material.density", "rigid.*.density"),
    ("rigid.*.material.friction", "rigid.*.friction"),
    ("rigid.*.material.restitution", "rigid.*.restitution"),
];

/// The present spelling of a key, if it is an old one. `liquid` is the first liquid of the scene.
pub(crate) fn modern(path: &[&str], liquid: Option<&str>) -> Option<Vec<String>> {
    let owned = |path: &[&str]| path.iter().map(|&key| key.to_owned()).collect::<Vec<_>>();
    for (old, new) in RENAMED {
        let old: Vec<&str> = old.split('.').collect();
        if path.len() < old.len() || !old.iter().zip(path).all(|(old, key)| *old == "*" || old == key) {
            continue;
        }
        let (own, rest) = path.split_at(old.len());
        let mut found = if let Some((first, key)) = new.split_once('.') {
            let named = own.get(1).filter(|_| key.starts_with("*."));
            let key = key.strip_prefix("*.").unwrap_or(key);
            [Some(&first), named, Some(&key)].into_iter().flatten().map(|&key| key.to_owned()).collect()
        } else {
            let mut found = owned(&own[..own.len() - 1]);
            found.push(new.to_owned());
            found
        };
        found.extend(owned(rest));
        return Some(found);
    }
    match path {
        ["twophase", "surface_tension"] => Some(owned(&["liquid", liquid?, "surface_tension"])),
        ["wall", name, "shape", "mesh", "surface", rest @ ..] => {
            Some([owned(&["wall", name, "shape", "mesh"]), owned(rest)].concat())
        }
        ["wall", name, "shape", "mesh", "wet"] => Some(owned(&["wall", name, "wet"])),
        _ => None,
    }
}

/// The value of a key under its present spelling.
pub(crate) fn modern_value(key: &str, value: Value) -> Value {
    match (key, value.as_str()) {
        ("position_correction", Some("places")) => Value::from(true),
        ("position_correction", Some("velocities")) => Value::from(false),
        _ => value,
    }
}

/// Names of liquids in a file, in order.
pub(crate) fn liquids(document: &DocumentMut) -> Vec<String> {
    let liquids = document.get("liquid").and_then(Item::as_table_like);
    liquids.map_or(Vec::new(), |liquids| liquids.iter().map(|(name, _)| name.to_owned()).collect())
}

/// Rewrites old spellings of a file and says which there were.
///
/// # Errors
/// With the key, if something is said in the old spelling and in the present one.
pub(crate) fn modernise(document: &mut DocumentMut) -> Result<Vec<String>, (Vec<String>, String)> {
    let mut hints = Vec::new();
    regions_of_bodies(document, &mut hints);
    let mut old = Vec::new();
    leaves(document.as_item(), &mut Vec::new(), &mut old);
    let liquids = liquids(document);
    for path in old {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let Some(new) = modern(&parts, liquids.first().map(String::as_str)) else { continue };
        let both =
            |new: &[String]| (path.clone(), format!("is an old spelling of `{}`, which is given too", new.join(".")));
        if get(document.as_item(), &new).is_some() {
            return Err(both(&new));
        }
        hints.push(format!("`{}` is an old spelling: write `{}`", path.join("."), new.join(".")));
        if path.len() == new.len() && path[..path.len() - 1] == new[..new.len() - 1] {
            rename(document.as_item_mut(), &path, &new[new.len() - 1]);
            continue;
        }
        let Some(value) = take(document.as_item_mut(), &path).and_then(|item| item.into_value().ok()) else { continue };
        // On a grid all liquids are one.
        let names = if path[0] == "twophase" { &liquids[..] } else { &new[1..2] };
        for name in names {
            let mut keys: Vec<&str> = new.iter().map(String::as_str).collect();
            keys[1] = name;
            let set = parse::set(document.as_item_mut(), &keys, value.clone().decorated(" ", ""));
            set.map_err(|_| both(&new))?;
        }
    }
    Ok(hints)
}

/// `fixed = [{ box = … }]` of bodies is `fixed = [{ region = { box = … } }]`, as of solids.
fn regions_of_bodies(document: &mut DocumentMut, hints: &mut Vec<String>) {
    let Some(bodies) = document.get_mut("body").and_then(Item::as_table_like_mut) else { return };
    for (name, body) in bodies.iter_mut() {
        let fixed = body.as_table_like_mut().and_then(|body| body.get_mut("fixed"));
        let Some(array) = fixed.and_then(Item::as_array_mut) else { continue };
        let is_old = |value: &Value| value.as_inline_table().is_some_and(|t| !t.contains_key("region"));
        if !array.iter().any(is_old) {
            continue;
        }
        hints.push(format!("`body.{}.fixed` has an old spelling: write {{ region = {{ … }} }}", name.get()));
        *array =
            array.iter().map(|value| if is_old(value) { in_region(value) } else { value.clone() }).collect::<Array>();
    }
}

fn in_region(value: &Value) -> Value {
    let mut table = toml_edit::InlineTable::new();
    table.insert("region", value.clone().decorated(" ", " "));
    Value::InlineTable(table)
}

/// Paths of all values; tables that are written as values are gone into.
fn leaves(item: &Item, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let Some(table) = item.as_table_like() else {
        return found.push(path.clone());
    };
    for (key, item) in table.iter() {
        path.push(key.to_owned());
        leaves(item, path, found);
        path.pop();
    }
}

fn get<'a>(item: &'a Item, path: &[String]) -> Option<&'a Item> {
    path.iter().try_fold(item, |item, key| item.as_table_like()?.get(key))
}

/// Takes a value out, and tables that are empty then.
fn take(item: &mut Item, path: &[String]) -> Option<Item> {
    let (key, rest) = path.split_first()?;
    let table = item.as_table_like_mut()?;
    if rest.is_empty() {
        return table.remove(key);
    }
    let inner = table.get_mut(key)?;
    let taken = take(inner, rest);
    let emptied = inner.as_table_like().is_some_and(toml_edit::TableLike::is_empty) && rest.len() == 1;
    if emptied {
        table.remove(key);
    }
    taken
}

/// Gives a key another name where it stands.
fn rename(root: &mut Item, path: &[String], new: &str) {
    let Some((old, parents)) = path.split_last() else { return };
    let Some(parent) = parents.iter().try_fold(root, |item, key| item.as_table_like_mut()?.get_mut(key)) else {
        return;
    };
    let renamed = |key: &str| if key == old { new.to_owned() } else { key.to_owned() };
    let Some(table) = parent.as_table_like_mut() else { return };
    let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
    for key in keys {
        let decor = table.key(&key).map(|key| key.leaf_decor().clone());
        let Some(item) = table.remove(&key) else { continue };
        let item = match item {
            Item::Value(value) if &key == old => Item::Value(modern_value(new, value)),
            item => item,
        };
        let name = renamed(&key);
        table.insert(&name, item);
        if let (Some(mut key), Some(decor)) = (table.key_mut(&name), decor) {
            *key.leaf_decor_mut() = decor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, parse_with_hints};

    /// Everything that a file says is said by the scene that is read from it, under its present name.
    fn keeps(scene: &serde_json::Value, value: &toml::Value, path: &mut Vec<String>, first_liquid: Option<&str>) {
        if let toml::Value::Table(table) = value {
            for (key, value) in table {
                path.push(key.clone());
                keeps(scene, value, path, first_liquid);
                path.pop();
            }
            return;
        }
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let new = modern(&parts, first_liquid).unwrap_or_else(|| path.clone());
        let found = scene.pointer(&format!("/{}", new.join("/"))).unwrap_or_else(|| panic!("{path:?} is lost"));
        let plain = |text: String| text.replace([' ', '"'], "").replace(".0,", ",").replace(".0]", "]");
        let same = match (found.as_f64(), value.as_float().or(value.as_integer().map(|i| i as f64))) {
            (Some(a), Some(b)) => equal(a, b),
            _ => is_the_same(found, value),
        };
        assert!(same, "{path:?}: {} became {}", plain(value.to_string()), plain(found.to_string()));
    }

    /// Pictures know their numbers in single precision.
    fn equal(a: f64, b: f64) -> bool {
        a == b || a as f32 == b as f32
    }

    /// Numbers in lists, words, shapes.
    fn is_the_same(found: &serde_json::Value, value: &toml::Value) -> bool {
        match value {
            toml::Value::Array(items) => items.iter().enumerate().all(|(k, item)| is_the_same(&found[k], item)),
            toml::Value::Table(table) => table.iter().all(|(key, item)| is_the_same(&found[key], item)),
            toml::Value::Float(number) => found.as_f64().is_some_and(|found| equal(found, *number)),
            toml::Value::Integer(number) => found.as_f64() == Some(*number as f64),
            toml::Value::String(text) if text == "places" => found.as_bool() == Some(true),
            toml::Value::String(text) => found.as_str() == Some(text),
            toml::Value::Boolean(flag) => found.as_bool() == Some(*flag),
            toml::Value::Datetime(_) => false,
        }
    }

    #[test]
    fn scenes_of_the_past_mean_what_they_meant() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/history");
        let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
        files.sort();
        assert!(files.len() > 80);
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap();
            let (scene, _) = parse_with_hints("past.toml", &text, &Settings::default())
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let table: toml::Table = text.parse().unwrap();
            let first = scene.liquid.keys().next().map(String::as_str);
            keeps(&serde_json::to_value(&scene).unwrap(), &table.into(), &mut Vec::new(), first);
        }
    }

    const OLD: &str = "[sph]\n# kept\nspeed = 2.0\nspacing = 0.05\ndensity_corrects = \"velocities\"\n[coupling]\nzero = 0.4\n\
        [contact]\nown = false\ndepth = 0.3\n[liquid.w]\nhollow = []\n\
        [emitter.e]\nliquid = \"w\"\ncenter = [0, 0, 0]\ndirection = [0, 1, 0]\nopening = { disc = { radius = 1 } }\nstart = 1\nstop = 2\n\
        [rigid.b]\nshape = { sphere = { center = [0, 0, 0], radius = 1 } }\nmaterial = { density = 500, friction = 0.1 }\n\
        [wall.m]\nshape = { mesh = { surface = { file = \"a.obj\", scale = 2 }, wet = \"inside\" } }\n";

    #[test]
    fn every_old_spelling_is_read_with_a_hint() {
        let (scene, hints) = parse_with_hints("x.toml", OLD, &Settings::default()).unwrap();
        assert_eq!((scene.sph.reference_speed, scene.sph.spacing), (Some(2.0), 0.05));
        assert_eq!((scene.coupling.rest_distance, scene.contact.self_contact), (Some(0.4), false));
        assert_eq!(scene.contact.max_penetration, 0.3);
        assert_eq!((scene.emitter["e"].from, scene.emitter["e"].until), (1.0, Some(2.0)));
        assert_eq!((scene.rigid["b"].density, scene.rigid["b"].friction), (500.0, 0.1));
        assert_eq!(scene.wall["m"].wet, Some(crate::WetSide::Inside));
        assert!(
            matches!(&scene.wall["m"].shape, crate::WallShape::Mesh(mesh) if mesh.file == "a.obj" && mesh.scale == 2.0)
        );
        assert_eq!(hints.len(), 13, "{hints:#?}");
        assert!(hints.iter().any(|hint| hint == "`coupling.zero` is an old spelling: write `coupling.rest_distance`"));
    }

    #[test]
    fn old_spellings_of_bodies_and_grids() {
        let bodies = "method = \"connections\"\n[connections]\nsweeps = 3\ndamping = 0.2\nfriction = 0.7\n[body.b]\ndamping = 0.5\n\
            shape = { sphere = { center = [0, 0, 0], radius = 1 } }\nfixed = [{ box = { min = [0, 0, 0], max = [1, 1, 1] } }]\n";
        let (scene, hints) = parse_with_hints("x.toml", bodies, &Settings::default()).unwrap();
        assert_eq!((scene.connections.iterations, scene.connections.damping_ratio), (3, 0.2));
        assert_eq!((scene.contact.friction, scene.body["b"].damping_ratio, scene.body["b"].fixed.len()), (0.7, 0.5, 1));
        assert_eq!(hints.len(), 5, "{hints:#?}");
        let grid = "method = \"twophase\"\n[twophase]\nsurface_tension = 0.01\n[liquid.a]\n[liquid.b]\n[domain]\nmin = [0, 0, 0]\nmax = [1, 1, 1]\n";
        let (scene, _) = parse_with_hints("x.toml", grid, &Settings::default()).unwrap();
        assert_eq!((scene.liquid["a"].surface_tension, scene.liquid["b"].surface_tension), (0.01, 0.01));
        let said = |set: &str| parse_with_hints("x.toml", grid, &Settings::new(&[set.to_owned()])).unwrap();
        assert_eq!(said("liquid.a.hollow=[]").1.len(), 2);
    }

    /// Lines of other errors stay where they are, and what is said twice is an error.
    #[test]
    fn a_rename_moves_no_line_and_hides_nothing() {
        let error = parse_with_hints("x.toml", "[sph]\nspeed = 2\nspacing = -1\n", &Settings::default()).unwrap_err();
        assert_eq!(error.line(), Some(3), "{error}");
        let twice = "[sph]\nspeed = 2\nreference_speed = 2\n";
        let error = parse_with_hints("x.toml", twice, &Settings::default()).unwrap_err();
        assert!(error.to_string().contains("`sph.speed` is an old spelling of `sph.reference_speed`"), "{error}");
        assert_eq!(error.line(), Some(2));
    }

    /// Scenes of the gallery are written as they are meant to be, and say nothing to no effect.
    #[test]
    fn the_gallery_has_no_hints() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let scenes =
            files.filter(|path| path.extension().is_some_and(|e| e == "toml") && !path.ends_with("Cargo.toml"));
        let mut count = 0;
        for path in scenes {
            let text = std::fs::read_to_string(&path).unwrap();
            let (_, hints) = parse_with_hints("x.toml", &text, &Settings::default())
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            assert!(hints.is_empty(), "{}: {hints:?}", path.display());
            count += 1;
        }
        assert!(count > 20);
    }
}
