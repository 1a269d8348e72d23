//! An object that needs no conversion is returned or refused with a reason.

use super::shared::{self, failure};
use crate::checks::{Check, Evidence, Need, Severity, Verdict};
use crate::evidence::{NotConverted, Purpose};

pub(crate) const CHECK: Check = Check {
    id: "webhook/same-version-explained",
    title: "an object that already has the desired version is returned unchanged, or refused with a reason",
    why: "API servers do not send such requests, but tools that replay reviews do. A failure without a message is \
          hard to debug.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response",
        "docs/api-server-behaviour.md#objects-at-the-desired-version-are-not-sent",
        "https://github.com/stackabletech/operator-rs/commit/7d83ffe7",
    ],
    severity: Severity::Note,
    since: None,
    help: "return the object unchanged, or respond with Failure and a message",
    needs: &[Need::Exchanges],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    shared::each(
        evidence,
        |exchange| exchange.ask == Purpose::SameVersion,
        |exchange| match exchange.converted() {
            Ok(converted) => {
                let sent = exchange.review()["request"]["objects"].clone();
                let same = sent.as_array() == Some(&converted);
                (!same)
                    .then(|| failure("the object came back changed although its version is the desired one", "changed"))
            }
            Err(why) => {
                let is_explained = matches!(&why, NotConverted::Refused(why) if why != "Failure: without a message");
                (!is_explained).then(|| failure(format!("answered by {why}"), "unexplained"))
            }
        },
    )
}
