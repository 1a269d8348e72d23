//! The CA bundle of a conversion webhook must contain certificates that are valid for a while.

use jiff::civil::Date;

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::Bundle;

pub(crate) const CHECK: Check = Check {
    id: "manifest/ca-bundle-usable",
    title: "caBundle can be decoded, holds certificates, and none of them expires soon",
    why: "A CRD with an invalid caBundle never becomes Established (from Kubernetes 1.31), or fails every read that \
          needs conversion. With an expired certificate, that happens overnight.",
    source: &[
        "https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/",
        "docs/api-server-behaviour.md#the-ca-bundle-must-be-usable",
        "https://github.com/kubernetes/kubernetes/issues/123835",
        "https://github.com/cert-manager/cert-manager/issues/3430",
    ],
    severity: Severity::Error,
    since: None,
    help: "set caBundle to the base64-encoded PEM certificates of the webhook's CA, or let a CA injector set it",
    needs: &[Need::Manifest],
    judge,
};

/// A certificate that expires within this many days is reported.
const NOTICE_DAYS: i64 = 30;

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let conversion = &evidence.crd.conversion;
    let Some((bundle, span)) = conversion.client.as_ref().and_then(|client| client.ca_bundle.as_ref()) else {
        return Verdict::Passed { examined: 1 };
    };
    let failures: Vec<_> = match Bundle::read(bundle) {
        Bundle::Blank if evidence.minimum().is_some_and(|minimum| minimum.at_least(34)) => Vec::new(),
        Bundle::Blank => {
            let message =
                "caBundle is blank; Kubernetes 1.31 to 1.33 do not establish such a CRD until a CA is injected";
            let help = "leave caBundle out and let the CA injector add it";
            vec![Failure::new(message).key("blank").help(help).severity(Severity::Warning)]
        }
        Bundle::Unreadable(why) => vec![Failure::new(format!("caBundle {why}")).key("unreadable")],
        Bundle::Certificates(certificates) => {
            certificates.into_iter().filter_map(|(name, end)| expiry(&name, end, evidence.today)).collect()
        }
    };
    Verdict::from_failures(failures.into_iter().map(|failure| failure.at(*span)).collect(), 1)
}

fn expiry(name: &str, end: Date, today: Date) -> Option<Failure> {
    let left = today.until(end).map_or(i64::MAX, |span| i64::from(span.get_days()));
    if end < today {
        Some(
            Failure::new(format!("the certificate {name:?} in caBundle expired on {end}"))
                .key(format!("expired {name}")),
        )
    } else if left <= NOTICE_DAYS {
        let failure = Failure::new(format!("the certificate {name:?} in caBundle ends on {end}, in {left} days"));
        Some(failure.key(format!("ending {name}")).severity(Severity::Warning).help("rotate it before that day"))
    } else {
        None
    }
}
