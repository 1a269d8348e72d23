//! Clients, stored objects and ownership refer to scope, group, kind and plural.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::subject::Crd;

pub(crate) const CHECK: Check = Check {
    id: "upgrade/identity-kept",
    title: "scope, group, kind and plural do not change",
    why: "The API server refuses to change them on an existing CRD. Deleting the CRD to work around that deletes \
          every object.",
    source: &[
        "https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go",
        "docs/api-server-behaviour.md#group-kind-and-scope-are-fixed",
    ],
    severity: Severity::Error,
    since: None,
    help: "restore the old value, or introduce a new CRD beside this one and move the objects",
    needs: &[Need::Baseline],
    judge,
};

/// An attribute that must not change: its name, its location and its getter.
type Part = (&'static str, &'static str, fn(&Crd) -> &str);

const PARTS: [Part; 4] = [
    ("scope", "/spec/scope", |crd| &crd.scope),
    ("group", "/spec/group", |crd| &crd.group),
    ("kind", "/spec/names/kind", |crd| &crd.names.kind),
    ("plural", "/spec/names/plural", |crd| &crd.names.plural),
];

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let new = evidence.crd;
    let old = match shared::old_state(evidence) {
        Ok(old) => old,
        Err(verdict) => return verdict,
    };
    let changed = PARTS.iter().filter(|(_, _, read)| read(old) != read(new));
    let failures = changed.map(|(part, pointer, read)| {
        let (before, after) = (read(old), read(new));
        shared::changed(format!("{part} changed from {before:?} to {after:?}"))
            .at(new.span_at(pointer))
            .related(old.span_at(pointer), "this was the old state")
            .key(format!("{part} {before} {after}"))
    });
    Verdict::from_failures(failures.collect(), PARTS.len())
}
