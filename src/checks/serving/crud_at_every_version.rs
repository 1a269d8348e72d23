//! Every verb at every served version.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::evidence::{LeftOut, LeftOutReason, Scenario, ServingStep, normalised};

pub(crate) const CHECK: Check = Check {
    id: "serving/crud-at-every-version",
    title: "objects can be created, read, changed and deleted at every served version",
    why: "A version at which one of these operations fails is useless to its clients, although discovery lists it.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#every-served-version-answers-all-verbs",
    ],
    severity: Severity::Error,
    since: None,
    help: "read the message of the API server; usually the converter refused the object",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for left_out in trace.left_out() {
            found.examined += 1;
            found.add(unusable(left_out));
        }
        for step in
            [ServingStep::Create, ServingStep::Single, ServingStep::Rewrite, ServingStep::Watch, ServingStep::Delete]
        {
            for call in trace.calls(step) {
                found.examined += 1;
                let desired = format!("{}/{}", evidence.crd.group, call.version);
                let answered = &call.answered["apiVersion"];
                if !call.is_success() {
                    let message =
                        format!("{} of {} at {} failed: {}", call.action, call.name, call.version, call.message());
                    found.refused(call, message);
                } else if answered.is_string() && *answered != desired.as_str() {
                    let message = format!("{} at {} is answered with {answered}", call.action, call.version);
                    found.failure(&call.version, message, format!("{} version", call.action));
                }
            }
        }
    })
}

/// An object that was left out, because it cannot be used at every version.
fn unusable(LeftOut { version, name, is_sample, reason, path, why }: &LeftOut) -> Failure {
    let what = if *is_sample { "a sample" } else { "an object that the schema admits" };
    let (problem, key) = match reason {
        LeftOutReason::NotConverted => {
            (format!("{what} of {version} cannot be read at every version"), normalised(why))
        }
        LeftOutReason::NotValid => (format!("an object of {version} is not valid"), why.clone()),
        LeftOutReason::NotValidAt(to) => {
            (format!("{what} of {version} is not valid when it is converted to {to}"), format!("{to} {why}"))
        }
    };
    let message = format!("{problem}, so {name} was left out: {why}");
    let failure = Failure::new(message).version(version).key(key);
    let severity = if *is_sample { Severity::Error } else { Severity::Warning };
    let failure = Failure { path: path.clone(), ..failure.severity(severity) };
    // A field is more precise than a complaint.
    let is_about_field = matches!(reason, LeftOutReason::NotValidAt(_)) && path.is_some();
    if is_about_field { failure } else { failure.complaint(why) }
}
