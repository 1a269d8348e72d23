//! Data in annotations has limits.

use super::shared::{about, each};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Origin;
use crdproof_schema::generate::Phase;
use serde_json::{Map, Value};

pub(crate) const CHECK: Check = Check {
    id: "converter/stash-bounded",
    title: "a stash stays small, and is removed where it is not needed",
    why: "All annotations of an object together may have 256 KiB, including the copy that kubectl keeps. A stash \
          that is left at the version it came from becomes stale, and later overrides newer data.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#data-kept-in-annotations-goes-stale",
        "docs/api-server-behaviour.md#labels-and-annotations-must-be-valid",
        "https://github.com/deckhouse/deckhouse/pull/21157",
    ],
    severity: Severity::Warning,
    since: None,
    help: "stash only what the other version cannot represent, and remove the annotation on the way back",
    needs: &[Need::ConversionRuns],
    judge,
};

/// The size limit of all annotations of an object together.
const LIMIT: usize = 256 * 1024;

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let none = Map::new();
    each(evidence, |collector, conversion_run| {
        if !conversion_run.fit.is_valid() {
            return;
        }
        let born = annotations(&conversion_run.input).unwrap_or(&none);
        for step in conversion_run.first_conversions() {
            let Some(answer) = step.hop.answer() else { continue };
            collector.examined();
            let size: usize =
                annotations(&answer.raw).into_iter().flatten().map(|(key, value)| key.len() + length(value)).sum();
            if size > LIMIT {
                let route = conversion_run.route(step.number);
                let message =
                    format!("annotations have {size} bytes after {route}; API servers refuse more than {LIMIT}");
                let failure = about(evidence, conversion_run, step.number, message).key(format!("{route} size"));
                // An object near the limit of etcd leaves no space for a stash.
                let is_huge = matches!(conversion_run.origin, Origin::Generated { phase: Phase::Large, .. });
                collector.failure(if is_huge { failure.severity(Severity::Note) } else { failure });
            }
        }
        for (_, back) in conversion_run.round_trips() {
            let Some(served) = back.hop.served() else { continue };
            let left = annotations(served).unwrap_or(&none);
            if let Some(key) = left.keys().find(|key| !born.contains_key(*key)) {
                let route = conversion_run.route(back.number);
                let message = format!("the annotation {key} is left behind after {route}");
                let failure = about(evidence, conversion_run, back.number, message).key(format!("{route} {key}"));
                // A version that is not stored may carry fields of other versions; only stored annotations accumulate.
                let is_stored = evidence.crd.storage().is_some_and(|stored| *stored.name == *conversion_run.version);
                collector.failure(if is_stored { failure } else { failure.severity(Severity::Note) });
            }
        }
    })
}

fn annotations(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata")?.get("annotations")?.as_object()
}

fn length(value: &Value) -> usize {
    value.as_str().map_or(0, str::len)
}
