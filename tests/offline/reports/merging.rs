//! Merging the shards of one run into one report.

use crdproof::checks::Severity;
use crdproof::report::{MergeError, Outcome, Report, WaiverState, merge};

use super::fixture::{CACHES, DATABASES, QUEUES, finding, report};

/// The part of the fixture that concerns one CRD.
fn shard(crd: &str) -> Report {
    let mut report = report();
    report.results.retain(|result| result.crd == crd);
    report.findings.retain(|finding| finding.crd == crd);
    report.skipped.retain(|skipped| skipped.crd == crd);
    report.summarise();
    report
}

#[test]
fn shards_merge_in_any_order() {
    let shards = [DATABASES, CACHES, QUEUES, ""].map(shard);
    let mut backwards = shards.to_vec();
    backwards.reverse();
    let merged = merge(shards.to_vec()).unwrap();
    assert_eq!(merged, merge(backwards).unwrap());
    assert_eq!(merged.summary, report().summary);
    let waived = merged.findings.iter().find_map(|finding| finding.waiver);
    assert_eq!(merged.waivers[waived.unwrap()].state, WaiverState::Used);
}

#[test]
fn merging_a_report_with_itself_changes_nothing() {
    let once = merge(vec![report()]).unwrap();
    assert_eq!(merge(vec![report(), report()]).unwrap(), once);
    assert_eq!(merge(vec![once.clone()]).unwrap(), once);
}

#[test]
fn reports_of_different_runs_are_refused() {
    let other = |change: fn(&mut Report)| {
        let mut other = report();
        change(&mut other);
        merge(vec![report(), other]).unwrap_err()
    };
    let said = other(|report| report.seed = 7).to_string();
    assert_eq!(said, "reports of different runs cannot be merged: the seed is 20260901 in one and 7 in another");
    let said = other(|report| report.subject = "x".into()).to_string();
    assert!(said.contains("the subject is data-services in one and x in another"));
    let said = other(|report| report.tool_version = "9".into()).to_string();
    assert!(said.contains("the version of crdproof is 0.1.0 in one and 9 in another"));
    let said = other(|report| report.crds[0].strategy = "None".into()).to_string();
    assert_eq!(said, format!("the reports disagree about the CRD {DATABASES}"));
    assert_eq!(merge(Vec::new()), Err(MergeError::Empty));
}

#[test]
fn the_worst_verdict_counts() {
    let mut held = shard(DATABASES);
    held.findings.clear();
    for result in &mut held.results {
        result.outcome = Outcome::Passed;
        result.examined = 9;
        result.reason = None;
    }
    let merged = merge(vec![held, shard(DATABASES)]).unwrap();
    assert_eq!(merged.summary.failed, 3);
    let lossless = &merged.results[0];
    assert_eq!((lossless.outcome, lossless.findings), (Outcome::Failed, 10));
}

#[test]
fn a_check_is_skipped_only_if_every_shard_skipped_it() {
    let mut ran = shard(QUEUES);
    let mut result = ran.results[0].clone();
    result.check = "upgrade/served-version-kept".into();
    ran.results.push(result);
    ran.skipped.clear();
    let merged = merge(vec![shard(QUEUES), ran]).unwrap();
    assert_eq!(merged.summary.skipped, 0);
}

#[test]
fn a_waiver_that_one_shard_used_is_not_unused() {
    let names = "manifest/* gone.example.com";
    let mut idle = shard("");
    idle.waivers[1].complaint = Some(idle.findings[0].fingerprint.clone());
    assert!(idle.findings[0].message.ends_with(names));
    let mut working = shard(DATABASES);
    working.waivers[1].state = WaiverState::Used;
    working.findings = vec![finding("manifest/x", DATABASES, Severity::Error, "x")];
    working.findings[0].waiver = Some(1);
    let merged = merge(vec![idle, working]).unwrap();
    assert_eq!(merged.findings.len(), 1);
    let waiver = merged.findings[0].waiver.unwrap();
    assert_eq!(merged.waivers[waiver].names, names);
}
