//! Under strategy None the API server rewrites `apiVersion` and prunes. A field that only one version
//! knows is lost as soon as an object passes through another.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::{Kustomized, Version};
use crdproof_schema::structural::{Path, Schema, Type};

use super::shared_loss::{Loss, losses};

pub(crate) const CHECK: Check = Check {
    id: "manifest/none-strategy-lossless",
    title: "with strategy None no version has a field that another would prune",
    why: "Every write is pruned by the version it comes through and by the stored version, without an error: a field \
          that one of them does not know is gone.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#specify-multiple-versions",
        "docs/api-server-behaviour.md#strategy-none-loses-what-one-schema-lacks",
        "https://github.com/tektoncd/pipeline/commit/2d80cd66a",
        "https://github.com/kubernetes-sigs/cluster-api/commit/918d28feb6",
        "https://github.com/kubernetes/website/pull/37267",
    ],
    severity: Severity::Error,
    since: None,
    help: "add the field to the other version, too, or convert by webhook",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    if !crd.converts_by_none() {
        return Verdict::Passed { examined: 1 };
    }
    // A version that is neither served nor stored takes no part in reads or writes.
    let live: Vec<_> = crd.versions.iter().filter(|version| version.served || version.storage).collect();
    let mut failures = Vec::new();
    let mut examined = 1;
    for has in &live {
        let mut lost: Vec<(Path, Loss<'_>, Vec<&Version>)> = Vec::new();
        for lacks in live.iter().filter(|other| other.name != has.name) {
            let (Some(rich), Some(poor)) = (&has.schema, &lacks.schema) else {
                continue;
            };
            examined += 1;
            for (path, loss) in losses(rich, poor) {
                // A pair of types is told once, at the version that comes first.
                if matches!(loss, Loss::Retyped { .. }) && position(&live, has) > position(&live, lacks) {
                    continue;
                }
                match lost.iter_mut().find(|(known, kind, _)| *known == path && kind.same_kind(&loss)) {
                    Some((_, _, versions)) => versions.push(lacks),
                    None => lost.push((path, loss, vec![lacks])),
                }
            }
        }
        failures.extend(lost.into_iter().map(|(path, loss, versions)| failure(has, &path, &loss, &versions)));
    }
    if crd.is_generated_without_stanza() && crd.kustomized != Kustomized::Yes {
        failures = failures.into_iter().map(|failure| uncertain(failure, crd.kustomized)).collect();
    }
    Verdict::from_failures(failures, examined)
}

/// controller-gen writes no conversion stanza; something that was not read may add one before the CRD is installed.
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

/// Returns whether an object loses its fields where another version has something else in its place.
fn is_emptied_by(object: &Schema, other: &Schema) -> bool {
    object.ty == Some(Type::Object) && other.ty.is_some_and(|ty| ty != Type::Object) && !other.preserves_unknown()
}

fn position(live: &[&Version], version: &Version) -> Option<usize> {
    live.iter().position(|other| other.name == version.name)
}

fn failure(has: &Version, path: &Path, loss: &Loss<'_>, versions: &[&Version]) -> Failure {
    let names: Vec<_> = versions.iter().map(|version| version.name.as_str()).collect();
    let names = names.join(", ");
    let stored = versions.iter().find(|version| version.storage);
    let consequence = match stored {
        Some(stored) => format!("{} is stored, so what is written through {} loses it at once", stored.name, has.name),
        None => format!("any write through {names} drops it"),
    };
    let failure = match loss {
        Loss::Unknown { rich, poor } => {
            let failure = Failure::new(format!(
                "{path} exists in {} but not in {names}: lost through {names}; {consequence}",
                has.name
            ));
            failure
                .at(rich.span)
                .related(poor.span, format!("{} has no such field here", versions[0].name))
                .key("unknown")
        }
        Loss::Closed { rich, poor } => {
            let message = format!(
                "{path} keeps unknown fields in {} but not in {names}: they are lost through {names}; {consequence}",
                has.name
            );
            Failure::new(message)
                .at(rich.span)
                .related(poor.span, format!("{} prunes here", versions[0].name))
                .key("closed")
        }
        Loss::Retyped { rich, poor, from, to } => {
            let is_emptied = is_emptied_by(rich, poor) || is_emptied_by(poor, rich);
            let (what, severity) = if is_emptied {
                ("API servers prune the fields of the object, and `{}` is left of it", Severity::Error)
            } else {
                ("strategy None copies the value, so clients read one of another type", Severity::Warning)
            };
            let message = format!("{path} is {from} in {} and {to} in {names}; {what}", has.name);
            let failure = Failure::new(message).at(rich.span).related(poor.span, format!("{to} here"));
            let help = "give the field the same type in all versions, or convert by webhook";
            failure.severity(severity).key("retyped").help(help)
        }
    };
    failure.version(&has.name).path(path)
}
