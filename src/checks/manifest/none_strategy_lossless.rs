//! Under strategy None the API server rewrites `apiVersion` and prunes. A field that only one version has is lost as
//! soon as an object passes through another.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::{Crd, DeclaredLoss, Kustomized, Version};
use crdproof_schema::structural::Path;

use super::shared_loss::{Loss, losses};
use super::shared_lost::Lost;

pub(crate) const CHECK: Check = Check {
    id: "manifest/none-strategy-lossless",
    title: "with strategy None, every version has the fields of all others",
    why: "API servers prune every write to the schema of the requested version and of the stored version, without an \
          error. A field that one of them lacks is lost.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#specify-multiple-versions",
        "docs/api-server-behaviour.md#strategy-none-loses-what-one-schema-lacks",
        "https://github.com/tektoncd/pipeline/commit/2d80cd66a",
        "https://github.com/kubernetes-sigs/cluster-api/commit/918d28feb6",
        "https://github.com/kubernetes/website/pull/37267",
    ],
    severity: Severity::Error,
    since: None,
    help: "add the field to the other version as well, or convert by webhook",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    if !crd.converts_by_none() {
        return Verdict::Passed { examined: 1 };
    }
    // Objects may still be stored at a version that is neither served nor the storage version, and lose fields when
    // they are read through another one. Nothing is read or written through that version itself.
    let live: Vec<&Version> = crd.versions.iter().filter(|version| version.served || version.storage).collect();
    let mut examined = 1;
    let mut found: Vec<Lost<'_>> = Vec::new();
    for has in &crd.versions {
        for lacks in live.iter().filter(|other| other.name != has.name) {
            let (Some(rich), Some(poor)) = (&has.schema, &lacks.schema) else {
                continue;
            };
            examined += 1;
            for (path, loss) in losses(rich, poor) {
                // A pair of types is reported once, at the first version.
                if matches!(loss, Loss::Retyped { .. }) && position(crd, has) > position(crd, lacks) {
                    continue;
                }
                add(&mut found, path, loss, has, lacks);
            }
        }
    }
    let mut failures: Vec<Failure> = found.iter().filter_map(|lost| undeclared(evidence, lost)).collect();
    if crd.is_generated_without_stanza() && crd.kustomized != Kustomized::Yes {
        failures = failures.into_iter().map(|failure| uncertain(failure, crd.kustomized)).collect();
    }
    Verdict::from_failures(failures, examined)
}

/// Returns the finding, unless `losses` of the subject file accept the loss. It mentions an expired declaration.
fn undeclared(evidence: &Evidence<'_>, lost: &Lost<'_>) -> Option<Failure> {
    let (failure, subject) = (lost.failure(), evidence.subject);
    let field = lost.path.to_string();
    let covers = |loss: &&DeclaredLoss| lost.is_gone() && loss.covers(evidence.crd, &field);
    let declared = || subject.file.losses.iter().filter(covers);
    if declared().any(|loss| loss.expires >= evidence.today) {
        return None;
    }
    Some(match declared().map(|loss| loss.expires).max() {
        Some(day) => failure.help(format!("{}; or agree on a new date: the loss was accepted until {day}", CHECK.help)),
        None => failure,
    })
}

/// controller-gen writes no conversion stanza; a file that was not read may add one before the CRD is installed.
fn uncertain(failure: Failure, kustomized: Kustomized) -> Failure {
    let failure = failure.severity(Severity::Warning);
    match kustomized {
        Kustomized::UnusedPatch(span) => failure
            .related(span, "this patch adds a conversion webhook, but no kustomization applies it")
            .help("list the patch in the kustomization and give that folder, or add the field to the other version, too"),
        Kustomized::No | Kustomized::Yes => failure.help(
            "controller-gen writes no conversion stanza: if a kustomization or a chart adds a webhook, give that folder \
             or what it renders; else add the field to the other version, too, or convert by webhook",
        ),
    }
}

fn position(crd: &Crd, version: &Version) -> Option<usize> {
    crd.versions.iter().position(|other| other.name == version.name)
}

/// Adds a loss to those of the same field, for the same reason.
fn add<'a>(found: &mut Vec<Lost<'a>>, path: Path, loss: Loss<'a>, has: &'a Version, lacks: &'a Version) {
    let known = found.iter().position(|known| known.path == path && known.loss.same_kind(&loss));
    let index = known.unwrap_or_else(|| {
        found.push(Lost { path, loss, owners: Vec::new(), others: Vec::new() });
        found.len() - 1
    });
    let entry = &mut found[index];
    for (list, version) in [(&mut entry.owners, has), (&mut entry.others, lacks)] {
        if !list.iter().any(|listed| listed.name == version.name) {
            list.push(version);
        }
    }
}
