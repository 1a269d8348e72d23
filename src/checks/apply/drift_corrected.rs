//! Applying again reverts changes by others.

use super::shared_deliver::{lines, live, sent, wanted};
use crate::checks::shared_difference::field;
use crate::checks::shared_trace::{Found, is_declared, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{ApplyStep, DeliveryOutcome, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/drift-corrected",
    title: "applying again restores a field that drifted",
    why: "GitOps tools exist to correct drift. If the converter brings the other value back, the correction never \
          holds; if it drops fields of other managers, correcting one field takes theirs away.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#conflicts-cross-versions",
    ],
    severity: Severity::Error,
    since: None,
    help: "never let a stashed value override a field that the object has",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

/// A label that another client has set together with an edit.
const FOREIGN_LABEL: &str = "/metadata/labels/crdproof.dev~1stranger";

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for line in lines(evidence, trace, ApplyStep::DeliverCorrect) {
            let (Some(sent), Some(was)) = (sent(trace, line), live(trace, ApplyStep::DeliverAgain, line)) else {
                continue;
            };
            let between = live(trace, ApplyStep::DeliverDrift, line);
            if between.is_some_and(|between| wanted(evidence, line, was, between, sent).is_empty()) {
                // No field of the source was changed.
                continue;
            }
            found.examined += 1;
            let (name, version) = (&line.name, &line.version);
            let Some(now) =
                live(trace, ApplyStep::DeliverCorrect, line).filter(|_| line.became != DeliveryOutcome::Refused)
            else {
                let message = format!("{name} drifted, and applying it again: {}", line.why);
                found.failure(version, message, format!("refused {name}"));
                continue;
            };
            let places = wanted(evidence, line, was, now, sent).into_iter().map(|pointer| field(&pointer));
            for path in places.filter(|path| !is_declared(evidence, version, path)) {
                let message = format!("{path} of {name} drifted, and applying again did not restore it");
                let shown = |value| evidence.redact(Some(version), value);
                let evidence = format!("before: {}\nafter:  {}", shown(was), shown(now));
                found.place(version, message, path, evidence);
            }
            let theirs = between.and_then(|between| between.pointer(FOREIGN_LABEL));
            if theirs.is_some() && now.pointer(FOREIGN_LABEL) != theirs {
                let message = format!("a label of another manager is missing from {name} after applying again");
                found.failure(version, message, format!("stranger {name}"));
            }
            let mut after = lines(evidence, trace, ApplyStep::DeliverCorrected).filter(|after| after.name == *name);
            if let Some(after) = after.find(|after| after.became != DeliveryOutcome::Unchanged) {
                let message = format!("{after} right after it was corrected");
                found.failure(version, message, format!("after {name}"));
            }
        }
    })
}
