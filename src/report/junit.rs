//! JUnit XML: a suite for each CRD (and Kubernetes version), a case for each check.
//!
//! There are no times and no dates in it, so that two runs over the same input give the same bytes.
//! A case whose findings are all waived passes, and says in its output what was accepted and why.

use std::cmp::Reverse;

use indexmap::IndexMap;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::sections::{self, Section, aim, family, place, plural};
use super::{Field, Finding, Outcome, Problem, Report, Result, Skipped};

/// Writes the report as JUnit XML.
pub fn junit(report: &Report) -> String {
    let mut run = quick_junit::Report::new(format!("crdproof {}", report.subject));
    for section in sections::sections(report) {
        run.add_test_suites(suites(report, &section));
    }
    if !report.problems.is_empty() {
        run.add_test_suite(problems(report));
    }
    write(&run)
}

fn write(run: &quick_junit::Report) -> String {
    let xml = run.to_string().expect("writing to memory cannot fail, and all text is UTF-8");
    // Jenkins validates against a schema that has no such attribute here, only on each suite.
    xml.replacen(&format!(" skipped=\"{}\"", run.skipped), "", 1)
}

fn suites(report: &Report, section: &Section<'_>) -> Vec<TestSuite> {
    let mut by_check: IndexMap<&str, Vec<&Finding>> = IndexMap::new();
    for finding in section.findings.iter().chain(&section.elsewhere) {
        by_check.entry(&finding.check).or_default().push(finding);
    }
    let mut cases: IndexMap<Option<&str>, Vec<TestCase>> = IndexMap::new();
    for result in &section.results {
        let findings = by_check.get(result.check.as_str());
        let case = judged(report, result, findings.map_or(&[], Vec::as_slice));
        let server = result.kubernetes.as_deref();
        cases.entry(server).or_default().push(case);
    }
    for skipped in &section.skipped {
        cases.entry(skipped.kubernetes.as_deref()).or_default().push(skip(skipped));
    }
    for (check, findings) in &by_check {
        if !section.results.iter().any(|result| result.check == *check) {
            let case = failed(report, check, findings);
            cases.entry(None).or_default().push(case);
        }
    }
    cases
        .into_iter()
        .map(|(server, cases)| {
            let server = server.map_or(String::new(), |server| format!(" on Kubernetes {server}"));
            let mut suite = suite(report, &format!("{}{server}", section.title()));
            suite.add_test_cases(cases);
            suite
        })
        .collect()
}

fn suite(report: &Report, name: &str) -> TestSuite {
    let mut suite = TestSuite::new(name);
    suite.add_property(("crdproof", report.tool_version.as_str()));
    suite.add_property(("subject", report.subject.as_str()));
    suite.add_property(("seed", report.seed.to_string().as_str()));
    suite
}

fn case(check: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(check, status);
    case.set_classname(family(check));
    case
}

fn judged(report: &Report, result: &Result, findings: &[&Finding]) -> TestCase {
    match result.outcome {
        Outcome::Passed => case(&result.check, TestCaseStatus::success()),
        Outcome::Failed => failed(report, &result.check, findings),
        Outcome::KnownServerIssue | Outcome::Inconclusive => {
            let reason = result.reason.as_deref().unwrap_or("no reason given");
            let mut status = TestCaseStatus::skipped();
            status.set_type(sections::outcome(result.outcome));
            status.set_message(format!("{}: {reason}", sections::outcome(result.outcome)));
            case(&result.check, status)
        }
    }
}

fn skip(skipped: &Skipped) -> TestCase {
    let mut status = TestCaseStatus::skipped();
    status.set_type("skipped");
    status.set_message(skipped.reason.as_str());
    case(&skipped.check, status)
}

fn failed(report: &Report, check: &str, findings: &[&Finding]) -> TestCase {
    let waived: Vec<String> = findings
        .iter()
        .filter_map(|finding| Some((finding, sections::waived(report, finding)?)))
        .map(|(finding, why)| format!("{}\nwaived: {why}\n", describe(finding)))
        .collect();
    let counting: Vec<&Finding> = findings.iter().copied().filter(|finding| finding.waiver.is_none()).collect();
    let status = match counting.iter().min_by_key(|finding| Reverse(finding.severity)) {
        None if !waived.is_empty() => TestCaseStatus::success(),
        worst => failure(worst.copied(), &counting),
    };
    let mut case = case(check, status);
    if !waived.is_empty() {
        case.set_system_out(waived.join("\n"));
    }
    case
}

/// A failed guarantee fails even where its findings are missing from the report.
fn failure(worst: Option<&Finding>, counting: &[&Finding]) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    let Some(worst) = worst else {
        status.set_message("failed");
        return status;
    };
    let more = match counting.len() - 1 {
        0 => String::new(),
        more => format!(" (and {})", plural(more, "more finding")),
    };
    status.set_message(format!("{}{more}", worst.message));
    status.set_type(worst.severity.as_str());
    let bodies: Vec<String> = counting.iter().map(|finding| describe(finding)).collect();
    status.set_description(format!("{}\n", bodies.join("\n\n")));
    status
}

fn describe(finding: &Finding) -> String {
    let mut lines = vec![format!("{}: {}", finding.severity.as_str(), finding.message)];
    if let Some(location) = &finding.location {
        lines.push(format!("  at {}", place(location)));
    }
    for related in &finding.related {
        let at = place(&related.location);
        lines.push(format!("  see {at}: {}", related.message));
    }
    if let Some(aim) = aim(finding) {
        lines.push(format!("  field: {aim}"));
    }
    if finding.change.is_some() && finding.fields.len() > 1 {
        lines.push("  all:".to_owned());
        let crd = |field: &Field| field.crd.clone().unwrap_or_default();
        lines.extend(finding.fields.iter().map(|field| format!("    {} {}", crd(field), field.message)));
    } else if let Some(evidence) = &finding.evidence {
        lines.push("  evidence:".to_owned());
        lines.extend(evidence.lines().map(|line| format!("    {line}")));
    }
    lines.push(format!("  help: {}", finding.help));
    if let Some(reproduce) = &finding.reproduce {
        lines.push(format!("  reproduce: {reproduce}"));
    }
    lines.push(format!("  fingerprint: {}", finding.fingerprint));
    lines.join("\n")
}

fn problems(report: &Report) -> TestSuite {
    let mut suite = suite(report, "problems");
    suite.add_test_cases(report.problems.iter().enumerate().map(problem));
    suite
}

fn problem((index, problem): (usize, &Problem)) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type("problem");
    status.set_message(problem.message.as_str());
    if let Some(help) = &problem.help {
        status.set_description(format!("help: {help}"));
    }
    let mut case = TestCase::new(format!("problem {}", index + 1), status);
    case.set_classname("problems");
    case
}
