//! Items of keyed lists are identified by their keys.

use super::shared::{about, each};
use crate::checks::{Check, Evidence, Need, Severity, Tools, Verdict};
use crate::evidence::Validity;
use crdproof_schema::structural::KeyedList;
use serde_json::Value;

pub(crate) const CHECK: Check = Check {
    id: "converter/list-keys-kept",
    title: "items of keyed lists keep their keys, and the keys stay unique",
    why: "Server-side apply identifies items of a list of type map by their keys. A missing or duplicate key makes \
          every apply fail.",
    source: &["docs/api-server-behaviour.md#list-keys-must-survive", "https://github.com/crossplane/upjet/issues/465"],
    severity: Severity::Error,
    since: None,
    help: "set the keys when a list becomes a keyed list, and keep them unique",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    evidence.with_tools(|tools| judge_with(evidence, tools))
}

fn judge_with(evidence: &Evidence<'_>, tools: &Tools<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        for step in conversion_run.first_conversions().filter(|_| conversion_run.fit == Validity::Valid) {
            let to = &*step.hop.to;
            let (Some(served), Some(validator)) = (step.hop.served(), tools.validator(to)) else { continue };
            let mut wrong = Vec::new();
            validator.keyed_lists(served, &mut |list| {
                if !list.items.is_empty() {
                    collector.examined();
                    judge_keys(list, &mut wrong);
                }
            });
            for (path, what) in wrong {
                let route = conversion_run.route(step.number);
                let failure = about(evidence, conversion_run, step.number, format!("{path} {what} after {route}"));
                let failure = failure.version(&step.hop.to).key(format!("{route} {path}"));
                collector.failure(crate::checks::Failure { path: Some(path), ..failure });
            }
        }
    })
}

fn judge_keys(list: &KeyedList<'_>, wrong: &mut Vec<(String, String)>) {
    let KeyedList { keys, items, .. } = list;
    let mut seen: Vec<Vec<&Value>> = Vec::with_capacity(items.len());
    for item in *items {
        if let Some(key) = keys.iter().find(|key| item.get(*key).is_none_or(Value::is_null)) {
            wrong.push((list.path(), format!("has an item without its key {key}")));
        }
        let own: Vec<&Value> = keys.iter().map(|key| item.get(key).unwrap_or(&Value::Null)).collect();
        if seen.contains(&own) {
            let own = own.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            wrong.push((list.path(), format!("has two items with the key {own}")));
        }
        seen.push(own);
    }
}
