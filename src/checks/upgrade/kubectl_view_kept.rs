//! The interface of `kubectl`: short names, categories and the columns of `kubectl get`.

use super::shared;
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::Crd;

pub(crate) const CHECK: Check = Check {
    id: "upgrade/kubectl-view-kept",
    title: "short names, categories and printer columns are kept",
    why: "Scripts use them: `kubectl get` with a removed short name or category fails, and a script that cuts out a \
          column gets another one.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#additional-printer-columns",
        "docs/api-server-behaviour.md#printer-columns-belong-to-one-version",
    ],
    severity: Severity::Note,
    since: None,
    help: "keep it, or announce the change in the release notes",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let old = match shared::old_state(evidence) {
        Ok(old) => old,
        Err(verdict) => return verdict,
    };
    let failures = names(old, evidence.crd).into_iter().chain(columns(old, evidence.crd));
    Verdict::from_failures(failures.collect(), 1)
}

fn names(old: &Crd, new: &Crd) -> Vec<Failure> {
    let lists = [
        ("short name", "/spec/names/shortNames", &old.names.short_names, &new.names.short_names),
        ("category", "/spec/names/categories", &old.names.categories, &new.names.categories),
    ];
    let gone = lists.into_iter().flat_map(|(what, pointer, before, after)| {
        before.iter().filter(|name| !after.contains(name)).map(move |name| {
            shared::changed(format!("the {what} {name} is gone"))
                .at(new.span_at(pointer))
                .related(old.span_at(pointer), "it was here")
                .key(format!("{what} {name}"))
        })
    });
    gone.collect()
}

fn columns(old: &Crd, new: &Crd) -> Vec<Failure> {
    let served = shared::served_in_both(old, new);
    let gone = served.into_iter().flat_map(|(before, after)| {
        let gone = before.columns.iter().filter(|column| after.columns.iter().all(|other| other.name != column.name));
        gone.map(|column| {
            let change = format!("the printer column {} is gone", column.name);
            Failure::new(format!("{}: {change}", after.name))
                .change(change)
                .at(after.node.nearest("/additionalPrinterColumns").span)
                .version(&after.name)
                .related(column.span, "it was here")
                .key(format!("column {}", column.name))
        })
    });
    gone.collect()
}
