//! A deprecated version must tell its users where to move.

use std::cmp::Ordering;

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::{Crd, Version, api_version_order};

pub(crate) const CHECK: Check = Check {
    id: "manifest/deprecation-announced",
    title: "a deprecated version has a valid and helpful warning",
    why: "The warning is the only notice that clients get before a version is removed. The API server's own text \
          names a successor only if a preferred version is served and not deprecated.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-deprecation",
        "docs/api-server-behaviour.md#deprecated-versions-send-a-warning",
        "docs/api-server-behaviour.md#deprecation-warnings-have-limits",
    ],
    severity: Severity::Error,
    since: Some(19),
    help: "add `deprecationWarning:` with the version to use and the release that removes this one",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    let mut failures = Vec::new();
    for version in &crd.versions {
        let name = &version.name;
        if let Some((text, span)) = &version.deprecation_warning {
            let failure = |message: String, help: &str| Failure::new(message).at(*span).version(name).help(help);
            if !version.deprecated {
                let message =
                    format!("{name} has a deprecationWarning but is not deprecated; the API server refuses that");
                failures.push(failure(message, "add `deprecated: true`, or remove the warning"));
            }
            if let Some(why) = unvalid(text) {
                failures.push(failure(
                    format!("the deprecationWarning of {name} {why}"),
                    "write one short line of plain text",
                ));
            }
        } else if version.deprecated && version.served && successor(crd, version).is_none() {
            let message = format!(
                "{name} is deprecated, and neither a deprecationWarning nor a preferred version names a replacement"
            );
            let at = version.node.nearest("/deprecated").span;
            failures.push(Failure::new(message).at(at).version(name).severity(Severity::Warning));
        }
    }
    Verdict::from_failures(failures, crd.versions.len())
}

/// The version that the API server's own warning would name.
fn successor<'a>(crd: &'a Crd, version: &Version) -> Option<&'a Version> {
    crd.versions.iter().find(|other| {
        other.served && !other.deprecated && api_version_order(&other.name, &version.name) == Ordering::Less
    })
}

fn unvalid(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        Some("is empty")
    } else if text.len() > 256 {
        Some("is longer than 256 bytes")
    } else if text.chars().any(char::is_control) {
        Some("contains characters that cannot be printed")
    } else {
        None
    }
}
