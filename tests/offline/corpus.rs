//! Real CRDs: they load, their report is the same each time, and what a real API server accepts is
//! not called invalid, nor the reverse. The folder is named by `CRDPROOF_CORPUS`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crdproof::checks::Severity;
use crdproof::report::{Report, json};
use crdproof::subject::load;

use crate::fixture::{judge, root};

/// Checks whose errors mean that an API server refuses the CRD. The others speak of data, users and
/// clients, for which a server does not care.
const REFUSED_BY_SERVERS: [&str; 11] = [
    "manifest/conversion-stanza-valid",
    "manifest/defaults-valid",
    "manifest/deprecation-announced",
    "manifest/identity-consistent",
    "manifest/list-keys-declared",
    "manifest/one-storage-version",
    "manifest/paths-resolve",
    "manifest/review-versions-known",
    "manifest/rules-affordable",
    "manifest/schemas-structural",
    "manifest/version-names-ordered",
];

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("CRDPROOF_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: CRDPROOF_CORPUS names no folder with real CRDs");
    }
    folder
}

fn name(file: &str) -> String {
    Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn print_table(report: &Report) {
    println!("{} CRDs, {} cases, {} findings", report.crds.len(), report.results.len(), report.findings.len());
    for (check, counts) in &report.summary.findings_by_check {
        println!("{:>6} on {:>4} CRDs  {check}", counts.findings, counts.crds);
    }
}

#[test]
fn real_crds_are_judged_as_the_server_judges_them() {
    let Some(folder) = corpus() else { return };
    let subject = load::from_paths(vec![folder.display().to_string()]).unwrap_or_else(|error| panic!("{error}"));
    let report = judge(&subject, Vec::new());
    print_table(&report);
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!(json(&report), json(&judge(&subject, Vec::new())), "two runs give the same bytes");

    let listed = std::fs::read_to_string(root().join("corpus-refused.txt")).unwrap();
    let present: BTreeSet<String> = report.crds.iter().map(|crd| name(&crd.file)).collect();
    let refused: BTreeSet<String> = listed.lines().filter(|line| present.contains(*line)).map(str::to_owned).collect();
    let called_invalid: BTreeSet<String> = report
        .counting()
        .filter(|finding| finding.severity == Severity::Error && REFUSED_BY_SERVERS.contains(&finding.check.as_str()))
        .filter_map(|finding| finding.location.as_ref().map(|location| name(&location.file)))
        .collect();
    let wrong: Vec<_> = report
        .counting()
        .filter(|finding| finding.severity == Severity::Error && REFUSED_BY_SERVERS.contains(&finding.check.as_str()))
        .filter(|finding| finding.location.as_ref().is_none_or(|location| !refused.contains(&name(&location.file))))
        .map(|finding| format!("{} on {}: {}", finding.check, finding.crd, finding.message))
        .collect();
    assert!(wrong.is_empty(), "a server accepts these:\n{}", wrong.join("\n"));
    assert_eq!(called_invalid, refused, "a server refuses these (right); we call these invalid (left)");
}

#[test]
fn the_checks_that_stand_for_refusal_exist() {
    for id in REFUSED_BY_SERVERS {
        assert!(crdproof::checks::find(id).is_some(), "{id} is no check any more; adapt the list");
    }
}
