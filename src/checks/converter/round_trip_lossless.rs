//! An object that is converted to another version and back must be unchanged.

use crate::checks::{Check, Evidence, Need, Severity, Verdict};

use super::shared::{complains, declared, differs, each, schema_of};
use crate::checks::shared_difference::differences_in;

pub(crate) const CHECK: Check = Check {
    id: "converter/round-trip-lossless",
    title: "a round trip through any version loses nothing",
    why: "API servers convert on every read and write at another version. A value that a round trip loses is lost \
          for all clients, without an error.",
    source: &[
        "https://book.kubebuilder.io/multiversion-tutorial/conversion-concepts",
        "docs/api-server-behaviour.md#a-round-trip-returns-the-same-object",
        "https://github.com/tektoncd/pipeline/commit/2952a154c",
        "https://github.com/tektoncd/pipeline/commit/0e1b1a31c",
    ],
    severity: Severity::Error,
    since: None,
    help: "keep the field on the way through the other version: add it there, or stash it in an annotation",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        if !conversion_run.fit.is_valid() {
            return;
        }
        for (there, back) in conversion_run.round_trips() {
            collector.examined();
            let Some(served) = back.hop.served() else {
                let why = back.hop.complaint().unwrap_or_default();
                let message = format!(
                    "what became {} cannot be converted back to {}: {why}",
                    there.hop.to, conversion_run.version
                );
                collector.failure(complains(evidence, conversion_run, back.number, message, why));
                continue;
            };
            let schema = schema_of(evidence, &conversion_run.version);
            for difference in differences_in(schema, &conversion_run.input, served) {
                if difference.kind(schema).is_loss()
                    && difference.is_content()
                    && !declared(evidence, conversion_run, back.number, &difference.pointer)
                {
                    let on = format!("on the way {}", conversion_run.route(back.number));
                    collector.failure(differs(evidence, conversion_run, back.number, &difference, &on));
                }
            }
        }
    })
}
