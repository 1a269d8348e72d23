//! Samples are the first objects that users apply. An API server must accept them without dropping anything.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::{Crd, Sample, Scale, Version};
use crdproof_schema::document::pointer;
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::{Outcome, Request, admit};

pub(crate) const CHECK: Check = Check {
    id: "manifest/samples-valid",
    title: "samples are valid under the schema and the rules of their version",
    why: "Users copy samples. A sample that the API server refuses does not work for them; a sample with fields that \
          are dropped seems to work.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation",
        "docs/api-server-behaviour.md#unknown-fields-are-pruned-at-every-step",
        "docs/api-server-behaviour.md#strict-writes-use-the-schema-of-the-request-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "correct the sample, or the schema if the sample is right",
    needs: &[Need::Manifest, Need::Samples],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let crd = evidence.crd;
    // The newest release is the strictest, and samples should work on every release.
    let release = KubeVersion::NEWEST;
    let mut failures = Vec::new();
    let mut inconclusive = None;
    let mut examined = 0;
    for sample in evidence.subject.samples_of(crd) {
        examined += 1;
        let name = sample.group_version().1;
        let Some(version) = crd.version(name).filter(|version| version.served) else {
            let message = format!("the sample {} is of version {name}, which is not served", sample.name());
            failures.push(Failure::new(message).at(sample.node.nearest("/apiVersion").span).version(name));
            continue;
        };
        match judge_sample(crd, version, sample, release) {
            Ok(found) => failures.extend(found),
            Err(reason) => inconclusive = Some(reason),
        }
    }
    match inconclusive {
        Some(reason) if failures.is_empty() => Verdict::Inconclusive(reason),
        _ => Verdict::from_failures(failures, examined),
    }
}

/// `Err` if a rule could not be evaluated.
fn judge_sample(crd: &Crd, version: &Version, sample: &Sample, release: KubeVersion) -> Result<Vec<Failure>, String> {
    let Some(schema) = &version.schema else { return Ok(Vec::new()) };
    let request = Request {
        object: &sample.object,
        old: None,
        group: &crd.group,
        version: &version.name,
        kind: &crd.names.kind,
        namespaced: crd.is_namespaced(),
        status_subresource: version.status.is_some(),
        scale: version.scale.as_ref().and_then(Scale::paths),
    };
    let admission = admit(schema, release, &request);
    let failure = |message: String, pointer: &str| {
        Failure::new(message).at(sample.node.nearest(pointer).span).version(&version.name)
    };
    let mut failures = Vec::new();
    for dropped in &admission.pruned {
        let message = format!(
            "the sample {} sets {dropped}, which {} does not know: the API server drops it",
            sample.name(),
            version.name
        );
        let mut found = failure(message, &pointer::of_path(dropped));
        found.path = Some(dropped.clone());
        failures.push(found);
    }
    match admission.outcome {
        Outcome::Admitted => {}
        Outcome::Malformed(why) => {
            failures.push(failure(format!("the sample {} cannot be read: {why}", sample.name()), ""));
        }
        Outcome::Refused(violations) => failures.extend(violations.into_iter().map(|violation| {
            let field = violation.path().map(|path| format!("{path}: ")).unwrap_or_default();
            let message = format!("the sample {} is refused: {field}{}", sample.name(), violation.message);
            let clause = format!("of samples are refused: {}", violation.message);
            let found =
                failure(message, &violation.pointer).complaint(&violation.message).together(&violation.message, clause);
            Failure { path: violation.path(), ..found.key(sample.name()) }
        })),
    }
    match admission.inconclusive.first() {
        Some(rule) if failures.is_empty() => {
            Err(format!("the sample {} meets a rule that cannot be evaluated here: {}", sample.name(), rule.why))
        }
        _ => Ok(failures),
    }
}
