//! Labels and annotations are the only metadata that a converter can lose.

use super::shared::{about, each};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::Decoration;

pub(crate) const CHECK: Check = Check {
    id: "converter/labels-and-annotations-kept",
    title: "labels and annotations come through",
    why: "API servers take labels and annotations from the answer: what is missing there is deleted. Selectors \
          stop matching, and tools lose their state.",
    source: &[
        "https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go",
        "docs/api-server-behaviour.md#labels-and-annotations-are-taken-from-the-response",
    ],
    severity: Severity::Error,
    since: None,
    help: "copy all labels and annotations, and remove only annotations of your own",
    needs: &[Need::Trials],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |tell, trial| {
        for step in trial.conversions() {
            let Some(answer) = step.leg.answer() else { continue };
            for kind in [Decoration::Labels, Decoration::Annotations] {
                if !step.sent.is_decorated(kind) {
                    continue;
                }
                tell.examined();
                let surely_kept = match kind {
                    Decoration::Labels => answer.surely_keeps_metadata(step.sent),
                    Decoration::Annotations => step.sent.surely_shares_annotations(&answer.raw),
                };
                if surely_kept {
                    continue;
                }
                let [sent, born, now] = [step.sent, &trial.input, &answer.raw].map(|object| object.decoration(kind));
                // Annotations that an earlier conversion added are the converter's own.
                let kept = sent.iter().filter(|(key, _)| kind == Decoration::Labels || born.contains_key(*key));
                let Some((key, value)) = kept.into_iter().find(|(key, value)| now.get(*key) != Some(value)) else {
                    continue;
                };
                let route = trial.route(step.number);
                let became = now.get(key).map_or("is lost".to_owned(), |_| "is changed".to_owned());
                let (name, what) = (kind.name(), kind.name().trim_end_matches('s'));
                let shown = evidence.mask(None, &serde_json::json!({ key: value }));
                let message = format!("the {what} {shown} {became} by {route}");
                let breach = about(evidence, trial, step.number, message).key(format!("{route} {name}"));
                tell.breach(crate::checks::Breach { path: Some(format!(".metadata.{name}")), ..breach });
            }
        }
    })
}
