//! What a converter answers must fit the schema of the version it is for.

use crate::checks::{Check, Evidence, Need, Severity, Tools, Verdict};
use crdproof_schema::document::pointer;

use super::shared::{about, each, generic, schema_of};
use crate::checks::Failure;
use crdproof_schema::structural::{Reason, prune};
use serde_json::Value;

pub(crate) const CHECK: Check = Check {
    id: "converter/output-valid",
    title: "a converted object fits the schema of its new version",
    why: "API servers do not validate what a converter answers: fields that the schema does not know vanish, wrong values are stored, and the next write of anybody is refused.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#converted-objects-must-fit-the-target-schema",
        "docs/api-server-behaviour.md#list-keys-must-survive",
        "https://github.com/kubernetes-sigs/cluster-api/commit/b8cf724fca",
        "https://github.com/crossplane/upjet/pull/465",
    ],
    severity: Severity::Error,
    since: None,
    help: "fill in what the target version requires, and write only what its schema knows",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    evidence.with_tools(|tools| judge_with(evidence, tools))
}

fn judge_with(evidence: &Evidence<'_>, tools: &Tools<'_>) -> Verdict {
    each(evidence, |tell, conversion_run| {
        if !conversion_run.fit.is_valid() {
            return;
        }
        for step in conversion_run.first_conversions() {
            let to = &*step.hop.to;
            let (Some(answer), Some(validator), Some(schema)) =
                (step.hop.answer(), tools.validator(to), schema_of(evidence, to))
            else {
                continue;
            };
            tell.examined();
            let mut told = |pointer: &str, what: &str| {
                let name = generic(Some(schema), pointer);
                let failure =
                    about(evidence, conversion_run, step.number, format!("{name} of the converted {to} object {what}"));
                let key = format!("{} {name}", conversion_run.route(step.number));
                tell.failure(Failure { path: Some(name), ..failure.version(to).key(key) });
            };
            // With strategy None it is the server that leaves fields behind, and other checks say so.
            if evidence.crd.conversion.strategy != "None" && answer.served.is_some() {
                for dropped in prune(schema, &mut Value::clone(&answer.raw)) {
                    told(&pointer::of_path(&dropped), "is not in the schema, so API servers drop it");
                }
            }
            for violation in validator.validate(&validator.filled(answer.served())).violations {
                // Keys of lists have a check of their own; what is no part of the schema was judged above.
                if violation.reason != Reason::Duplicate && !violation.pointer.starts_with("/metadata") {
                    told(&violation.pointer, &format!("is not valid: {}", violation.message));
                }
            }
        }
    })
}
