//! What a converter answers must fit the schema of the version it is for.

use crate::checks::{Check, Evidence, Need, Severity, Tools, Verdict};
use crdproof_schema::document::pointer;

use super::shared::{about, each, generic, schema_of};
use crate::checks::Failure;
use crate::evidence::Origin;
use crdproof_schema::structural::{Reason, means_absent, prune};
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
        // What the author wrote need not be valid, and then the answer need not be.
        let is_own = matches!(conversion_run.origin, Origin::Sample(_));
        let own = tools.validator(&conversion_run.version).filter(|_| is_own);
        let is_valid = own.is_none_or(|own| own.validate(&own.filled(&conversion_run.input)).violations.is_empty());
        if !conversion_run.fit.is_valid() || !is_valid {
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
            let mut tell_at = |pointer: &str, what: &str, clause: &str, severity: Severity| {
                let name = generic(Some(schema), pointer);
                let failure =
                    about(evidence, conversion_run, step.number, format!("{name} of the converted {to} object {what}"));
                let route = conversion_run.route(step.number);
                let failure = failure.version(to).key(format!("{route} {name}")).together(clause);
                tell.failure(Failure { path: Some(name), ..failure.severity(severity) });
            };
            // With strategy None it is the server that leaves fields behind, and other checks say so.
            if evidence.crd.conversion.strategy != "None" && answer.served.is_some() {
                for dropped in prune(schema, &mut Value::clone(&answer.raw)) {
                    let what = "is not in the schema, so API servers drop it";
                    let clause = "of converted objects are not in the schema, so that API servers drop them";
                    tell_at(&pointer::of_path(&dropped), what, clause, Severity::Error);
                }
            }
            for violation in validator.validate(&validator.filled(answer.served())).violations {
                // Keys of lists have a check of their own; what is no part of the schema was judged above.
                let is_elsewhere = violation.reason == Reason::Duplicate || violation.pointer.starts_with("/metadata");
                if is_elsewhere || violation.is_remark() {
                    continue;
                }
                let what = format!("is not valid: {}", violation.message);
                // What the object never had, the converter cannot know.
                let given = conversion_run.input.pointer(&violation.pointer);
                let was_absent = given.is_none_or(|value| means_absent(None, value));
                let is_narrower = is_narrower(violation.reason) || (violation.reason == Reason::Required && was_absent);
                if is_narrower && !is_own {
                    let clause =
                        format!("of {to} admit less than other versions do, so that converted objects are not valid");
                    tell_at(&violation.pointer, &what, &clause, Severity::Warning);
                } else {
                    tell_at(&violation.pointer, &what, "of converted objects are not valid", Severity::Error);
                }
            }
        }
    })
}

/// Returns whether a value is of the right type and beyond a bound. The next write of such a value is refused, unless it is
/// unchanged and the server ratchets.
fn is_narrower(reason: Reason) -> bool {
    matches!(reason, Reason::Invalid | Reason::NotSupported | Reason::TooLong | Reason::TooMany)
}
