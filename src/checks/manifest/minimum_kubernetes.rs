//! What a CRD uses decides which Kubernetes releases it can claim.

use crate::checks::{Breach, Check, Evidence, Need, Severity, Verdict};
use crate::kubernetes::Older;

use crate::subject::features_of;

pub(crate) const CHECK: Check = Check {
    id: "manifest/minimum-kubernetes",
    title: "nothing in the manifest needs a newer Kubernetes than the subject declares",
    why: "Older servers refuse what they do not know, or drop it silently: a rule that is not there refuses nothing.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
        "https://github.com/prometheus-operator/prometheus-operator/issues/8185",
        "hazards 2b",
    ],
    severity: Severity::Error,
    since: None,
    help: "raise kubernetes.minimum in the subject file, or do without the feature",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let used = features_of(evidence.crd);
    let Some(minimum) = evidence.minimum() else {
        let newest = used.iter().max_by_key(|(feature, _)| feature.since);
        return Verdict::Undecided(match newest {
            Some((feature, span)) => {
                let place = evidence.subject.sources.place(*span);
                format!(
                    "the subject declares no minimum; it needs at least {} because of {} at {place}",
                    feature.since, feature.what
                )
            }
            None => "the subject declares no minimum; nothing in the manifest needs more than 1.16".into(),
        });
    };
    let breaches = used.iter().filter(|(feature, _)| feature.since.minor > minimum.minor).map(|(feature, span)| {
        let then = match feature.older {
            Older::Refuses => "refuses the CRD",
            Older::Drops => "drops it silently",
            Older::Ignores => "keeps it without effect",
        };
        let message = format!(
            "{} needs Kubernetes {}, but the subject declares {minimum}, which {then}",
            feature.what, feature.since
        );
        Breach::new(message)
            .at(*span)
            .severity(if feature.harmless { Severity::Warning } else { Severity::Error })
            .key(&feature.id)
    });
    Verdict::from_breaches(breaches.collect(), used.len().max(1))
}
