//! Waivers: used, expired, unused, and invalid ones.

use rstest::rstest;

use super::{Ended, crdproof, subject};

/// Runs `databases-none` with these waivers.
fn with_waivers(waivers: &str) -> Ended {
    let folder = subject("databases-none");
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap() + "waivers:\n" + waivers;
    std::fs::write(&file, text).unwrap();
    crdproof(folder.path(), &["run", "--report", "json"])
}

#[test]
fn a_waiver_in_force_accepts_and_is_listed() {
    let ended = with_waivers(
        "- {check: manifest/none-strategy-lossless, path: .spec.password, reason: known, expires: 9999-12-31}\n\
         - {check: 'converter/*', crd: databases.example.com, reason: known too, owner: team-db, expires: 9999-12-31}\n",
    )
    .says(0, &["2 waived", "known too"]);
    let report = ended.json();
    assert_eq!(report["summary"]["waived"], 2);
    assert!(report["waivers"].as_array().unwrap().iter().all(|waiver| waiver["state"] == "used"));
}

#[test]
fn one_finding_can_be_accepted_by_its_fingerprint() {
    let findings = with_waivers("- {check: none, reason: x, expires: 9999-12-31}\n").json()["findings"].clone();
    let print =
        findings.as_array().unwrap().iter().find(|finding| finding["check"] == "manifest/none-strategy-lossless");
    let print = print.unwrap()["fingerprint"].as_str().unwrap().to_owned();
    let report = with_waivers(&format!("- {{fingerprint: \"{print}\", reason: x, expires: 9999-12-31}}\n")).json();
    assert_eq!((&report["summary"]["waived"], &report["summary"]["errors"]), (&1.into(), &0.into()));
}

#[test]
fn an_expired_waiver_is_an_error() {
    let ended = with_waivers("- {check: '*', reason: known, expires: 2020-01-31}\n")
        .says(1, &["error[subject/waivers-current]", "the waiver of * expired on 2020-01-31", "crdproof.yaml:9:3"]);
    assert_eq!(ended.json()["waivers"][0]["state"], "expired");
    assert_eq!(ended.json()["summary"]["errors"], 2);
}

#[test]
fn an_unused_waiver_is_a_warning() {
    let ended = with_waivers("- {check: manifest/size-applicable, reason: known, expires: 9999-12-31}\n")
        .says(1, &["warning[subject/waivers-current]", "no finding matches the waiver of manifest/size-applicable"]);
    assert_eq!(ended.json()["waivers"][0]["state"], "unused");
}

#[rstest]
#[case("- {check: '*', expires: 9999-12-31}\n", &["crdproof.yaml:9:3: the key \"reason\" is missing"])]
#[case("- {check: '*', reason: ' ', expires: 9999-12-31}\n", &["crdproof.yaml:9:24: the reason is empty"])]
#[case("- {check: '*', reason: x}\n", &["crdproof.yaml:9:3: the key \"expires\" is missing"])]
#[case("- {check: '*', reason: x, expires: soon}\n", &["crdproof.yaml:9:36: "])]
#[case("- {reason: x, expires: 9999-12-31}\n", &["crdproof.yaml:9:3: a waiver names a check or a fingerprint"])]
#[case("- {check: '*', reason: x, expires: 9999-12-31, until: y}\n", &["crdproof.yaml:9:48: unknown key \"until\""])]
fn a_waiver_without_reason_expiry_or_target_is_refused(#[case] waiver: &str, #[case] words: &[&str]) {
    with_waivers(waiver).says(2, words);
}
