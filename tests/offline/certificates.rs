//! Webhooks with wrong certificates, or none: a finding that says what differs, and everything else is judged, too.

use std::net::SocketAddr;

use crdproof::converter::proxy::{Credentials, Listener};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::cli::{Ended, crdproof};
use crate::webhook::{broken, right, subject};

/// A certificate for these names that ends so many days from now, with the authority that signed it.
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

/// Runs the webhook suite against a right handler with these credentials. The authority is named or not.
fn judged(credentials: Credentials, named: bool) -> Ended {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let handler = |call: crdproof::converter::proxy::Call| right(&call);
    let listener = runtime.block_on(Listener::bind(address, credentials, handler)).unwrap();
    let url = format!("https://{}/convert", listener.address());
    let folder = subject(&url, named.then(|| listener.authority()));
    crdproof(folder.path(), &["run", "--suite", "webhook", "--report", "json"])
}

/// Exactly the certificate is condemned, in these words, and the rest was asked.
#[track_caller]
fn only_the_certificate(ended: Ended, code: i32, words: &[&str]) {
    let ended = ended.says(code, words);
    assert_eq!(broken(&ended), ["webhook/certificate-trusted"], "{}", ended.stderr);
    let report = ended.json();
    let held = report["results"].as_array().unwrap().iter().filter(|result| result["outcome"] == "passed").count();
    assert!(held >= 15, "only {held} held: {}", ended.stderr);
}

#[test]
fn a_certificate_in_order_is_held() {
    let ended = judged(credentials(&["127.0.0.1"], 90), true).says(0, &[]);
    assert_eq!(broken(&ended), Vec::<String>::new());
    // The name that API servers ask is as good as the one that is asked here.
    let ended = judged(credentials(&["hook.system.svc"], 90), true).says(0, &[]);
    assert_eq!(broken(&ended), Vec::<String>::new());
}

#[test]
fn a_certificate_that_has_ended_or_soon_will_is_named_with_its_day() {
    only_the_certificate(
        judged(credentials(&["127.0.0.1"], -3), true),
        1,
        &["error[", "the certificate expired on 20"],
    );
    only_the_certificate(judged(credentials(&["127.0.0.1"], 9), true), 0, &["warning[", "in 9 days"]);
}

#[test]
fn a_certificate_for_another_name_lists_the_names() {
    let words = ["the certificate is for other.example.com", "API servers ask hook.system.svc", "asked as 127.0.0.1"];
    only_the_certificate(judged(credentials(&["other.example.com"], 90), true), 1, &words);
}

#[test]
fn a_certificate_of_an_unknown_authority_is_not_trusted() {
    let words = ["issued by \"CN=an authority\"", "not trusted by the authorities of this machine", "`caFile`"];
    only_the_certificate(judged(credentials(&["127.0.0.1"], 90), false), 1, &words);
}

/// A run against a webhook whose certificate an unknown authority signed.
pub(crate) fn not_trusted() -> Ended {
    judged(credentials(&["127.0.0.1"], 90), false)
}

#[test]
fn several_faults_are_several_findings() {
    let ended = judged(credentials(&["other.example.com"], -3), false);
    only_the_certificate(ended, 1, &["expired on", "not trusted by", "is for other.example.com"]);
}
