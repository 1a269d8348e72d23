//! Webhooks with wrong certificates, or none: the certificate is a finding, and all other checks still run.

use std::net::SocketAddr;

use crdproof::converter::proxy::{Credentials, Listener};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::cli::{Ended, crdproof};
use crate::webhook::{broken, right, subject};

/// A certificate for these names that expires in this many days, with the authority that signed it.
fn credentials(names: &[&str], days: i64) -> Credentials {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.distinguished_name.push(DnType::CommonName, "an authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let signed = authority.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(authority, key);
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, "the hook");
    let end = jiff::Zoned::now().date().saturating_add(jiff::Span::new().days(days));
    let (year, month, day) = (i32::from(end.year()), end.month().unsigned_abs(), end.day().unsigned_abs());
    params.not_after = rcgen::date_time_ymd(year, month, day);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap().pem();
    Credentials::Given { certificate, key: key.serialize_pem(), authority: signed }
}

/// Runs the webhook suite against a correct handler with these credentials. `named` puts the authority into the subject
/// file.
fn judge_webhook(credentials: Credentials, named: bool) -> Ended {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let handler = |call: crdproof::converter::proxy::Call| right(&call);
    let listener = runtime.block_on(Listener::bind(address, credentials, handler)).unwrap();
    let url = format!("https://{}/convert", listener.address());
    let folder = subject(&url, named.then(|| listener.authority()));
    crdproof(folder.path(), &["run", "--suite", "webhook", "--report", "json"])
}

/// Asserts that only the certificate check fails, with these words, and that the other checks ran.
#[track_caller]
fn only_the_certificate(ended: Ended, code: i32, words: &[&str]) {
    let ended = ended.says(code, words);
    assert_eq!(broken(&ended), ["webhook/certificate-trusted"], "{}", ended.stderr);
    let report = ended.json();
    let held = report["results"].as_array().unwrap().iter().filter(|result| result["outcome"] == "passed").count();
    assert!(held >= 15, "only {held} held: {}", ended.stderr);
}

#[test]
fn a_valid_certificate_passes() {
    let ended = judge_webhook(credentials(&["127.0.0.1"], 90), true).says(0, &[]);
    assert_eq!(broken(&ended), Vec::<String>::new());
    // The name that API servers use is as good as the one that this request uses.
    let ended = judge_webhook(credentials(&["hook.system.svc"], 90), true).says(0, &[]);
    assert_eq!(broken(&ended), Vec::<String>::new());
}

#[test]
fn an_expired_or_expiring_certificate_is_reported_with_its_date() {
    only_the_certificate(
        judge_webhook(credentials(&["127.0.0.1"], -3), true),
        1,
        &["error[", "the certificate expired on 20"],
    );
    only_the_certificate(judge_webhook(credentials(&["127.0.0.1"], 9), true), 0, &["warning[", "in 9 days"]);
}

#[test]
fn a_certificate_for_another_name_lists_the_names() {
    let words =
        ["the certificate is for other.example.com", "API servers connect to hook.system.svc", "asked as 127.0.0.1"];
    only_the_certificate(judge_webhook(credentials(&["other.example.com"], 90), true), 1, &words);
}

#[test]
fn a_certificate_of_an_unknown_authority_is_not_trusted() {
    let words = ["issued by \"CN=an authority\"", "not trusted by the authorities of this machine", "`caFile`"];
    only_the_certificate(judge_webhook(credentials(&["127.0.0.1"], 90), false), 1, &words);
}

/// A run against a webhook whose certificate an unknown authority signed.
pub(crate) fn not_trusted() -> Ended {
    judge_webhook(credentials(&["127.0.0.1"], 90), false)
}

#[test]
fn each_certificate_fault_is_a_finding() {
    let ended = judge_webhook(credentials(&["other.example.com"], -3), false);
    only_the_certificate(ended, 1, &["expired on", "not trusted by", "is for other.example.com"]);
}
