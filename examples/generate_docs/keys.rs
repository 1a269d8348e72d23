//! Tables of keys, generated from JSON Schemas.

use std::fmt::Write as _;

use serde_json::Value;

use super::{cell, replace_between};

const BEGIN: &str = "<!-- The table is written by scripts/generate-docs. -->\n";
const END: &str = "<!-- End of the table. -->\n";

/// Returns the page with its table of keys replaced.
pub(super) fn with_keys(page: &str, schema: &Value) -> String {
    replace_between(page, BEGIN, END, &keys(schema))
}

fn keys(schema: &Value) -> String {
    let mut rows = Vec::new();
    collect(schema, schema, "", &mut rows);
    let mut text = "| key | type | meaning |\n| --- | --- | --- |".to_owned();
    for (key, ty, meaning) in rows {
        let _ = write!(text, "\n| `{key}` | {} | {} |", cell(&ty), cell(&meaning));
    }
    text
}

/// Collects the keys of a schema and of all below it.
fn collect(root: &Value, schema: &Value, prefix: &str, rows: &mut Vec<(String, String, String)>) {
    let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, property) in properties {
        let key = format!("{prefix}{name}");
        let (target, suffix) = target(root, property);
        let ty = type_name(target, &suffix);
        let ty = if required(name) { format!("{ty}, required") } else { ty };
        let meaning = property["description"].as_str().or_else(|| target["description"].as_str()).unwrap_or_default();
        rows.push((key.clone(), ty, meaning.replace('\n', " ")));
        // The keys of the previous release's converter are the same, so they are not repeated.
        if key != "converter.baseline" {
            collect(root, target, &format!("{key}{suffix}."), rows);
            if target["additionalProperties"].is_object() {
                let (inner, _) = self::target(root, &target["additionalProperties"]);
                collect(root, inner, &format!("{key}{suffix}.*."), rows);
            }
        }
    }
}

/// The type of a property: the schema behind references, options and lists, and `[]` for each list.
fn target<'a>(root: &'a Value, property: &'a Value) -> (&'a Value, String) {
    let not_null = |schema: &&Value| schema["type"] != "null";
    if let Some(reference) = property["$ref"].as_str() {
        return target(root, root.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null));
    }
    if let Some(option) = property["anyOf"].as_array().and_then(|any| any.iter().find(not_null)) {
        return target(root, option);
    }
    match property.get("items") {
        Some(items) => {
            let (inner, suffix) = target(root, items);
            (inner, format!("[]{suffix}"))
        }
        None => (property, String::new()),
    }
}

fn type_name(schema: &Value, suffix: &str) -> String {
    let words: Option<Vec<&str>> = schema["enum"].as_array().map(|all| all.iter().filter_map(Value::as_str).collect());
    let variant = |one: &Value| match (one["const"].as_str(), one["properties"].as_object()) {
        (Some(word), _) => Some(word.to_owned()),
        (None, Some(properties)) => properties.keys().next().map(|name| format!("{{{name}: …}}")),
        (None, None) => None,
    };
    let variants: Option<Vec<String>> = schema["oneOf"].as_array().map(|all| all.iter().filter_map(variant).collect());
    let words = words.map(|words| words.into_iter().map(str::to_owned).collect());
    let plain = match (&schema["type"], words.or(variants)) {
        (_, Some(words)) => words.join(" or "),
        (Value::String(ty), None) => ty.clone(),
        (Value::Array(types), None) => {
            types.iter().filter_map(Value::as_str).find(|ty| *ty != "null").unwrap_or("any").into()
        }
        _ => "any".into(),
    };
    let plain = match schema["format"].as_str() {
        Some("date") => "date".to_owned(),
        _ => plain,
    };
    if suffix.is_empty() { plain } else { format!("list of {plain}s") }
}
