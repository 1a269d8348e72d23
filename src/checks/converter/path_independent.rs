//! The versions on an object's route must not matter.

use crate::checks::{Check, Evidence, Need, Severity, Verdict};

use super::shared::{declared, differs, each, schema_of};
use crate::checks::shared_difference::{Kind, differences};
use crate::evidence::Act;

pub(crate) const CHECK: Check = Check {
    id: "converter/path-independent",
    title: "a conversion through a third version gives the same object",
    why: "The route of a conversion depends on the stored version and on the reader. API servers compute field \
          ownership through the stored version, so a difference moves fields between owners.",
    source: &[
        "https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apimachinery/pkg/util/managedfields/internal/versionconverter.go",
        "docs/api-server-behaviour.md#the-route-must-not-matter",
    ],
    severity: Severity::Error,
    since: None,
    help: "derive every pair from conversions to and from one hub version",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    if evidence.crd.versions.len() < 3 {
        return Verdict::Passed { examined: evidence.conversion_runs.len().max(1) };
    }
    each(evidence, |collector, conversion_run| {
        if !conversion_run.fit.is_valid() {
            return;
        }
        for first in conversion_run.first_conversions() {
            for second in conversion_run.after(first.number) {
                let to = &second.hop.to;
                let direct = conversion_run.first_conversions().find(|step| step.hop.to == *to);
                if second.hop.act != Act::Convert {
                    continue;
                }
                let (Some(direct), Some(detour)) = (direct.and_then(|step| step.hop.served()), second.hop.served())
                else {
                    continue;
                };
                collector.examined();
                let schema = schema_of(evidence, to);
                for difference in differences(direct, detour).iter().filter(|difference| difference.is_content()) {
                    let kind = difference.kind(schema);
                    if kind == Kind::Representation {
                        continue;
                    }
                    if !(kind.is_loss() && declared(evidence, conversion_run, second.number, &difference.pointer)) {
                        let on = format!("by way of {}, compared with {}→{to}", first.hop.to, conversion_run.version);
                        collector.failure(differs(evidence, conversion_run, second.number, difference, &on));
                    }
                }
            }
        }
    })
}
