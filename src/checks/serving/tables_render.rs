//! kubectl can show tables.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Scenario, ServingStep};

pub(crate) const CHECK: Check = Check {
    id: "serving/tables-render",
    title: "a table at any version has the columns of that version",
    why: "`kubectl get` prints the table that the API server renders. A column that is missing or empty hides the \
          state of an object.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
        "docs/api-server-behaviour.md#printer-columns-belong-to-one-version",
    ],
    severity: Severity::Warning,
    since: None,
    help: "check `additionalPrinterColumns` of that version",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(ServingStep::Tables) {
            let Some(version) = evidence.crd.version(&call.version) else { continue };
            found.examined += 1;
            let columns = call.answered["columnDefinitions"].as_array().into_iter().flatten();
            let shown: Vec<&str> = columns.filter_map(|column| column["name"].as_str()).collect();
            let declared: Vec<&str> = version.columns.iter().map(|column| column.name.as_str()).collect();
            let mut wanted = vec!["Name"];
            wanted.extend(if declared.is_empty() { vec!["Age"] } else { declared });
            if !call.is_success() || shown != wanted {
                let message = format!("the table at {} has the columns {shown:?} instead of {wanted:?}", call.version);
                found.failure(&call.version, message, "columns".to_owned());
            }
        }
    })
}
