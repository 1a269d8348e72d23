//! Scenarios that ended before their last step, because of a server's response.

use super::fold::fingerprint;
use crate::checks::Severity;
use crate::evidence::Trace;
use crate::report::{CheckInfo, Finding};

/// The id under which scenarios that ended early are reported.
const CHECK: &str = "subject/scenarios-complete";

/// Returns the entry of such scenarios in the report. It is not a check of the registry, because it concerns all checks
/// of the scenario.
pub fn scenarios_check() -> CheckInfo {
    CheckInfo {
        id: CHECK.into(),
        title: "every scenario completes".into(),
        why:
            "A request that must work failed, most often because the conversion webhook fails. What comes later in the \
              scenario was not seen."
                .into(),
        source: vec![
            "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/"
                .into(),
        ],
        severity: Severity::Error,
        since: None,
        help: "read the server's message; `crdproof run --suite converter` shows which objects the converter refuses"
            .into(),
    }
}

/// Returns a finding for every scenario that ended early.
pub(super) fn findings(traces: &[Trace]) -> Vec<Finding> {
    let of_trace = |trace: &Trace| {
        let (crd, kubernetes) = (trace.crd.clone(), trace.kubernetes);
        let found = trace.stopped().map(|(step, why)| {
            let scenario = step.scenario();
            Finding {
                check: CHECK.into(),
                severity: Severity::Error,
                crd: crd.clone(),
                version: None,
                path: None,
                message: format!(
                    "the {scenario} scenario ended early on Kubernetes {kubernetes}, at \"{step}\": {why}"
                ),
                evidence: None,
                help: scenarios_check().help,
                location: None,
                related: Vec::new(),
                fingerprint: fingerprint(&[CHECK, &crd, &scenario.to_string(), &step.to_string()]),
                fields: Vec::new(),
                change: None,
                consequences: Vec::new(),
                reproduce: None,
                waiver: None,
            }
        });
        found.collect::<Vec<Finding>>()
    };
    traces.iter().flat_map(of_trace).collect()
}
