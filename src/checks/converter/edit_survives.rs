//! Clients of an old version change one field, and nothing else may move.

use super::shared::{about, declared, differs, each, edited, schema_of};
use super::shared_keyed::moved_between_items;
use crate::checks::shared_difference::differences;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{Act, Edit};

pub(crate) const CHECK: Check = Check {
    id: "converter/edit-survives",
    title: "a change made at another version survives, and changes nothing else",
    why: "Controllers and people of the old version read, change and write back. A converter that restores a \
          stash over their change, or by position in a list, undoes their work or gives data to the wrong \
          item.",
    source: &[
        "docs/api-server-behaviour.md#data-kept-in-annotations-goes-stale",
        "https://github.com/kubernetes-sigs/cluster-api/commit/56fb8e15e1",
        "https://github.com/deckhouse/deckhouse/pull/21157",
    ],
    severity: Severity::Error,
    since: None,
    help: "restore from a stash only what the other version cannot hold, and match list items by key",
    needs: &[Need::Trials],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |tell, trial| {
        for (there, back) in trial.round_trips().filter(|_| trial.fit.is_valid()) {
            // Where the object does not even survive untouched, other checks speak.
            if back.leg.served() != Some(&trial.input) {
                continue;
            }
            for edit_step in trial.after(there.number) {
                let Act::Edit(edit) = &edit_step.leg.act else { continue };
                let written = trial.after(edit_step.number).find(|step| step.leg.to == trial.version);
                let (Some(written), Some(sent)) = (written, edit_step.leg.served()) else { continue };
                if *edit == Edit::Strip {
                    continue;
                }
                tell.examined();
                let on = || format!("after an object read at {} was written {}", there.leg.to, edited(edit));
                let Some(stored) = written.leg.served() else {
                    let why = written.leg.complaint().unwrap_or_default();
                    let message = format!("an object of {} {} is refused: {why}", there.leg.to, edited(edit));
                    tell.breach(about(evidence, trial, written.number, message));
                    continue;
                };
                if *edit == Edit::Label
                    && let Some(meant) = Edit::add_label(&trial.input)
                {
                    for difference in differences(&meant, stored) {
                        tell.breach(differs(evidence, trial, written.number, &difference, &on()));
                    }
                }
                if matches!(edit, Edit::Reverse(_) | Edit::Remove(_)) {
                    let schema = schema_of(evidence, &trial.version);
                    for difference in moved_between_items(schema, &trial.input, stored) {
                        tell.breach(differs(evidence, trial, written.number, &difference, &on()));
                    }
                }
                let reread = trial.after(written.number).find(|step| step.leg.to == there.leg.to);
                let Some((reread, again)) = reread.and_then(|step| Some((step, step.leg.served()?))) else { continue };
                for difference in differences(sent, again).iter().filter(|difference| difference.is_content()) {
                    if !declared(evidence, trial, reread.number, &difference.pointer) {
                        let on = format!("on the way {} {}", trial.route(reread.number), on());
                        tell.breach(differs(evidence, trial, reread.number, difference, &on));
                    }
                }
            }
        }
    })
}
