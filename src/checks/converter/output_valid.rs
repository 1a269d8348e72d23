//! Converted objects must be valid by the schema of the target version.

use crate::checks::{Check, Evidence, Need, Severity, Tools, Verdict};
use crdproof_schema::document::pointer;

use super::shared::{about, each, generic, schema_of};
use crate::checks::Failure;
use crate::checks::shared_difference::differences;
use crate::evidence::{Answer, ConversionRun, Origin, Step};
use crdproof_schema::structural::{Reason, Schema, Validator, means_absent, prune};
use serde_json::Value;

pub(crate) const CHECK: Check = Check {
    id: "converter/output-valid",
    title: "a converted object is valid at its new version",
    why: "API servers do not validate the response of a converter: unknown fields are dropped, invalid values are \
          stored, and the next write of the object is refused.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#converted-objects-must-fit-the-target-schema",
        "docs/api-server-behaviour.md#list-keys-must-survive",
        "docs/api-server-behaviour.md#null-is-dropped-where-it-is-not-allowed",
        "https://github.com/kubernetes-sigs/cluster-api/commit/b8cf724fca",
        "https://github.com/crossplane/upjet/pull/465",
    ],
    severity: Severity::Error,
    since: None,
    help: "set what the target version requires, and write only fields that its schema has",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    evidence.with_tools(|tools| judge_with(evidence, tools))
}

fn judge_with(evidence: &Evidence<'_>, tools: &Tools<'_>) -> Verdict {
    each(evidence, |collector, run| {
        // A sample need not be valid, and then the converted object need not be.
        let is_own = matches!(run.origin, Origin::Sample(_));
        let own = tools.validator(&run.version).filter(|_| is_own);
        let is_valid = own.is_none_or(|own| own.validate(&own.filled(&run.input)).violations.is_empty());
        if !run.fit.is_valid() || !is_valid {
            return;
        }
        for step in run.first_conversions() {
            let to = &*step.hop.to;
            let (Some(answer), Some(validator), Some(schema)) =
                (step.hop.answer(), tools.validator(to), schema_of(evidence, to))
            else {
                continue;
            };
            collector.examined();
            let at = Place { evidence, run, step: &step, schema };
            let found = at.nulls(answer).into_iter().chain(at.unknown(answer)).chain(at.violations(answer, validator));
            found.for_each(|failure| collector.failure(failure));
        }
    })
}

/// A converted object to judge.
struct Place<'a> {
    evidence: &'a Evidence<'a>,
    run: &'a ConversionRun,
    step: &'a Step<'a>,
    schema: &'a Schema,
}

impl Place<'_> {
    fn failure(&self, pointer: &str, what: &str, (group, clause): (&str, &str)) -> Failure {
        let (name, to) = (generic(Some(self.schema), pointer), &*self.step.hop.to);
        let message = format!("{name} of the converted {to} object {what}");
        let failure = about(self.evidence, self.run, self.step.number, message);
        let key = format!("{} {name}", self.run.route(self.step.number));
        Failure { path: Some(name), ..failure.version(to).key(key).together(group, clause) }
    }

    /// Finds nulls that the schema does not allow, and that no default replaces. Reads do not show them, but field
    /// management gets the raw response.
    fn nulls(&self, answer: &Answer) -> Vec<Failure> {
        let changed = answer.served.iter().flat_map(|served| differences(&answer.raw, served));
        let dropped = changed.filter(|difference| {
            let is_dropped = difference.was == Some(&Value::Null) && difference.now.is_none();
            is_dropped && difference.is_content() && self.schema.at_pointer(&difference.pointer).is_some()
        });
        let what = "null: API servers drop that, and refuse it when an object is applied";
        let (one, several) = (format!("is {what}"), format!("of converted objects are {what}"));
        let told = |pointer: &str| {
            self.failure(pointer, &one, ("null", &several)).severity(Severity::Warning).complaint("null")
        };
        dropped.map(|difference| told(&difference.pointer)).collect()
    }

    /// Finds fields that the schema does not have.
    fn unknown(&self, answer: &Answer) -> Vec<Failure> {
        // With strategy None the server drops fields, which other checks report.
        if self.evidence.crd.conversion.strategy == "None" || answer.served.is_none() {
            return Vec::new();
        }
        let what = "is not in the schema, so API servers drop it";
        let together = ("unknown", "of converted objects are not in the schema, so that API servers drop them");
        let dropped = prune(self.schema, &mut Value::clone(&answer.raw)).into_iter();
        dropped.map(|path| self.failure(&pointer::of_path(&path), what, together)).collect()
    }

    /// Finds values that the schema does not admit.
    fn violations(&self, answer: &Answer, validator: &Validator<'_>) -> Vec<Failure> {
        let mut violations = validator.validate(&validator.filled(answer.served())).violations;
        // Another check judges keys of lists; unknown fields were judged above.
        let is_elsewhere =
            |reason: Reason, pointer: &str| reason == Reason::Duplicate || pointer.starts_with("/metadata");
        violations.retain(|one| !is_elsewhere(one.reason, &one.pointer) && !one.is_remark());
        let failures = violations.into_iter().map(|violation| {
            let what = format!("is not valid: {}", violation.message);
            // The converter cannot know values that the object never had.
            let given = self.run.input.pointer(&violation.pointer);
            let was_absent = given.is_none_or(|value| means_absent(None, value));
            let is_narrower = is_narrower(violation.reason) || (violation.reason == Reason::Required && was_absent);
            if is_narrower && !matches!(self.run.origin, Origin::Sample(_)) {
                let clause = "admit less than in other versions, so that converted objects are not valid";
                self.failure(&violation.pointer, &what, ("narrower", clause)).severity(Severity::Warning)
            } else {
                self.failure(&violation.pointer, &what, ("invalid", "of converted objects are not valid"))
            }
        });
        failures.collect()
    }
}

/// Returns true if a value has the right type but exceeds a bound. The next write of such a value is refused, unless it
/// is unchanged and the server ratchets.
fn is_narrower(reason: Reason) -> bool {
    matches!(reason, Reason::Invalid | Reason::NotSupported | Reason::TooLong | Reason::TooMany)
}
