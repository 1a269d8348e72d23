//! SARIF 2.1.0 for code scanning: one run, a rule for each check, a result for each finding.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::json::pretty;
use super::sections::{self, family};
use super::{CheckInfo, Finding, Location, Report, uri};
use crate::checks::Severity;
use crdproof_schema::document;

/// The base of relative paths, which the reader of the file knows.
const ROOT: &str = "%SRCROOT%";

/// Writes the report as SARIF.
pub fn sarif(report: &Report) -> String {
    let checks = sections::checks(report);
    let rules = checks.iter().map(|(id, check)| Rule::of(id, *check)).collect();
    let results = report
        .findings
        .iter()
        .map(|finding| Outcome::of(report, finding, checks.get_index_of(finding.check.as_str())))
        .collect();
    pretty(&Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "crdproof",
                    version: &report.tool_version,
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    rules,
                },
            },
            automation_details: json!({ "id": format!("crdproof/{}/", report.subject) }),
            column_kind: "unicodeCodePoints",
            original_uri_base_ids: json!({ ROOT: {
                "description": { "text": "The folder from which crdproof was run." }
            }}),
            invocations: [invocation(report)],
            properties: json!({ "seed": report.seed }),
            results,
        }],
    })
}

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'a str,
    version: &'a str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    automation_details: Value,
    column_kind: &'a str,
    original_uri_base_ids: Value,
    invocations: [Value; 1],
    properties: Value,
    results: Vec<Outcome<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<'a> {
    name: &'a str,
    version: &'a str,
    information_uri: &'a str,
    rules: Vec<Rule<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule<'a> {
    id: &'a str,
    short_description: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_description: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default_configuration: Option<Value>,
    properties: Value,
}

impl<'a> Rule<'a> {
    fn of(id: &'a str, check: Option<&'a CheckInfo>) -> Self {
        Self {
            id,
            short_description: Text::plain(check.map_or(id, |check| &check.title)),
            full_description: check.map(|check| Text::plain(&check.why)),
            help: check.map(help),
            help_uri: check.and_then(|check| {
                let mut words = check.source.iter().flat_map(|source| source.split(' '));
                words.find(|word| word.starts_with("https://") || word.starts_with("http://"))
            }),
            default_configuration: check.map(|check| json!({ "level": level(check.severity) })),
            properties: json!({ "tags": [family(id)] }),
        }
    }
}

fn help(check: &CheckInfo) -> Text {
    let since =
        check.since.as_ref().map_or(String::new(), |since| format!("\n\nCan be expected from Kubernetes {since} on."));
    let sources = check.source.join("\n- ");
    Text {
        text: format!("{}{since}\n\nSources:\n- {sources}", check.help),
        markdown: Some(format!(
            "**What to do:** {}\n\n**Why:** {}{since}\n\n**Sources:**\n\n- {sources}",
            check.help, check.why
        )),
    }
}

#[derive(Serialize)]
struct Text {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<String>,
}

impl Text {
    fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), markdown: None }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    rule_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: Text,
    locations: [Place; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Place>,
    partial_fingerprints: BTreeMap<&'static str, &'a str>,
    suppressions: Vec<Value>,
    properties: BTreeMap<&'static str, &'a str>,
}

impl<'a> Outcome<'a> {
    fn of(report: &'a Report, finding: &'a Finding, rule_index: Option<usize>) -> Self {
        let optional = [
            ("crd", Some(&finding.crd)),
            ("version", finding.version.as_ref()),
            ("path", finding.path.as_ref()),
            ("reproduce", finding.reproduce.as_ref()),
        ];
        let related = finding.related.iter().map(|related| (physical(&related.location), &related.message));
        // The first field is the finding's own location.
        let fields =
            finding.fields.iter().skip(1).filter_map(|field| Some((point(field.place.as_ref()?), &field.message)));
        let related = related.chain(fields).zip(1..);
        Self {
            rule_id: &finding.check,
            rule_index,
            level: level(finding.severity),
            message: message(finding),
            locations: [Place::of(report, finding)],
            related_locations: related.map(|((at, message), id)| Place::related(at, message, id)).collect(),
            partial_fingerprints: [("crdproof/v1", finding.fingerprint.as_str())].into(),
            // The standard requires the property on all results of a run or on none.
            suppressions: sections::waived(report, finding)
                .map(|why| json!({ "kind": "external", "status": "accepted", "justification": why }))
                .into_iter()
                .collect(),
            properties: optional
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?.as_str())))
                .filter(|(_, value)| !value.is_empty())
                .collect(),
        }
    }
}

fn message(finding: &Finding) -> Text {
    let mut text = finding.message.clone();
    if let Some(evidence) = &finding.evidence {
        text.push_str("\n\n");
        text.push_str(evidence);
    }
    text.push_str("\n\nhelp: ");
    text.push_str(&finding.help);
    Text::plain(&text)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
}

impl Place {
    /// Code scanning refuses a result without a file, so a finding without a location is put at the top of the CRD's
    /// file.
    fn of(report: &Report, finding: &Finding) -> Self {
        let crd = report.crds.iter().find(|crd| crd.name == finding.crd);
        let physical = finding.location.as_ref().map(physical).or_else(|| {
            let region = json!({ "startLine": 1 });
            crd.map(|crd| json!({ "artifactLocation": artifact(&crd.file), "region": region }))
        });
        Self { id: None, physical_location: physical, logical_locations: logical(finding), message: None }
    }

    fn related(at: Value, message: &str, id: usize) -> Self {
        Self {
            id: Some(id),
            physical_location: Some(at),
            logical_locations: Vec::new(),
            message: Some(Text::plain(message)),
        }
    }
}

fn physical(location: &Location) -> Value {
    let line = location.line.max(1);
    json!({
        "artifactLocation": artifact(&location.file),
        "region": {
            "startLine": line,
            "startColumn": location.column.max(1),
            "endLine": location.end_line.max(line),
            "endColumn": location.end_column.max(1),
        },
    })
}

fn point(place: &document::Place) -> Value {
    let region = json!({ "startLine": place.line.max(1), "startColumn": place.column.max(1) });
    json!({ "artifactLocation": artifact(&place.file), "region": region })
}

fn artifact(file: &str) -> Value {
    match uri::of(file) {
        (uri, true) => json!({ "uri": uri, "uriBaseId": ROOT }),
        (uri, false) => json!({ "uri": uri }),
    }
}

fn logical(finding: &Finding) -> Vec<Value> {
    if finding.crd.is_empty() {
        return Vec::new();
    }
    let crd = &finding.crd;
    let mut all = vec![json!({ "name": crd, "fullyQualifiedName": crd, "kind": "resource" })];
    if let Some(path) = &finding.path {
        let version = finding.version.as_deref().unwrap_or("*");
        all.push(json!({
            "name": path,
            "fullyQualifiedName": format!("{crd}/{version}{path}"),
            "kind": "member",
        }));
    }
    all
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn invocation(report: &Report) -> Value {
    let notifications: Vec<Value> = report
        .problems
        .iter()
        .map(|problem| {
            let help = problem.help.iter().map(|help| format!("\n\nhelp: {help}"));
            let text = format!("{}{}", problem.message, help.collect::<String>());
            json!({ "level": "error", "message": { "text": text } })
        })
        .collect();
    json!({
        "executionSuccessful": report.problems.is_empty(),
        "toolExecutionNotifications": notifications,
    })
}
