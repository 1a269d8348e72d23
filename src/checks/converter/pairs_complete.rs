//! Every ordered pair of listed versions must convert, those that are not served too.

use crate::checks::{Check, Evidence, Need, Severity, Verdict};

use super::shared::about;
use crate::checks::Breach;

pub(crate) const CHECK: Check = Check {
    id: "converter/pairs-complete",
    title: "every version converts to every other one, unserved ones too",
    why: "API servers convert whatever is stored or named by managedFields to whatever is asked for. A pair that is missing makes the kind unreadable for clients of that version, for garbage collection and for migration.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/api-server-behaviour.md#unserved-versions-are-still-asked-for",
        "docs/api-server-behaviour.md#every-pair-of-versions-must-convert",
        "https://github.com/dotnet/dotnet-operator-sdk/issues/1193",
        "https://github.com/openshift-knative/serverless-operator/pull/1187",
    ],
    severity: Severity::Error,
    since: None,
    help: "convert through a hub version, and keep converters of a version for as long as the CRD lists it",
    needs: &[Need::Survey],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let names = || evidence.crd.versions.iter().map(|version| version.name.as_str());
    let mut breaches = Vec::new();
    let mut examined = 0;
    for (from, to) in names().flat_map(|from| names().map(move |to| (from, to))).filter(|(from, to)| from != to) {
        let asked: Vec<_> = evidence
            .trials
            .iter()
            .enumerate()
            .filter(|(_, trial)| trial.fit.is_valid() && *trial.version == *from)
            .flat_map(|(index, trial)| trial.first_conversions().map(move |step| (index, trial, step)))
            .filter(|(_, _, step)| *step.leg.to == *to)
            .collect();
        if asked.len() < 2 {
            continue;
        }
        examined += 1;
        let refused = asked.iter().filter_map(|(index, trial, step)| Some((index, trial, step, step.leg.complaint()?)));
        // The smallest object says it best.
        let smallest = refused.min_by_key(|(_, trial, ..)| trial.input.to_string().len());
        if let Some((index, trial, step, why)) = smallest
            && asked.iter().all(|(_, _, step)| step.leg.answer().is_none())
        {
            let unserved: Vec<_> = evidence.crd.versions.iter().filter(|version| !version.served).collect();
            let unserved = unserved.iter().find(|version| [from, to].contains(&version.name.as_str()));
            let note = unserved.map_or(String::new(), |version| {
                format!("; {} is not served, but API servers still ask for it", version.name)
            });
            let message =
                format!("no object of {from} can be converted to {to}: none of {} was; {why}{note}", asked.len());
            let breach = about(evidence, trial, step.number, message);
            breaches.push(Breach { trial: Some(*index), ..breach });
        }
    }
    if examined == 0 {
        return Verdict::Undecided("too few objects were converted; give samples, or have objects generated".into());
    }
    Verdict::from_breaches(breaches, examined)
}
