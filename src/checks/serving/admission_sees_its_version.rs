//! An admission webhook that is registered for one version receives writes through all versions at that version.

use serde_json::Value;

use crate::checks::shared_trace::{Found, Occasion, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Call, ObservedAdmission, Scenario, ServingStep, Trace};
use crdproof_schema::structural::{default, prune};

pub(crate) const CHECK: Check = Check {
    id: "serving/admission-sees-its-version",
    title: "an admission webhook sees writes at all versions, converted to its own version",
    why: "Admission webhooks and policies are written for one version. They do not guard objects that reach them in \
          another shape, or not at all.",
    source: &[
        "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/",
        "docs/api-server-behaviour.md#webhooks-see-the-version-that-they-name",
        "docs/api-server-behaviour.md#webhooks-of-several-versions-take-turns",
        "docs/api-server-behaviour.md#failed-conversion-fails-admission",
    ],
    severity: Severity::Error,
    since: None,
    help: "convert objects that are not stored yet in the same way as stored ones",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let served: Vec<&str> = evidence
            .crd
            .versions
            .iter()
            .filter(|version| version.served)
            .map(|version| version.name.as_str())
            .collect();
        let writes = |call: &&Call| matches!(call.action, Action::Create | Action::Change) && call.is_success();
        for write in trace.calls(ServingStep::Admission).filter(writes) {
            for registered in &served {
                found.examined += 1;
                judge_write(evidence, trace, write, registered, found);
            }
        }
        for call in trace.calls(ServingStep::AdmissionBlind).filter(|call| call.action == Action::CreateUnshown) {
            found.examined += 1;
            if call.is_success() {
                let message = format!(
                    "a write through {} succeeds, although it cannot be converted for a webhook that guards it",
                    call.version
                );
                found.failure(&call.version, message, "unshown".to_owned());
            }
        }
    })
}

/// Checks that the webhook of a version received a write, as readers at that version see it.
fn judge_write(evidence: &Evidence<'_>, trace: &Trace, write: &Call, registered: &str, found: &mut Found) {
    let operation = if write.action == Action::Create { "CREATE" } else { "UPDATE" };
    let mut seen = trace.admissions(ServingStep::Admission).filter(|seen| {
        seen.registered == registered && seen.operation == operation && seen.name == write.name && !seen.dry_run
    });
    let Some(seen) = seen.next() else {
        let message = format!("a {operation} through {} does not reach the webhook for {registered}", write.version);
        return found.failure(registered, message, format!("{operation} through {}", write.version));
    };
    for (what, said, wanted) in [
        ("kind", &seen.kind, registered),
        ("resource", &seen.resource, registered),
        ("requestKind", &seen.request_kind, write.version.as_str()),
        ("requestResource", &seen.request_resource, write.version.as_str()),
    ] {
        if said != wanted {
            let message = format!(
                "{what} names {said:?} instead of {wanted} when a {operation} through {} is shown to the webhook \
                 for {registered}",
                write.version
            );
            found.failure(registered, message, what.to_owned());
        }
    }
    let (before, after) =
        if operation == "CREATE" { (None, &Action::Created) } else { (Some(&Action::Created), &Action::Changed) };
    // At the version of the write the object is not converted yet; another check judges losses by storing it.
    if write.version != registered {
        compare(evidence, trace, seen, ("object", &seen.object, after), found);
    }
    if let Some(before) = before {
        compare(evidence, trace, seen, ("oldObject", &seen.old_object, before), found);
    }
}

/// Compares the object that a webhook received with the one that readers of its version saw.
fn compare(
    evidence: &Evidence<'_>,
    trace: &Trace,
    seen: &ObservedAdmission,
    (which, shown, read): (&str, &Value, &Action),
    found: &mut Found,
) {
    let version = seen.registered.as_str();
    let mut reads = trace.calls(ServingStep::Admission);
    let read = reads.find(|call| call.action == *read && call.version == version && call.name == seen.name);
    let Some(read) = read.filter(|call| call.is_success()) else { return };
    let wanted = format!("{}/{version}", evidence.crd.group);
    if shown["apiVersion"] != wanted.as_str() {
        let message = format!("{which} is at {} instead of {wanted}", shown["apiVersion"]);
        return found.failure(version, message, format!("{which} version"));
    }
    let when = format!(
        "when read, after admission was shown it as {which} of a {} through {}",
        seen.operation, seen.request_kind
    );
    let (shown, read) = (settled(evidence, version, shown), settled(evidence, version, &read.answered));
    let key = format!("{which} {} {}", seen.operation, seen.request_kind);
    found.compare(evidence, version, (&shown, &read), &Occasion { key: &key, when: &when });
}

/// An object with the defaults of its version: readers get them after conversion, webhooks do not.
fn settled(evidence: &Evidence<'_>, version: &str, object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(schema) = evidence.crd.version(version).and_then(|version| version.schema.as_ref()) {
        prune(schema, &mut object);
        default(schema, &mut object);
    }
    object
}
