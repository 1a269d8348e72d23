//! At which version an object was created must not matter.

use super::shared::{about, declared, differs, each};
use crate::checks::shared_difference::{Kind, differences};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Act, Edit};

pub(crate) const CHECK: Check = Check {
    id: "converter/birth-version-irrelevant",
    title: "an object that was never converted before converts as well as one that was",
    why: "A stash is only there if the object was converted once. Objects that are created at the new version, \
          or lose the annotation, have none.",
    source: &[
        "docs/api-server-behaviour.md#data-kept-in-annotations-goes-stale",
        "https://github.com/kubernetes-sigs/cluster-api-provider-openstack/issues/2083",
        "https://github.com/kubernetes-sigs/cluster-api/issues/9384",
    ],
    severity: Severity::Error,
    since: None,
    help: "derive what can be derived, and use the stash only for what cannot",
    needs: &[Need::Trials],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |tell, trial| {
        for (there, back) in trial.round_trips().filter(|_| trial.fit.is_valid()) {
            if back.leg.served() != Some(&trial.input) {
                continue;
            }
            let stripped = trial.after(there.number).find(|step| step.leg.act == Act::Edit(Edit::Strip));
            let Some(stripped) = stripped else { continue };
            let Some(born) = stripped.leg.served() else { continue };
            let Some(read) = trial.after(stripped.number).find(|step| step.leg.to == trial.version) else { continue };
            tell.examined();
            if let Some(why) = read.leg.complaint() {
                let message =
                    format!("an object of {} without the converter's annotations is refused: {why}", there.leg.to);
                tell.breach(about(evidence, trial, read.number, message));
                continue;
            }
            let reread = trial.after(read.number).find(|step| step.leg.to == there.leg.to);
            let Some((reread, again)) = reread.and_then(|step| Some((step, step.leg.served()?))) else { continue };
            for difference in differences(born, again).iter().filter(|difference| difference.is_content()) {
                let lossy = matches!(difference.kind(), Kind::Lost | Kind::Changed);
                if lossy && !declared(evidence, trial, reread.number, &difference.pointer) {
                    let on =
                        format!("of an object born at {} that is read and written at {}", there.leg.to, trial.version);
                    tell.breach(differs(evidence, trial, reread.number, difference, &on));
                }
            }
        }
    })
}
