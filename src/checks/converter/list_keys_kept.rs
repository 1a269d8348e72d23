//! Items of keyed lists are found by their keys.

use super::shared::{about, each, schema_of};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::observe::Fit;
use crate::schema::{Schema, default};
use serde_json::Value;

pub(crate) const CHECK: Check = Check {
    id: "converter/list-keys-kept",
    title: "items of keyed lists keep their keys, each once",
    why: "Server-side apply addresses items of a list of type map by their keys. An item without its key, or a \
          key that is there twice, makes every apply fail.",
    source: &["https://github.com/crossplane/upjet/issues/465", "H23"],
    severity: Severity::Error,
    since: None,
    help: "fill in the keys when a list becomes a keyed one, and keep them unique",
    needs: &[Need::Trials],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let versions = evidence.crd.versions.iter().filter(|version| version.schema.as_ref().is_some_and(has_keyed_list));
    let keyed: Vec<&str> = versions.map(|version| version.name.as_str()).collect();
    each(evidence, |tell, trial| {
        for step in trial.first_conversions().filter(|_| trial.fit == Fit::Valid) {
            let (Some(served), Some(schema)) = (step.leg.served(), schema_of(evidence, &step.leg.to)) else { continue };
            if !keyed.contains(&step.leg.to.as_str()) {
                continue;
            }
            let mut object = served.clone();
            default(schema, &mut object);
            let mut lists = 0;
            let mut wrong = Vec::new();
            walk(schema, &object, "", &mut lists, &mut wrong);
            (0..lists).for_each(|_| tell.examined());
            for (path, what) in wrong {
                let route = trial.route(step.number);
                let breach = about(evidence, trial, step.number, format!("{path} {what} after {route}"));
                let breach = breach.version(&step.leg.to).key(format!("{route} {path}"));
                tell.breach(crate::checks::Breach { path: Some(path), ..breach });
            }
        }
    })
}

fn has_keyed_list(schema: &Schema) -> bool {
    let mut keyed = false;
    schema.walk(&mut |_, schema| keyed |= schema.list_type.as_deref() == Some("map"));
    keyed
}

fn walk(schema: &Schema, value: &Value, path: &str, lists: &mut usize, wrong: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                if let Some(child) = schema.child(name) {
                    let step = if schema.properties.contains_key(name) { format!(".{name}") } else { "[*]".into() };
                    walk(child, value, &format!("{path}{step}"), lists, wrong);
                }
            }
        }
        Value::Array(items) => {
            if schema.list_type.as_deref() == Some("map") && !items.is_empty() {
                *lists += 1;
                judge_keys(&schema.list_map_keys, items, path, wrong);
            }
            for item in items {
                if let Some(child) = &schema.items {
                    walk(child, item, &format!("{path}[*]"), lists, wrong);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn judge_keys(keys: &[String], items: &[Value], path: &str, wrong: &mut Vec<(String, String)>) {
    let mut seen = Vec::new();
    for item in items {
        if let Some(key) = keys.iter().find(|key| item.get(*key).is_none_or(Value::is_null)) {
            wrong.push((path.to_owned(), format!("has an item without its key {key}")));
        }
        let own: Vec<_> = keys.iter().map(|key| item.get(key).cloned().unwrap_or_default()).collect();
        if seen.contains(&own) {
            let own = own.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
            wrong.push((path.to_owned(), format!("has two items with the key {own}")));
        }
        seen.push(own);
    }
}
