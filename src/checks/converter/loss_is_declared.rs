//! An accepted loss has an expiry date.

use super::shared::{about, each, schema_of};
use crate::checks::Failure;
use crate::checks::shared_difference::{differences, field};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "converter/loss-is-declared",
    title: "every loss is declared, with a date that has not passed",
    why: "A declared loss is an agreement with clients until its date. After that date, a field that is still lost \
          is an undeclared loss.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/",
        "docs/field-maps.md#lost-only-in-one-version-given-up",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep the field, or agree on a new date with its users",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let maps: Vec<_> = evidence.subject.field_maps_of(evidence.crd).collect();
    each(evidence, |collector, conversion_run| {
        for (_, back) in conversion_run.round_trips().filter(|_| conversion_run.fit.is_valid()) {
            let Some(served) = back.hop.served() else { continue };
            collector.examined();
            for difference in differences(&conversion_run.input, served) {
                if !difference.kind(schema_of(evidence, &conversion_run.version)).is_loss() {
                    continue;
                }
                let by_path = evidence.subject.file.losses.iter().enumerate();
                for (index, loss) in by_path.filter(|(_, loss)| loss.expires < evidence.today) {
                    if loss.covers(evidence.crd, &field(&difference.pointer)) {
                        let path = loss.path.as_str();
                        let message = format!("{path} is still lost, which was accepted until {}", loss.expires);
                        let failure = about(evidence, conversion_run, back.number, message).key(format!("{index}"));
                        let span = evidence.subject.file_span(&format!("/losses/{index}/expires"));
                        collector.failure(Failure { path: Some(path.to_owned()), span, ..failure });
                    }
                }
                let (lost, way) = (field(&difference.pointer), conversion_run.way(back.number));
                for (map_index, map) in &maps {
                    for (index, loss) in map.lost.iter().enumerate().filter(|(_, loss)| loss.until < evidence.today) {
                        let applies = way.windows(2).any(|pair| loss.covers(pair[0], pair[1], &lost));
                        if applies {
                            let message = format!(
                                "{} is still lost from {} to {}, which was accepted until {}",
                                loss.path, loss.from, loss.to, loss.until
                            );
                            let failure = about(evidence, conversion_run, back.number, message)
                                .key(format!("{map_index} {index}"));
                            let span =
                                evidence.subject.file_span(&format!("/fieldMaps/{map_index}/lost/{index}/until"));
                            collector.failure(Failure { path: Some(loss.path.clone()), span, ..failure });
                        }
                    }
                }
            }
        }
    })
}
