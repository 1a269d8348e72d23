//! Defaults are applied when an object is read. Changing one changes the meaning of every stored object without the
//! field, at once and without a write.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crdproof_schema::structural::compare::{Direction, What};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/default-kept",
    title: "defaults of an existing version do not change",
    why: "Objects that omit the field change their meaning with the upgrade, without an edit.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting",
        "https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api_changes.md#defaults",
        "docs/api-server-behaviour.md#unchanged-invalid-values-are-tolerated",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep the default in this version and change it in a new one, where the converter writes the old value \
           explicitly",
    needs: &[Need::Baseline],
    judge,
};

/// The effect of a new default on objects that leave the field out.
const ADDED: &str = "let the controller fill in the value, or add the default in a new version: stored objects without the field gain it at the next read, and clients that compare or apply them see a change";

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::judge_schemas(evidence, |delta, failure| match (&delta.what, delta.direction) {
        // Objects without the field gain a value when they are read, with the same meaning as before.
        (What::DefaultChanged { old: None, .. }, Direction::Harmless) => {
            Some(failure.severity(Severity::Note).help("make sure that the controller takes this value for absence"))
        }
        (What::DefaultChanged { old: None, .. }, _) => Some(failure.help(ADDED)),
        (What::DefaultChanged { old: Some(_), .. }, _) => Some(failure),
        _ => None,
    })
}
