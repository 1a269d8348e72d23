//! The version at which an object was created must not matter.

use super::shared::{complains, declared, differs, each, schema_of};
use crate::checks::shared_difference::differences;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Act, Edit};

pub(crate) const CHECK: Check = Check {
    id: "converter/birth-version-irrelevant",
    title: "an object that was never converted before converts as well as one that was",
    why: "A stash annotation exists only on objects that were converted before. Objects created at the new version, \
          or stripped of the annotation, do not have it.",
    source: &[
        "docs/api-server-behaviour.md#data-kept-in-annotations-goes-stale",
        "https://github.com/kubernetes-sigs/cluster-api-provider-openstack/issues/2083",
        "https://github.com/kubernetes-sigs/cluster-api/issues/9384",
    ],
    severity: Severity::Error,
    since: None,
    help: "derive every value that can be derived, and use the stash only for the rest",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        for (there, back) in conversion_run.round_trips().filter(|_| conversion_run.fit.is_valid()) {
            if back.hop.served() != Some(&conversion_run.input) {
                continue;
            }
            let stripped = conversion_run.after(there.number).find(|step| step.hop.act == Act::Edit(Edit::Strip));
            let Some(stripped) = stripped else { continue };
            let Some(born) = stripped.hop.served() else { continue };
            let Some(read) = conversion_run.after(stripped.number).find(|step| step.hop.to == conversion_run.version)
            else {
                continue;
            };
            collector.examined();
            if let Some(why) = read.hop.complaint() {
                let message =
                    format!("an object of {} without the converter's annotations is refused: {why}", there.hop.to);
                collector.failure(complains(evidence, conversion_run, read.number, message, why));
                continue;
            }
            let reread = conversion_run.after(read.number).find(|step| step.hop.to == there.hop.to);
            let Some((reread, again)) = reread.and_then(|step| Some((step, step.hop.served()?))) else { continue };
            let schema = schema_of(evidence, &there.hop.to);
            for difference in differences(born, again).iter().filter(|difference| difference.is_content()) {
                if difference.kind(schema).is_loss()
                    && !declared(evidence, conversion_run, reread.number, &difference.pointer)
                {
                    let on = format!(
                        "of an object created at {} that is read and written at {}",
                        there.hop.to, conversion_run.version
                    );
                    collector.failure(differs(evidence, conversion_run, reread.number, difference, &on));
                }
            }
        }
    })
}
