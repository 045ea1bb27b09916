//! The JSON schema of the scene file, and what it says about one key.

use crate::model::Scene;
use crate::support;
use serde_json::Value;
use std::sync::OnceLock;

/// The JSON schema of the scene file.
#[must_use]
pub fn schema() -> Value {
    let mut schema = plain().clone();
    for row in support::ROWS.iter().skip(1) {
        let path: Vec<String> = row.key.split('.').map(|key| if key == "*" { "0" } else { key }.to_owned()).collect();
        let methods: Vec<&str> = row.methods.iter().map(|method| method.name()).collect();
        if let Some(place) = pointer_to(plain(), &path)
            && let Some(node) = schema.pointer_mut(&place)
        {
            node["x-methods"] = methods.into();
        }
    }
    schema
}

/// The schema as the structure of a scene gives it.
fn plain() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut schema = schemars::schema_for!(Scene).to_value();
        schema["title"] = "Meniscus scene".into();
        unescape(&mut schema);
        schema
    })
}

/// The value that a key has if it is left out.
pub(crate) fn default_of(path: &[String]) -> Option<Value> {
    let node = path.iter().try_fold(plain(), |node, key| step(plain(), node, key))?;
    node.get("default").cloned()
}

/// Whether a table of the scene has members by names.
pub(crate) fn holds_names(table: &str) -> bool {
    let node = &plain()["properties"][table];
    node.get("additionalProperties").is_some_and(Value::is_object)
}

/// Where the schema speaks of a key.
fn pointer_to(root: &Value, path: &[String]) -> Option<String> {
    let target = path.iter().try_fold(root, |node, key| step(root, node, key))?;
    find_pointer(root, target, String::new())
}

fn find_pointer(node: &Value, target: &Value, place: String) -> Option<String> {
    if std::ptr::eq(node, target) {
        return Some(place);
    }
    let escape = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match node {
        Value::Object(fields) => {
            fields.iter().find_map(|(key, child)| find_pointer(child, target, format!("{place}/{}", escape(key))))
        }
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(k, child)| find_pointer(child, target, format!("{place}/{k}")))
        }
        _ => None,
    }
}

/// Brackets of units are escaped for rustdoc; a reader of the schema wants them plain.
fn unescape(node: &mut Value) {
    match node {
        Value::String(text) => *text = text.replace("\\[", "[").replace("\\]", "]"),
        Value::Array(items) => items.iter_mut().for_each(unescape),
        Value::Object(fields) => fields.values_mut().for_each(unescape),
        _ => {}
    }
}

/// What the schema says about a key: its meaning, and the keys or words that may stand in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyInfo {
    pub(crate) description: String,
    pub(crate) keys: Vec<String>,
}

/// Looks up a key path such as `["liquid", "water", "fill", "0", "box"]`; `None` for unknown keys.
pub(crate) fn describe(path: &[String]) -> Option<KeyInfo> {
    let root = plain();
    let mut node = root;
    let mut description = String::new();
    for key in path {
        node = step(root, node, key)?;
        if let Some(text) = description_of(root, node) {
            description = text;
        }
    }
    Some(KeyInfo { description, keys: keys_of(root, node) })
}

/// All forms that a node can take: itself, what it refers to, its alternatives.
fn forms<'a>(root: &'a Value, node: &'a Value) -> Vec<&'a Value> {
    let mut found = vec![node];
    if let Some(reference) = node["$ref"].as_str()
        && let Some(target) = root.pointer(reference.trim_start_matches('#'))
    {
        found.extend(forms(root, target));
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        for alternative in node[key].as_array().into_iter().flatten() {
            found.extend(forms(root, alternative));
        }
    }
    found
}

fn step<'a>(root: &'a Value, node: &'a Value, key: &str) -> Option<&'a Value> {
    forms(root, node).into_iter().find_map(|form| {
        let property = form["properties"].get(key);
        let item = || form.get("items").filter(|_| key.parse::<usize>().is_ok());
        property.or_else(|| form.get("additionalProperties").filter(|v| v.is_object())).or_else(item)
    })
}

fn description_of(root: &Value, node: &Value) -> Option<String> {
    forms(root, node).into_iter().find_map(|form| form["description"].as_str()).map(|text| text.replace('\n', " "))
}

fn keys_of(root: &Value, node: &Value) -> Vec<String> {
    let mut keys = Vec::new();
    for form in forms(root, node) {
        keys.extend(form["properties"].as_object().into_iter().flat_map(|properties| properties.keys().cloned()));
        let words = form["enum"].as_array().into_iter().flatten().chain(form.get("const"));
        keys.extend(words.filter_map(|word| word.as_str().map(str::to_owned)));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(path: &str) -> Option<KeyInfo> {
        describe(&path.split('.').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn keys_are_described_at_any_depth() {
        assert!(info("gravity").unwrap().description.contains("m/s²"));
        assert!(info("liquid.water.density").unwrap().description.contains("kg/m³"));
        assert!(info("liquid.water.fill.0.box.min").unwrap().description.contains("corner"));
        assert_eq!(info("wall.tank.shape.box").unwrap().keys, ["min", "max", "open"]);
        assert_eq!(info("sph.kernel").unwrap().keys, ["cubic-spline", "quartic-spline", "papers"]);
        assert!(info("liquid.water.densty").is_none());
    }

    /// Every key of the scene file says what it is, and every number says its unit.
    #[test]
    fn every_key_is_documented() {
        fn visit(root: &Value, node: &Value, path: &str) {
            for (key, child) in node["properties"].as_object().into_iter().flatten() {
                // The word of a choice is described beside it.
                let described = description_of(root, child).is_some() || node["description"].is_string();
                assert!(described, "{path}.{key} has no description");
            }
        }
        let root = schema();
        visit(&root, &root, "");
        for (name, definition) in root["$defs"].as_object().unwrap() {
            for form in forms(&root, definition) {
                visit(&root, form, name);
            }
        }
    }
}
