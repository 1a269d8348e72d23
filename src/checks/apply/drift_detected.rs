//! A dry run shows changes by others.

use super::shared_deliver::{lines, live, overlap, sent, wanted};
use crate::checks::shared_difference::field;
use crate::checks::shared_trace::{Found, is_declared, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{ApplyStep, DeliveryOutcome, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/drift-detected",
    title: "a dry run shows exactly the fields that another client changed",
    why: "Drift that a dry run does not show is never corrected. Drift that is reported where there is none makes \
          tools apply in an endless loop.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#withdrawal-crosses-versions",
        "docs/api-server-behaviour.md#an-identical-apply-writes-nothing",
        "docs/api-server-behaviour.md#a-dry-run-stores-nothing",
    ],
    severity: Severity::Error,
    since: None,
    help: "make the conversion complete in both directions and deterministic: an edit at one version must be visible \
           at all others",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for line in lines(evidence, trace, ApplyStep::DeliverDetect) {
            let (Some(sent), Some(was)) = (sent(trace, line), live(trace, ApplyStep::DeliverAgain, line)) else {
                continue;
            };
            found.examined += 1;
            let (name, version) = (&line.name, &line.version);
            if line.became == DeliveryOutcome::Refused {
                found.failure(version, format!("a dry run of {line}"), format!("refused {name}"));
                continue;
            }
            let Some(now) = live(trace, ApplyStep::DeliverDrift, line) else {
                if line.became != DeliveryOutcome::Drifted {
                    let message = format!("{name} was deleted, and a dry run says that it is {}", line.became);
                    found.failure(version, message, format!("gone {name}"));
                }
                continue;
            };
            let moved = wanted(evidence, line, was, now, sent);
            for pointer in &moved {
                let path = field(pointer);
                let told = line.differences.iter().any(|differs| overlap(&differs.at, pointer));
                if !told && !is_declared(evidence, version, &path) {
                    let message = format!("{path} of {name} was changed, and a dry run at {version} does not show it");
                    let shown = |value| evidence.redact(Some(version), value);
                    let evidence = format!("before: {}\nafter:  {}", shown(was), shown(now));
                    found.place(version, message, path, evidence);
                }
            }
            if moved.is_empty() && line.became == DeliveryOutcome::Drifted {
                let paths: Vec<String> = line.differences.iter().map(|differs| field(&differs.at)).collect();
                let message = format!("{name} was not changed, and a dry run would change {}", paths.join(", "));
                found.failure(version, message, format!("invented {name}"));
            }
        }
    })
}
