//! Items of keyed lists are found by their keys.

use super::shared::{about, each, schema_of};
use crate::checks::{Check, Evidence, Need, Severity, Tools, Verdict};
use crate::observe::Fit;
use crate::schema::Schema;
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
    evidence.with_tools(|tools| judge_with(evidence, tools))
}

fn judge_with(evidence: &Evidence<'_>, tools: &Tools<'_>) -> Verdict {
    each(evidence, |tell, trial| {
        for step in trial.first_conversions().filter(|_| trial.fit == Fit::Valid) {
            let to = step.leg.to.as_str();
            let (Some(served), Some(validator), Some(schema)) =
                (step.leg.served(), tools.validator(to), schema_of(evidence, to))
            else {
                continue;
            };
            if !validator.keyed {
                continue;
            }
            let object = validator.filled(served);
            let mut lists = 0;
            let mut wrong = Vec::new();
            walk(schema, &object, &mut Vec::new(), &mut lists, &mut wrong);
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

/// The steps to a place: fields by their names, items and values of maps without any.
type Steps<'v> = Vec<Option<&'v str>>;

fn walk<'v>(
    schema: &Schema,
    value: &'v Value,
    steps: &mut Steps<'v>,
    lists: &mut usize,
    wrong: &mut Vec<(String, String)>,
) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let (child, step) = match schema.properties.get(name) {
                    Some(property) => (Some(property), Some(name.as_str())),
                    None => (schema.values(), None),
                };
                if let Some(child) = child {
                    steps.push(step);
                    walk(child, value, steps, lists, wrong);
                    steps.pop();
                }
            }
        }
        Value::Array(items) => {
            if schema.list_type.as_deref() == Some("map") && !items.is_empty() {
                *lists += 1;
                judge_keys(&schema.list_map_keys, items, steps, wrong);
            }
            if let Some(child) = &schema.items {
                steps.push(None);
                for item in items {
                    walk(child, item, steps, lists, wrong);
                }
                steps.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn judge_keys(keys: &[String], items: &[Value], steps: &Steps<'_>, wrong: &mut Vec<(String, String)>) {
    let path = || -> String {
        steps.iter().map(|step| step.map_or_else(|| "[*]".to_owned(), |name| format!(".{name}"))).collect()
    };
    let mut seen: Vec<Vec<&Value>> = Vec::with_capacity(items.len());
    for item in items {
        if let Some(key) = keys.iter().find(|key| item.get(*key).is_none_or(Value::is_null)) {
            wrong.push((path(), format!("has an item without its key {key}")));
        }
        let own: Vec<&Value> = keys.iter().map(|key| item.get(key).unwrap_or(&Value::Null)).collect();
        if seen.contains(&own) {
            let own = own.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            wrong.push((path(), format!("has two items with the key {own}")));
        }
        seen.push(own);
    }
}
