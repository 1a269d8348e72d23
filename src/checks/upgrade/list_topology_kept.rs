//! List type, keys and map type determine the ownership of parts of a value. Changing them changes the ownership that
//! server-side apply recorded, at the next write and without an error.

use super::shared;
use crate::checks::{Change, Check, Evidence, Failure, Need, Severity, Verdict};
use crdproof_schema::structural::compare::{Delta, Direction, What};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/list-topology-kept",
    title: "list types, list keys, map types and preserved unknown fields do not change in an existing version",
    why: "Managers that shared a list or map begin to overwrite each other, or leave items behind that no manager \
          removes; fields that were preserved without a schema are dropped.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy",
        "docs/api-server-behaviour.md#changing-the-list-type-moves-ownership",
        "docs/api-server-behaviour.md#unchanged-invalid-values-are-tolerated",
        "https://github.com/kubernetes-sigs/crdify/issues/50",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep it in this version and change it in a new one",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let verdict = shared::judge_schemas(evidence, |delta, failure| {
        if becomes_atomic(delta) { Some(atomic(failure)) } else { Some(failure.help(effect(delta)?)) }
    });
    match (verdict, pruning_begins(evidence)) {
        (Verdict::Failed(failures), more) => Verdict::Failed(failures.into_iter().chain(more).collect()),
        (_, Some(more)) => Verdict::Failed(vec![more]),
        (verdict, None) => verdict,
    }
}

/// A map that becomes atomic: no object changes, and few maps have two appliers.
fn atomic(failure: Failure) -> Failure {
    failure.severity(Severity::Warning).help("let one manager apply the whole map: where several do, each apply conflicts with the others, and a forced one drops their keys")
}

fn becomes_atomic(delta: &Delta) -> bool {
    matches!(&delta.what, What::MapTypeChanged { new, .. } if new == "atomic")
}

/// Returns the effect of the change, or `None` if it does no harm.
fn effect(delta: &Delta) -> Option<String> {
    let effect = match &delta.what {
        What::ListTypeChanged { old, new } => match (old.as_str(), new.as_str()) {
            (_, "atomic") => "every manager of an item owns the whole list: each apply conflicts with the others, and a forced one drops their items".into(),
            ("atomic", "map") => "ownership of the whole list becomes ownership of items: an item that a manager no longer applies may stay, and new objects may hold each key only once".into(),
            ("atomic", _) => "ownership of the whole list becomes ownership of items: an item that a manager no longer applies may stay, and new objects may hold each item only once".into(),
            _ => "items are identified by something else, so recorded ownership no longer fits them".to_owned(),
        },
        What::ListKeysChanged { .. } => "items are identified by other fields: recorded ownership no longer fits them, and new objects may hold each combination only once".into(),
        What::MapTypeChanged { .. } => "ownership of the whole map becomes ownership of keys: a key that a manager no longer applies may stay".into(),
        What::PreserveUnknownChanged { .. } if delta.direction == Direction::Lossy => {
            return Some("keep `x-kubernetes-preserve-unknown-fields: true`, or name every field that objects may hold: the rest is dropped at the next write".into());
        }
        _ => return None,
    };
    Some(format!("{}; otherwise {effect}", CHECK.help))
}

/// Reports that `spec.preserveUnknownFields` was turned off, so that every version starts to prune.
fn pruning_begins(evidence: &Evidence<'_>) -> Option<Failure> {
    let Change::Kept(old) = evidence.change else {
        return None;
    };
    if !old.preserve_unknown_fields || evidence.crd.preserve_unknown_fields {
        return None;
    }
    let pointer = "/spec/preserveUnknownFields";
    let failure = shared::changed("the API server begins to drop fields that the schemas do not name")
        .at(evidence.crd.span_at(pointer))
        .related(old.span_at(pointer), "unknown fields were kept")
        .help("make sure that the schemas name every field that stored objects hold")
        .severity(Severity::Warning)
        .key("pruning");
    Some(failure)
}
