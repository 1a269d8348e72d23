//! Discovery lists exactly what is served.

use serde_json::Value;

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Action, Call, Scenario, ServingStep, Trace};
use crate::subject::Version;

pub(crate) const CHECK: Check = Check {
    id: "serving/discovery-truthful",
    title: "discovery lists exactly the served versions and their subresources",
    why: "Clients choose a version by discovery. They cannot use a version that is missing there, and requests at a \
          version that is listed but not served fail.",
    source: &[
        "https://kubernetes.io/docs/reference/using-api/api-concepts/",
        "docs/api-server-behaviour.md#discovery-lists-served-versions-by-priority",
        "docs/api-server-behaviour.md#every-served-version-has-an-apiservice",
    ],
    severity: Severity::Error,
    since: None,
    help: "check the conditions of the CRD",
    needs: &[Need::Scenario(Scenario::Serving)],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls(ServingStep::Discovery) {
            found.examined += 1;
            if call.action == Action::Group {
                let listed = call.answered["versions"].as_array().into_iter().flatten();
                let mut listed: Vec<&str> = listed.filter_map(|version| version["version"].as_str()).collect();
                let served = evidence.crd.versions.iter().filter(|version| version.served);
                let mut served: Vec<&str> = served.map(|version| version.name.as_str()).collect();
                listed.sort_unstable();
                served.sort_unstable();
                // Other CRDs of the group may add versions.
                if let Some(missing) = served.iter().find(|version| !listed.contains(version)) {
                    found.failure(
                        missing,
                        format!("{missing} is served, but the group does not list it"),
                        "group".to_owned(),
                    );
                }
                continue;
            }
            if call.action == Action::Aggregated {
                aggregated(evidence, trace, call, found);
                continue;
            }
            let Some(version) = evidence.crd.version(&call.version) else { continue };
            let listed = call.answered["resources"].as_array().into_iter().flatten();
            let names: Vec<&str> = listed.filter_map(|resource| resource["name"].as_str()).collect();
            truthful(evidence, version, &names, "discovery", found);
        }
    })
}

/// Judges the document for all groups, from 1.27 on; older servers answer with a list of groups.
fn aggregated(evidence: &Evidence<'_>, trace: &Trace, call: &Call, found: &mut Found) {
    if call.answered["kind"] != "APIGroupDiscoveryList" {
        if trace.kubernetes.at_least(27) {
            found.failure("", "the server gives no aggregated discovery".to_owned(), "aggregated".to_owned());
        }
        return;
    }
    let versions = &call.answered["versions"];
    for version in &evidence.crd.versions {
        let listed = versions.get(&version.name).and_then(Value::as_array);
        let names: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
        if version.served {
            truthful(evidence, version, &names, "aggregated discovery", found);
        } else if names.contains(&evidence.crd.names.plural.as_str()) {
            let message = format!("aggregated discovery lists {}, which is not served", version.name);
            found.failure(&version.name, message, "aggregated discovery".to_owned());
        }
    }
}

/// Checks that the listed resources of a version are those that it has.
fn truthful(evidence: &Evidence<'_>, version: &Version, names: &[&str], which: &str, found: &mut Found) {
    let plural = evidence.crd.names.plural.as_str();
    let parts = [("status", version.status.is_some()), ("scale", version.scale.is_some())];
    for (part, enabled) in parts {
        if names.contains(&format!("{plural}/{part}").as_str()) != enabled {
            let message = format!("{which} of {} is wrong for the subresource {part}", version.name);
            found.failure(&version.name, message, format!("{which} {part}"));
        }
    }
    if !names.contains(&plural) {
        found.failure(&version.name, format!("{which} of {} lacks {plural}", version.name), format!("{which} kind"));
    }
}
