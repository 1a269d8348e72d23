//! Every format over one report that contains one of everything, validated by the formats' own schemas and parsers.

mod fixture;
mod merging;
mod page;

use std::process::Command;

use crdproof::report::{Format, Report, Style, json, junit, read, render, report_schema, terminal};
use fixture::report;

/// Finds a program that a test uses if it is installed.
fn find_program(names: &[&str]) -> Option<String> {
    let found = names.iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        eprintln!("skipped: none of these programs is on PATH: {}", names.join(", "));
    }
    found.map(ToString::to_string)
}

#[test]
fn every_format_looks_as_reviewed() {
    let mut settings = insta::Settings::clone_current();
    // A browser tests the styles and the script of the page.
    settings.add_filter("(?s)<style>.*?</style>", "<style>…</style>");
    settings.add_filter(r"(?s)<script>\n.*?</script>", "<script>…</script>");
    let _guard = settings.bind_to_scope();
    for format in Format::ALL {
        insta::assert_snapshot!(format.as_str(), render(&report(), format));
    }
    let verbose = Style { verbose: true, ..Style::PLAIN };
    insta::assert_snapshot!("terminal_verbose", terminal(&report(), verbose));
}

#[test]
fn an_empty_report_can_be_written_in_every_format() {
    let empty = Report {
        crds: Vec::new(),
        passed_over: std::collections::BTreeMap::new(),
        checks: Vec::new(),
        results: Vec::new(),
        findings: Vec::new(),
        skipped: Vec::new(),
        waivers: Vec::new(),
        problems: Vec::new(),
        conversions: Vec::new(),
        scenarios: Vec::new(),
        ..report()
    };
    let mut empty = empty;
    empty.summarise();
    for format in Format::ALL {
        let text = render(&empty, format);
        assert_eq!(text.is_empty(), format == Format::Github, "{format}");
    }
    assert!(render(&empty, Format::Terminal).contains("○ not judged: no findings; 0 checks"));
}

#[test]
fn terminal_output_has_escape_codes_only_when_asked_for() {
    let mut report = report();
    report.findings[0].message = "red \u{1b}[31m herring".into();
    let colour = Style { colour: true, ..Style::PLAIN };
    assert!(!terminal(&report, Style::PLAIN).contains('\u{1b}'));
    assert!(terminal(&report, colour).contains('\u{1b}'));
    assert!(!terminal(&report, colour).contains("\u{1b}[31m herring"));
}

#[test]
fn impossible_ranges_do_not_stop_a_writer() {
    let mut report = report();
    for finding in &mut report.findings {
        if let Some(location) = &mut finding.location {
            location.line = 0;
            location.excerpt.line = 0;
            location.excerpt.start = 21;
            location.excerpt.end = 9_999;
        }
    }
    for format in Format::ALL {
        assert!(!render(&report, format).is_empty());
    }
}

#[test]
fn json_can_be_read_back_and_fits_its_schema() {
    let text = json(&report());
    assert_eq!(read(&text).unwrap(), report());
    let schema = jsonschema::validator_for(&report_schema()).unwrap();
    let value = serde_json::from_str(&text).unwrap();
    schema.validate(&value).unwrap();
}

#[test]
fn sarif_fits_the_published_schema() {
    // One pattern of the schema has an extra bracket, which not every regex engine accepts.
    let schema = include_str!("../schemas/sarif-2.1.0.json").replace("{2}]?$", "{2}$");
    let schema = serde_json::from_str(&schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let value = serde_json::from_str(&render(&report(), Format::Sarif)).unwrap();
    let errors: Vec<String> =
        schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn junit_fits_the_schema_of_jenkins() {
    let Some(xmllint) = find_program(&["xmllint"]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("junit.xml");
    std::fs::write(&file, junit(&report())).unwrap();
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemas/junit-10.xsd");
    let output = Command::new(xmllint).args(["--noout", "--schema", schema]).arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn markdown_stays_within_the_size_limits_of_hosts() {
    let mut report = report();
    let finding = report.findings[0].clone();
    report.findings = (0..2_000).map(|_| finding.clone()).collect();
    report.summarise();
    let text = render(&report, Format::Markdown);
    assert!(text.chars().count() <= 60_000);
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    let shown = text.matches("\n- **error**").count();
    assert!(text.contains(&format!("**{} findings left out**", 2_000 - shown)));
}

#[test]
fn github_shows_errors_first_and_no_waived_findings() {
    let text = render(&report(), Format::Github);
    let commands: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
    let mut sorted = commands.clone();
    sorted.sort_by_key(|command| ["::error", "::warning", "::notice"].iter().position(|c| c == command));
    assert_eq!(commands, sorted);
    assert!(!text.contains("v1beta1 is no longer served"));
}
