//! Objects that a source no longer has are removed, and objects of others stay.

use std::collections::BTreeSet;

use super::shared_deliver::lines;
use crate::checks::shared_trace::{Found, judged, listed};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{ApplyStep, DeliveryOutcome, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/withdrawn-objects-pruned",
    title: "an object removed from the source is deleted, and no other object is",
    why: "An object that cannot be deleted blocks its namespace and its CRD. An object that is deleted along with it \
          is lost data.",
    source: &[
        "https://kubernetes.io/docs/tasks/manage-kubernetes-objects/declarative-config/",
        "docs/api-server-behaviour.md#deletion-hangs-while-conversion-fails",
    ],
    severity: Severity::Error,
    since: None,
    help: "allow deletion at every version: converters must also convert objects that have a deletion timestamp",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

const STEP: ApplyStep = ApplyStep::DeliverWithdraw;

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let withdrawn: BTreeSet<&String> = trace.names(STEP).flat_map(|names| &names.names).collect();
        for line in lines(evidence, trace, STEP) {
            let name = line.name.rsplit('/').next().unwrap_or_default();
            let gone = withdrawn.iter().any(|withdrawn| *withdrawn == name);
            if gone {
                found.examined += 1;
            }
            if gone && line.became != DeliveryOutcome::Deleted {
                let message = format!("{} is withdrawn, and {}: {}", line.name, line.became, line.why);
                found.failure(&line.version, message, format!("refused {}", line.name));
            } else if !gone && line.became == DeliveryOutcome::Deleted {
                let message = format!("{} is still in the source, and was deleted", line.name);
                found.failure(&line.version, message, format!("deleted {}", line.name));
            }
        }
        for before in trace.snapshots(ApplyStep::DeliverCorrect) {
            let version = &before.version;
            let Some(after) = trace.snapshots(STEP).find(|after| after.version == *version) else { continue };
            let after = listed(after);
            for name in listed(before) {
                found.examined += 1;
                match (withdrawn.contains(&name), after.contains(&name)) {
                    (true, true) => {
                        let message = format!("{name} was removed from the source, and still exists at {version}");
                        found.failure(version, message, format!("left {name}"));
                    }
                    (false, false) => {
                        let message = format!("{name} is still in the source, and is missing at {version}");
                        found.failure(version, message, format!("taken {name}"));
                    }
                    _ => {}
                }
            }
        }
    })
}
