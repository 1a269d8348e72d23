//! Server-side apply removes fields that its manager owned and no longer applies. The injected `caBundle` belongs to
//! another manager, so a webhook without a strategy remains, and the server refuses that.

use super::shared;
use crate::checks::{Check, Evidence, Need, Severity, Verdict};

pub(crate) const CHECK: Check = Check {
    id: "upgrade/conversion-explicit",
    title: "a removed conversion webhook is replaced by an explicit strategy None",
    why: "If a CA injector owns caBundle, applying a CRD that only omits `conversion` fails with \
          \"spec.conversion.strategy: Required value\", and the upgrade stops half-way.",
    source: &[
        "docs/api-server-behaviour.md#dropping-the-conversion-stanza-by-apply-fails",
        "https://github.com/kubernetes/kubernetes/issues/108081",
        "https://github.com/cert-manager/cert-manager/issues/4831",
        "https://github.com/knative/operator/issues/1131",
    ],
    severity: Severity::Error,
    since: None,
    help: "write `conversion: {strategy: None}`",
    needs: &[Need::Baseline],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let new = evidence.crd;
    let old = match shared::old_state(evidence) {
        Ok(old) => old,
        Err(verdict) => return verdict,
    };
    let conversion = &new.conversion;
    let webhook_before = old.conversion.strategy == "Webhook";
    if !webhook_before || (conversion.stated && !conversion.strategy.is_empty()) {
        return Verdict::Passed { examined: 1 };
    }
    let (message, span) = if conversion.stated {
        ("the conversion webhook was removed, and `conversion` has no `strategy`", conversion.span)
    } else {
        // The whole spec would be too large a location; its name is where the stanza is missing.
        let span = new.node.entry("spec").map_or(new.node.span, |entry| entry.key_span);
        ("the conversion webhook was removed, and no strategy replaces it", span)
    };
    let failure =
        shared::changed(message).at(span).related(old.conversion.span, "the webhook was declared here").key("unstated");
    Verdict::Failed(vec![failure])
}
