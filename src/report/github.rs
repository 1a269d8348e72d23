//! GitHub workflow commands: one line per finding, which becomes an annotation on the change.
//!
//! GitHub shows ten annotations of each level per step, and silently drops others. So of each level with more than ten,
//! nine are written, and the tenth counts the rest.

use std::fmt::Write as _;

use super::sections::WORST_FIRST;
use super::{Finding, Report};
use crate::checks::Severity;

/// Annotations of one level that GitHub shows for one step.
const MAX_SHOWN: usize = 10;

/// Writes the findings that count as workflow commands.
pub fn github(report: &Report) -> String {
    let mut out = String::new();
    for problem in &report.problems {
        let help = problem.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
        let message = message(&format!("{}{help}", problem.message));
        let _ = writeln!(out, "::error title=crdproof could not judge::{message}");
    }
    for severity in WORST_FIRST {
        let all: Vec<&Finding> = report.counting().filter(|finding| finding.severity == severity).collect();
        // Problems are errors, too.
        let room = if severity == Severity::Error {
            MAX_SHOWN.saturating_sub(report.problems.len()).max(2)
        } else {
            MAX_SHOWN
        };
        let written = if all.len() > room { room - 1 } else { all.len() };
        for finding in &all[..written] {
            out.push_str(&command(report, finding));
            out.push('\n');
        }
        if all.len() > written {
            let more = all.len() - written;
            let name = command_name(severity);
            let _ = writeln!(out, "::{name} title=crdproof::{more} more of this level; the report of the run has all");
        }
    }
    out
}

fn command(report: &Report, finding: &Finding) -> String {
    let mut properties: Vec<(&str, String)> = Vec::new();
    if let Some(location) = &finding.location {
        properties.push(("file", path(&location.file)));
        properties.push(("line", location.line.to_string()));
        properties.push(("endLine", location.end_line.to_string()));
        // GitHub ignores columns of an annotation that spans lines.
        if location.line == location.end_line {
            properties.push(("col", location.column.to_string()));
            properties.push(("endColumn", location.end_column.to_string()));
        }
    } else if let Some(crd) = report.crds.iter().find(|crd| crd.name == finding.crd) {
        properties.push(("file", path(&crd.file)));
    }
    properties.push(("title", finding.check.clone()));
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    let text = format!("{}: {}\nhelp: {}", crd(finding), finding.message, finding.help);
    format!("::{} {}::{}", command_name(finding.severity), properties.join(","), message(&text))
}

fn crd(finding: &Finding) -> &str {
    if finding.crd.is_empty() { "subject" } else { &finding.crd }
}

fn command_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    }
}

/// Annotations are matched to the change by the path from the root of the repository.
fn path(file: &str) -> String {
    let file = file.replace('\\', "/");
    file.strip_prefix("./").map_or(file.clone(), str::to_owned)
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_of_the_runner_is_escaped() {
        assert_eq!(message("100%\r\na::b"), "100%25%0D%0Aa::b");
        assert_eq!(property("a:b,c%"), "a%3Ab%2Cc%25");
        assert_eq!(path(r".\config\crd.yaml"), "config/crd.yaml");
    }
}
