//! A CRD and its objects can be applied from one source.

use super::shared_deliver::{FIRST, lines, live, sent};
use crate::checks::shared_difference::{differences, field};
use crate::checks::shared_trace::{Found, is_declared, judged};
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::evidence::{Action, ApplyStep, Call, Delivered, DeliveryOutcome, Health, Scenario, State, Trace};
use crate::subject::features_of;
use crdproof_schema::kubernetes::Older;

pub(crate) const CHECK: Check = Check {
    id: "apply/kinds-and-their-objects-apply-together",
    title: "a CRD and its objects can be applied from one source",
    why: "GitOps tools apply CRDs and objects together. An object that is refused, changed, or changed again on \
          every sync never becomes ready.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/server-side-apply/",
        "docs/api-server-behaviour.md#an-identical-apply-writes-nothing",
        "https://github.com/kubernetes/kubernetes/pull/125263",
    ],
    severity: Severity::Error,
    since: None,
    help: "make every applied field, including status, survive the conversion to the stored version and back",
    needs: &[Need::Scenario(Scenario::Apply)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    unknown(evidence).map_or_else(|| judge_delivered(evidence), Verdict::KnownServerIssue)
}

/// Apply refuses a CRD with a field that the server does not know; a plain write drops the field.
fn unknown(evidence: &Evidence<'_>) -> Option<String> {
    let trace = evidence.trace?;
    let definition = format!("CustomResourceDefinition/{}", evidence.crd.name);
    let refused =
        trace.delivered(FIRST).find(|line| line.name == definition && line.became == DeliveryOutcome::Refused)?;
    let server = trace.kubernetes;
    let newer = features_of(evidence.crd).into_iter().filter(|used| used.since > server);
    let dropped = newer.filter(|used| used.feature.on(server) == Older::Drops).max_by_key(|used| used.since)?;
    Some(format!("{refused}; {} is known from Kubernetes {} on", dropped.feature.what, dropped.since))
}

fn judge_delivered(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        let definition = format!("CustomResourceDefinition/{}", evidence.crd.name);
        let kind = trace.delivered(FIRST).filter(|line| line.name == definition);
        let refused = kind.chain(lines(evidence, trace, FIRST)).filter(|line| line.became == DeliveryOutcome::Refused);
        for line in refused {
            found.failure(&line.version, format!("{line}"), format!("refused {}", line.name));
        }
        for line in lines(evidence, trace, FIRST).filter(|line| line.became != DeliveryOutcome::Refused) {
            found.examined += 1;
            stored(evidence, trace, line, found);
            let mut again = lines(evidence, trace, ApplyStep::DeliverAgain).filter(|again| again.name == line.name);
            if let Some(again) = again.find(|again| again.became != DeliveryOutcome::Unchanged) {
                let paths: Vec<String> = again.differences.iter().map(|differs| field(&differs.at)).collect();
                let message = format!("{again} although the source is the same: {}", paths.join(", "));
                found.failure(&line.version, message, format!("again {}", line.name));
            }
            let deliveries = ApplyStep::DELIVERY.into_iter().flat_map(|step| trace.health(step));
            let last = deliveries.filter(|health| health.name == line.name);
            let ready = trace.calls(ApplyStep::DeliverReady).find(|call| {
                call.action == Action::Ready && call.is_success() && line.name.ends_with(&format!("/{}", call.name))
            });
            // Pruning comes later; judge the health before it.
            let last = last.take_while(|health| health.state != State::NotFound).last();
            if let (Some(ready), Some(last)) = (ready, last.filter(|last| last.state != State::Current)) {
                found.add(not_ready(line, ready, last));
            }
        }
    })
}

/// A controller reported an object as ready, but clients that wait for it do not see it. Versions may keep conditions
/// at different places, and then a controller must write both.
fn not_ready(line: &Delivered, ready: &Call, last: &Health) -> Failure {
    let (written, read) = (&ready.version, &last.version);
    let message = format!("a controller writes at {written} that {} is ready, and at {read} {last}", line.name);
    let (severity, group, clause) = if written == read {
        (Severity::Error, "ready", "are ready for a controller, and not for tools that wait at its version")
    } else {
        (
            Severity::Warning,
            "ready elsewhere",
            "are ready for a controller, and not for tools that wait at another version",
        )
    };
    Failure::new(message).version(read).key(format!("ready {}", line.name)).severity(severity).together(group, clause)
}

/// Compares the applied object with the live one.
fn stored(evidence: &Evidence<'_>, trace: &Trace, line: &Delivered, found: &mut Found) {
    let Some(sent) = sent(trace, line) else { return };
    let Some(there) = live(trace, FIRST, line) else {
        let message = format!("{} was applied, and does not exist at {}", line.name, line.version);
        return found.failure(&line.version, message, format!("gone {}", line.name));
    };
    for difference in differences(sent, there) {
        let path = field(&difference.pointer);
        let schema = evidence.crd.version(&line.version).and_then(|version| version.schema.as_ref());
        let lossy = difference.kind(schema).is_loss();
        let part = difference.pointer.starts_with("/metadata/") && !difference.pointer.contains("/labels");
        if lossy && !part && !is_declared(evidence, &line.version, &path) {
            let message = format!("{path} of {} differs from what was applied at {}", line.name, line.version);
            let shown = |value| evidence.redact(Some(&line.version), value);
            let evidence = format!("applied: {}\nthere:   {}", shown(sent), shown(there));
            found.place(&line.version, message, path, evidence);
        }
    }
}
