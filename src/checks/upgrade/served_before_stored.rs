//! A rollback installs the previous release's CRD. It cannot read objects that were written at a version which it does
//! not serve, or does not have.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/served-before-stored",
    title: "a version is served for a release before it becomes the storage version",
    why: "After a rollback, objects are stored at a version that the previous release does not know: reads fail, and \
          the API server refuses the old CRD.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#upgrade-existing-objects-to-a-new-stored-version",
        "docs/api-server-behaviour.md#a-rollback-needs-the-old-converter",
        "https://github.com/aws/karpenter-provider-aws/pull/6560",
    ],
    severity: Severity::Warning,
    since: None,
    help: "ship a release that serves the version and still stores the old one, and flip `storage` in the release \
           after it",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let old = match shared::old_state(evidence) {
        Ok(old) => old,
        Err(verdict) => return verdict,
    };
    let (Some(before), Some(after)) = (old.storage(), evidence.crd.storage()) else {
        return Verdict::Inconclusive("there is no stored version in both states".into());
    };
    let name = &after.name;
    let lacks = match old.version(name) {
        _ if *name == before.name => return Verdict::Passed { examined: 1 },
        Some(version) if version.served => return Verdict::Passed { examined: 1 },
        Some(_) => "did not serve",
        None => "did not have",
    };
    let message =
        format!("{name} becomes the stored version in place of {}, and the old state {lacks} it", before.name);
    let failure = shared::changed(message)
        .at(after.node.nearest("/storage").span)
        .version(name)
        .related(before.node.nearest("/storage").span, "this was stored")
        .key(format!("stored after {}", before.name));
    Verdict::Failed(vec![failure])
}
