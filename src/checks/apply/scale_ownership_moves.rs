//! A manager that scales owns the replicas. On 1.24.17 the old owner loses them and nobody gets them; on 1.31.4 the new
//! owner does.

use crate::checks::shared_trace::{Found, judged, owned};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, ApplyStep, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/scale-ownership-moves",
    title: "scaling an object moves ownership of its replicas, at every version",
    why: "If the applying manager does not learn that it lost the field, it and the autoscaler overwrite each other \
          on every sync.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#scale-writes-own-the-replicas",
    ],
    severity: Severity::Error,
    since: Some(31),
    help: "check the paths of `subresources.scale` in every version",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let calls: Vec<_> = trace.calls(ApplyStep::ScaleOwners).collect();
        for steps in calls.windows(2) {
            let [scale, scaled] = steps else { continue };
            if scale.action != Action::Scale || scaled.action != Action::Scaled || !scale.is_success() {
                continue;
            }
            found.examined += 1;
            let owners = owned(&scaled.answered);
            let Some((_, _, path)) = owners.iter().find(|(manager, _, path)| manager == "scaler" && path.len() > 1)
            else {
                let message =
                    format!("scaler does not own the replicas of {} after scaling at {}", scale.name, scale.version);
                found.failure(&scale.version, message, "no owner".to_owned());
                continue;
            };
            if owners.iter().any(|(manager, _, other)| manager == "alice" && other == path) {
                let message = format!(
                    "alice still owns .{} of {} after it was scaled at {}",
                    path.join("."),
                    scale.name,
                    scale.version
                );
                found.failure(&scale.version, message, "two owners".to_owned());
            }
        }
    })
}
