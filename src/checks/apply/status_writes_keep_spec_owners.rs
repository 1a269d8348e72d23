//! Writing the status does not take fields from managers that apply the rest.

use crate::checks::shared_trace::{Found, judged, owned};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, ApplyStep, Scenario};

pub(crate) const CHECK: Check = Check {
    id: "apply/status-writes-keep-spec-owners",
    title: "writing status at another version does not change the owners of other fields",
    why: "Controllers write status at the version they were built for. If that takes fields from their owners, the \
          next apply conflicts or loses them.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#status-writes-keep-other-owners",
        "https://github.com/kubernetes/kubernetes/issues/133704",
    ],
    severity: Severity::Error,
    since: Some(35),
    help: "send only status to the status subresource",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let calls: Vec<_> = trace.calls(ApplyStep::StatusOwners).collect();
        for steps in calls.windows(3) {
            let [before, status, after] = steps else { continue };
            if (&before.action, &status.action, &after.action) != (&Action::Before, &Action::Status, &Action::After) {
                continue;
            }
            found.examined += 1;
            let of_alice = |call: &crate::evidence::Call| {
                let owned = owned(&call.answered).into_iter().filter(|(manager, ..)| manager == "alice");
                owned.map(|(_, _, path)| path.join(".")).collect::<std::collections::BTreeSet<_>>()
            };
            if let Some(lost) = of_alice(before).difference(&of_alice(after)).next() {
                let message =
                    format!("alice loses .{lost} of {} by a write of status at {}", before.name, status.version);
                found.failure(&status.version, message, lost.clone());
            }
        }
    })
}
