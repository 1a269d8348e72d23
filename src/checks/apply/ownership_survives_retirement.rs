//! Retiring a version does not change ownership: another manager has the same conflicts before and afterwards.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::evidence::{Action, Call, RetirementStep, Scenario, Trace};

pub(crate) const CHECK: Check = Check {
    id: "apply/ownership-survives-retirement",
    title: "after a version is retired, every field has the same owners as before",
    why: "Entries of the retired version are rewritten first. If an owner is lost on the way, other managers take \
          its fields without a conflict, and it can no longer remove them.",
    source: &[
        "docs/api-server-behaviour.md#conflicts-cross-versions",
        "docs/api-server-behaviour.md#entries-of-a-removed-version-block-applies",
        "https://github.com/kubernetes/kubernetes/issues/111937",
    ],
    severity: Severity::Error,
    since: Some(19),
    help: "make the conversion complete in both directions and deterministic: owners of moved fields are found \
           through conversions",
    needs: &[Need::Scenario(Scenario::Retirement)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let after = claims(trace, RetirementStep::OwnersAfter);
        for (claim, before) in claims(trace, RetirementStep::OwnersBefore) {
            let Some(now) = after.get(&claim) else { continue };
            // An invalid value says nothing about owners.
            if [before, now].iter().any(|call| !call.is_success() && call.status != 409) {
                continue;
            }
            found.examined += 1;
            let (name, action) = claim;
            let (had, has) = (owners(before), owners(now));
            if had != has {
                let shown = |owners: BTreeSet<String>| {
                    let names = owners.into_iter().collect::<Vec<_>>().join(", ");
                    if names.is_empty() { "nobody".to_owned() } else { names }
                };
                let Action::Claim(field) = action else { continue };
                let message =
                    format!("{field} of {name} belonged to {}, and belongs to {} now", shown(had), shown(has));
                let failure = Failure::new(message).version(&now.version).key("owners");
                found.add(Failure {
                    path: Some(field.clone()),
                    ..failure.together("owners", "change owners during the retirement")
                });
            }
        }
    })
}

/// Claims of another manager, by object and field.
fn claims(trace: &Trace, step: RetirementStep) -> BTreeMap<(&str, &Action), &Call> {
    trace.calls(step).map(|call| ((call.name.as_str(), &call.action), call)).collect()
}

/// The managers that a conflict names.
fn owners(call: &Call) -> BTreeSet<String> {
    let causes = call.answered["details"]["causes"].as_array().into_iter().flatten();
    let messages = causes.filter_map(|cause| cause["message"].as_str()?.strip_prefix("conflict with \""));
    messages.filter_map(|message| Some(message.split_once('"')?.0.to_owned())).collect()
}
