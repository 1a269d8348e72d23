//! Metadata belongs to the API server.

use super::shared::{about, each};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::observe::Act;
use serde_json::{Map, Value};

pub(crate) const CHECK: Check = Check {
    id: "converter/metadata-untouched",
    title: "metadata other than labels and annotations is answered as it came",
    why: "API servers put it back silently, so that the change has no effect today. It had one before \
          Kubernetes 1.15, and it has one in every tool that uses the converter without a server.",
    source: &["https://github.com/kubernetes/kubernetes/pull/77743", "W-12", "H20"],
    severity: Severity::Note,
    since: None,
    help: "copy metadata as it is",
    needs: &[Need::Trials],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |tell, trial| {
        for step in trial.steps().filter(|step| step.leg.act == Act::Convert && trial.fit.is_valid()) {
            let Some(answer) = step.leg.answer() else { continue };
            let (Some(was), Some(now)) = (others(step.sent), others(&answer.raw)) else { continue };
            tell.examined();
            let names = was.keys().chain(now.keys()).find(|name| was.get(*name) != now.get(*name));
            if let Some(name) = names {
                let route = trial.route(step.number);
                let message = format!("metadata.{name} is answered differently by {route}; API servers put it back");
                let breach = about(evidence, trial, step.number, message).key(format!("{route} {name}"));
                tell.breach(crate::checks::Breach { path: Some(format!(".metadata.{name}")), ..breach });
            }
        }
    })
}

/// What is the server's, without nulls: old Go types write `creationTimestamp: null`.
fn others(object: &Value) -> Option<Map<String, Value>> {
    let mut metadata = object.get("metadata")?.as_object()?.clone();
    let elsewhere = ["labels", "annotations", "name", "namespace", "uid"];
    metadata.retain(|name, value| !elsewhere.contains(&name.as_str()) && !value.is_null());
    Some(metadata)
}
