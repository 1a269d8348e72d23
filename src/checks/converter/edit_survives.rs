//! Clients of an old version change one field, and nothing else may change.

use super::shared::{complains, declared, differs, each, edited, schema_of};
use super::shared_keyed::moved_between_items;
use crate::checks::shared_difference::{Difference, Kind, differences};
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::evidence::{Act, Edit};

pub(crate) const CHECK: Check = Check {
    id: "converter/edit-survives",
    title: "a change made at another version survives, and changes nothing else",
    why: "Clients of the old version read an object, change it and write it back. A converter that restores stashed \
          values over their change, or restores list items by position, undoes their work or assigns data to the \
          wrong item.",
    source: &[
        "docs/api-server-behaviour.md#data-kept-in-annotations-goes-stale",
        "https://github.com/kubernetes-sigs/cluster-api/commit/56fb8e15e1",
        "https://github.com/deckhouse/deckhouse/pull/21157",
    ],
    severity: Severity::Error,
    since: None,
    help: "restore from a stash only what the other version cannot represent, and match list items by key",
    needs: &[Need::ConversionRuns],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    each(evidence, |collector, conversion_run| {
        for (there, back) in conversion_run.round_trips().filter(|_| conversion_run.fit.is_valid()) {
            // Other checks report objects that do not even survive without an edit.
            if back.hop.served() != Some(&conversion_run.input) {
                continue;
            }
            for edit_step in conversion_run.after(there.number) {
                let Act::Edit(edit) = &edit_step.hop.act else { continue };
                let written = conversion_run.after(edit_step.number).find(|step| step.hop.to == conversion_run.version);
                let (Some(written), Some(sent)) = (written, edit_step.hop.served()) else { continue };
                if *edit == Edit::Strip {
                    continue;
                }
                collector.examined();
                let on = || format!("after an object read at {} was written {}", there.hop.to, edited(edit));
                let together = |failure: Failure| {
                    let clause = format!("are not what a client of {} wrote", there.hop.to);
                    failure.together(&*there.hop.to, clause)
                };
                let Some(stored) = written.hop.served() else {
                    // Another check reports a value that the converter refuses; a crash is reported here.
                    if let Some(why) = written.hop.reply.crash() {
                        let message = format!("an object of {} {} is refused: {why}", there.hop.to, edited(edit));
                        collector.failure(complains(evidence, conversion_run, written.number, message, why));
                    }
                    continue;
                };
                let own = schema_of(evidence, &conversion_run.version);
                let found = |difference: &Difference<'_>| {
                    together(differs(evidence, conversion_run, written.number, difference, &on()))
                };
                if *edit == Edit::Label
                    && let Some(meant) = Edit::add_label(&conversion_run.input)
                {
                    for difference in differences(&meant, stored) {
                        if difference.kind(own) != Kind::Representation {
                            collector.failure(found(&difference));
                        }
                    }
                }
                if let Edit::Reverse(pointer) | Edit::Remove(pointer) = edit {
                    for difference in moved_between_items(own, &conversion_run.input, stored, is_nested(pointer)) {
                        collector.failure(found(&difference));
                    }
                }
                let reread = conversion_run.after(written.number).find(|step| step.hop.to == there.hop.to);
                let Some((reread, again)) = reread.and_then(|step| Some((step, step.hop.served()?))) else { continue };
                let other = schema_of(evidence, &there.hop.to);
                for difference in differences(sent, again).iter().filter(|difference| difference.is_content()) {
                    if difference.kind(other) != Kind::Representation
                        && !declared(evidence, conversion_run, reread.number, &difference.pointer)
                    {
                        let on = format!("on the way {} {}", conversion_run.route(reread.number), on());
                        collector.failure(together(differs(evidence, conversion_run, reread.number, difference, &on)));
                    }
                }
            }
        }
    })
}

/// Returns true if a list is inside an item of another one.
fn is_nested(pointer: &str) -> bool {
    pointer.split('/').skip(1).any(|part| part.parse::<usize>().is_ok())
}
