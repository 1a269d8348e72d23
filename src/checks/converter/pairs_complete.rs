//! Every ordered pair of listed versions must convert, including versions that are not served.

use crate::checks::{Check, Evidence, Need, Severity, Verdict};

use super::shared::about;
use crate::checks::Failure;

pub(crate) const CHECK: Check = Check {
    id: "converter/pairs-complete",
    title: "every version converts to every other version, including unserved ones",
    why: "API servers convert from any stored version, and from any version in managedFields, to the requested one. \
          A missing pair makes the kind unreadable for clients of that version, garbage collection and migration.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#unserved-versions-are-still-asked-for",
        "docs/api-server-behaviour.md#every-pair-of-versions-must-convert",
        "https://github.com/dotnet/dotnet-operator-sdk/issues/1193",
        "https://github.com/openshift-knative/serverless-operator/pull/1187",
    ],
    severity: Severity::Error,
    since: None,
    help: "convert through a hub version, and keep the converter of a version for as long as the CRD lists it",
    needs: &[Need::Survey],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let names = || evidence.crd.versions.iter().map(|version| version.name.as_str());
    let mut failures = Vec::new();
    let mut examined = 0;
    for (from, to) in names().flat_map(|from| names().map(move |to| (from, to))).filter(|(from, to)| from != to) {
        let asked: Vec<_> = evidence
            .conversion_runs
            .iter()
            .enumerate()
            .filter(|(_, conversion_run)| conversion_run.fit.is_valid() && *conversion_run.version == *from)
            .flat_map(|(index, conversion_run)| {
                conversion_run.first_conversions().map(move |step| (index, conversion_run, step))
            })
            .filter(|(_, _, step)| *step.hop.to == *to)
            .collect();
        if asked.len() < 2 {
            continue;
        }
        examined += 1;
        let refused = asked
            .iter()
            .filter_map(|(index, conversion_run, step)| Some((index, conversion_run, step, step.hop.complaint()?)));
        // The smallest object is the best example.
        let smallest = refused.min_by_key(|(_, conversion_run, ..)| conversion_run.input.to_string().len());
        if let Some((index, conversion_run, step, why)) = smallest
            && asked.iter().all(|(_, _, step)| step.hop.answer().is_none())
        {
            let unserved: Vec<_> = evidence.crd.versions.iter().filter(|version| !version.served).collect();
            let unserved = unserved.iter().find(|version| [from, to].contains(&version.name.as_str()));
            let note = unserved.map_or(String::new(), |version| {
                format!("; {} is not served, but API servers still ask for it", version.name)
            });
            let message =
                format!("no object of {from} can be converted to {to}: none of {} was; {why}{note}", asked.len());
            let failure = about(evidence, conversion_run, step.number, message);
            // Who gives no answer at all breaks more than this. A refusal is about this pair.
            let failure = if step.hop.reply.crash().is_some() { failure.complaint(why) } else { failure };
            failures.push(Failure { conversion_run: Some(*index), ..failure });
        }
    }
    if examined == 0 {
        return Verdict::Inconclusive("too few objects were converted (add samples, or use --objects)".into());
    }
    Verdict::from_failures(failures, examined)
}
