//! Every offline check on every fixture: each fixture lists exactly the findings that must come.

use crate::fixture::{check_fixtures, differences, folders, judge_folder, name, root};

#[test]
fn every_fixture_gives_exactly_the_findings_it_lists() {
    let mut wrong = Vec::new();
    let subjects = folders(&root().join("crds")).into_iter().map(|folder| (String::new(), folder));
    for (id, folder) in check_fixtures().into_iter().chain(subjects) {
        let report = judge_folder(&folder);
        for difference in differences(&folder, &report) {
            wrong.push(format!("{id} {}: {difference}", folder.display()));
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_fail_fixture_breaks_its_own_check_and_a_pass_fixture_holds_it() {
    for (id, folder) in check_fixtures() {
        let report = judge_folder(&folder);
        let fired = report.counting().any(|finding| finding.check == id);
        let kind = name(&folder);
        if kind.starts_with("fail") {
            assert!(fired, "{} must break {id}", folder.display());
        } else if kind.starts_with("fact") {
            let facts =
                report.results.iter().filter(|result| result.outcome == crdproof::report::Outcome::KnownServerIssue);
            let reason = facts.filter(|result| result.check == id).find_map(|result| result.reason.clone());
            let said = std::fs::read_to_string(folder.join("fact.txt")).unwrap();
            for line in said.lines() {
                let holds = reason.as_ref().is_some_and(|reason| reason.contains(line));
                assert!(holds && !fired, "{} must be a known server issue: {line}, not {reason:?}", folder.display());
            }
        } else {
            assert!(kind.starts_with("pass"), "{}: fixture folders are named pass…, fail… or fact…", folder.display());
            let held = report
                .results
                .iter()
                .any(|result| result.check == id && result.outcome == crdproof::report::Outcome::Passed);
            assert!(held && !fired, "{} must hold {id}", folder.display());
        }
    }
}
