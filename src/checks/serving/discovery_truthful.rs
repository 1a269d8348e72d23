//! Discovery says what is served.

use crate::checks::shared_trace::{Found, judged};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "serving/discovery-truthful",
    title: "discovery lists exactly the served versions with their subresources",
    why: "Clients choose a version by discovery. A version that is missing cannot be used, and one that is \
          listed but not served fails.",
    source: &["https://kubernetes.io/docs/reference/using-api/api-concepts/", "O-04", "O-07"],
    severity: Severity::Error,
    since: None,
    help: "look at the conditions of the CRD",
    needs: &[Need::Trace],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    judged(evidence, |trace, found: &mut Found| {
        for call in trace.calls("serve/discovery") {
            found.examined += 1;
            if call.what == "group" {
                let listed = call.answered["versions"].as_array().into_iter().flatten();
                let mut listed: Vec<&str> = listed.filter_map(|version| version["version"].as_str()).collect();
                let served = evidence.crd.versions.iter().filter(|version| version.served);
                let mut served: Vec<&str> = served.map(|version| version.name.as_str()).collect();
                listed.sort_unstable();
                served.sort_unstable();
                // Other CRDs of the group may bring versions of their own.
                if let Some(missing) = served.iter().find(|version| !listed.contains(version)) {
                    found.breach(
                        missing,
                        format!("{missing} is served, but the group does not list it"),
                        "group".to_owned(),
                    );
                }
                continue;
            }
            let Some(version) = evidence.crd.version(&call.version) else { continue };
            let listed = call.answered["resources"].as_array().into_iter().flatten();
            let names: Vec<&str> = listed.filter_map(|resource| resource["name"].as_str()).collect();
            let plural = &evidence.crd.names.plural;
            let parts = [("status", version.status.is_some()), ("scale", version.scale.is_some())];
            for (part, enabled) in parts {
                let is_listed = names.contains(&format!("{plural}/{part}").as_str());
                if is_listed != enabled {
                    let message = format!("discovery of {} is wrong about the subresource {part}", call.version);
                    found.breach(&call.version, message, part.to_owned());
                }
            }
            if !names.contains(&plural.as_str()) {
                found.breach(&call.version, format!("discovery of {} lacks {plural}", call.version), "kind".to_owned());
            }
        }
    })
}
