//! The endpoint speaks TLS with a certificate that API servers accept, today and for a while.

use jiff::civil::Date;

use super::shared::failure;
use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::evidence::{Certificate, Outcome, Purpose, Transport};
use crate::subject::Crd;

pub(crate) const CHECK: Check = Check {
    id: "webhook/certificate-trusted",
    title: "the endpoint's certificate is trusted, covers the requested name, and does not expire soon",
    why: "API servers connect over TLS only. With a wrong certificate, every read and write that needs conversion \
          fails with an x509 error.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#configure-customresourcedefinition-to-use-conversion-webhooks",
        "docs/api-server-behaviour.md#the-certificate-must-name-the-service",
        "https://github.com/dash0hq/dash0-operator/issues/1232",
    ],
    severity: Severity::Error,
    since: None,
    help: "serve a certificate for SERVICE.NAMESPACE.svc that is signed by the CRD's caBundle, and rotate both \
           together",
    needs: &[Need::Exchanges],
    judge,
};

/// A certificate that expires within this many days is reported.
const NOTICE_DAYS: i64 = 30;

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut failures = Vec::new();
    let mut examined = 0;
    for exchange in evidence.exchanges.iter().filter(|exchange| exchange.ask == Purpose::Certificate) {
        let Outcome::Met(transport) = &exchange.outcome else { continue };
        examined += 1;
        match &**transport {
            Transport::Plain => {
                let message = "the endpoint serves plain HTTP; API servers use HTTPS only";
                failures.push(failure(message, "plain").help("serve HTTPS, with a certificate and its key"));
            }
            Transport::Tls(certificate) => {
                let found =
                    [trust(certificate), name(certificate, evidence.crd), validity(certificate, evidence.today)];
                failures.extend(found.into_iter().flatten().map(|failure| failure.evidence(shown(certificate))));
            }
        }
    }
    if examined == 0 {
        return Verdict::Inconclusive("the endpoint sent no certificate".into());
    }
    Verdict::from_failures(failures, examined)
}

fn trust(certificate: &Certificate) -> Option<Failure> {
    let why = certificate.untrusted.as_ref()?;
    let (subject, issuer, authorities) = (&certificate.subject, &certificate.issuer, &certificate.authorities);
    let message = format!("the certificate {subject:?}, issued by {issuer:?}, is not trusted by {authorities}: {why}");
    Some(failure(message, "untrusted").help("sign it with a CA of the CRD's caBundle, or name its CA in `caFile`"))
}

/// Checks that one of its names matches: that of the CRD, or that of the request.
fn name(certificate: &Certificate, crd: &Crd) -> Option<Failure> {
    let expected = expected(crd);
    let good = |host: &str| certificate.names.iter().any(|name| covers(name, host));
    if good(&certificate.host) || expected.as_deref().is_some_and(good) {
        return None;
    }
    let asked = match expected {
        Some(expected) if expected != certificate.host => {
            format!("API servers connect to {expected}, and crdproof connected to {}", certificate.host)
        }
        _ => format!("API servers connect to {}", certificate.host),
    };
    let names = match certificate.names.as_slice() {
        [] => format!("names no host (a common name such as {:?} does not count)", certificate.subject),
        names => format!("is for {}", names.join(", ")),
    };
    Some(failure(format!("the certificate {names}; {asked}"), "name"))
}

/// The host that API servers use for the endpoint.
fn expected(crd: &Crd) -> Option<String> {
    let client = crd.conversion.client.as_ref()?;
    if let Some(service) = &client.service {
        return Some(format!("{}.{}.svc", service.name, service.namespace));
    }
    let (url, _) = client.url.as_ref()?;
    let authority = url.split_once("://")?.1.split(['/', '?']).next()?;
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split(']').next()?,
        None => authority.split(':').next()?,
    };
    Some(host.to_owned())
}

/// Returns true if a name of a certificate covers a host; a star stands for one label.
fn covers(name: &str, host: &str) -> bool {
    let rest = |text: &str| text.split_once('.').map(|(_, rest)| rest.to_ascii_lowercase());
    match name.strip_prefix("*.") {
        Some(below) => rest(host) == Some(below.to_ascii_lowercase()) && !host.starts_with('.'),
        None => name.eq_ignore_ascii_case(host),
    }
}

fn validity(certificate: &Certificate, today: Date) -> Option<Failure> {
    let (from, until) = (certificate.from, certificate.until);
    let left = today.until(until).map_or(i64::MAX, |span| i64::from(span.get_days()));
    if from > today {
        Some(failure(format!("the certificate is not valid before {from}"), "early"))
    } else if until < today {
        Some(failure(format!("the certificate expired on {until}"), "expired"))
    } else if left <= NOTICE_DAYS {
        let ending = failure(format!("the certificate ends on {until}, in {left} days"), "ending");
        Some(ending.severity(Severity::Warning).help("rotate it before that day"))
    } else {
        None
    }
}

fn shown(certificate: &Certificate) -> String {
    format!(
        "asked:   {}\nsubject: {}\nissuer:  {}\nnames:   {}\nvalid:   {} to {}\ntrusts:  {}",
        certificate.host,
        certificate.subject,
        certificate.issuer,
        certificate.names.join(", "),
        certificate.from,
        certificate.until,
        certificate.authorities
    )
}
