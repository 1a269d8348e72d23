//! The features of a CRD determine the Kubernetes releases that it can claim.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::{UsedFeature, features_of};

pub(crate) const CHECK: Check = Check {
    id: "manifest/minimum-kubernetes",
    title: "the manifest needs no newer Kubernetes than the subject declares",
    why: "Older API servers refuse what they do not know, or drop it silently: a validation rule that was dropped \
          refuses nothing.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
        "docs/features.md",
        "https://github.com/prometheus-operator/prometheus-operator/issues/8185",
    ],
    severity: Severity::Error,
    since: None,
    help: "raise kubernetes.minimum in the subject file, or do not use the feature",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let used = features_of(evidence.crd);
    let Some(minimum) = evidence.minimum() else {
        // The same message for every CRD, so that a report shows it once.
        let reason = "the subject declares no minimum Kubernetes version; `crdproof minimum` shows what the CRDs need";
        return Verdict::Inconclusive(reason.into());
    };
    let newer = used.iter().filter(|used| used.since.minor > minimum.minor);
    let failures = newer.map(|UsedFeature { feature, since, span }| {
        let (what, fate) = (&feature.what, feature.on(minimum).consequence());
        let message =
            format!("{what} needs Kubernetes {since} or later; on {minimum}, which the subject declares, {fate}");
        Failure::new(message)
            .at(*span)
            .severity(if feature.harmless { Severity::Warning } else { Severity::Error })
            .key(&feature.id)
    });
    Verdict::from_failures(failures.collect(), used.len().max(1))
}
