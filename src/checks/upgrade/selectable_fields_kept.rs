//! Field selectors work for the fields that a version lists, and for no others.

use super::shared;
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/selectable-fields-kept",
    title: "selectable fields of a served version stay selectable",
    why: "Lists and watches that select by the field are refused with \"field label not supported\", so informers \
          that use it do not start.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-selectors",
        "docs/api-server-behaviour.md#field-selectors-belong-to-one-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep the field in `selectableFields` of this version",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let old = match shared::old_state(evidence) {
        Ok(old) => old,
        Err(verdict) => return verdict,
    };
    let served = shared::served_in_both(old, evidence.crd);
    let examined = served.len();
    let gone = served.into_iter().flat_map(|(before, after)| {
        let gone = before
            .selectable_fields
            .iter()
            .filter(|(path, _)| !after.selectable_fields.iter().any(|(other, _)| other == path));
        gone.map(|(path, span)| {
            let change = format!("{path} is no longer selectable");
            Failure::new(format!("{}: {change}", after.name))
                .change(change)
                .at(after.node.nearest("/selectableFields").span)
                .version(&after.name)
                .related(*span, "it was selectable")
                .key(path.as_str())
        })
    });
    Verdict::from_failures(gone.collect(), examined.max(1))
}
