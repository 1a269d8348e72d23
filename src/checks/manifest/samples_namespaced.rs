//! Server-side appliers refuse namespaced objects without a namespace.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::Sample;

pub(crate) const CHECK: Check = Check {
    id: "manifest/samples-namespaced",
    title: "samples of namespaced kinds set metadata.namespace, and samples of cluster-scoped kinds do not",
    why: "Clients that use server-side apply without a current namespace refuse such an object, or create it in an \
          unexpected namespace.",
    source: &["https://fluxcd.io/blog/2021/09/server-side-reconciliation-is-coming/"],
    severity: Severity::Note,
    since: None,
    help: "set metadata.namespace in the sample, or remove it for a cluster-scoped kind",
    needs: &[Need::Manifest, Need::Samples],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    let kind = &crd.names.kind;
    let samples: Vec<&Sample> = evidence.subject.samples_of(crd).collect();
    let has_namespace = |sample: &Sample| {
        sample.object["metadata"]["namespace"].as_str().is_some_and(|namespace| !namespace.is_empty())
    };
    let wrong: Vec<&Sample> =
        samples.iter().copied().filter(|sample| has_namespace(sample) != crd.is_namespaced()).collect();
    let (sets, scope) =
        if crd.is_namespaced() { ("no namespace", "namespaced") } else { ("a namespace", "cluster-wide") };
    let place = |sample: &Sample| sample.node.nearest("/metadata/namespace").span;
    let message = match wrong.as_slice() {
        [] => return Verdict::Passed { examined: samples.len() },
        [sample] => format!("the sample {} sets {sets}, but {kind} is {scope}", sample.name()),
        several => {
            let name = |sample: &&Sample| format!("{} ({})", sample.name(), sample.group_version().1);
            let names: Vec<String> = several.iter().map(name).collect();
            format!("{} samples set {sets}, but {kind} is {scope}: {}", several.len(), names.join(", "))
        }
    };
    let (first, others) = (wrong[0], &wrong[1..]);
    // One habit is one finding, however many samples follow it.
    let failure = Failure::new(message).at(place(first)).version(first.group_version().1).key(sets);
    let failure = others.iter().fold(failure, |failure, sample| failure.related(place(sample), "and here"));
    Verdict::from_failures(vec![failure], samples.len())
}
