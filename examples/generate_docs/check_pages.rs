//! The pages about checks: an index, one page for each family, one for each check, and their place in the table of contents.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crdproof::checks::{self, Check, Need};
use crdproof_schema::document::{Node, Sources, parse};

use super::{cell, prose};

const CONTENTS: &str = "docs/SUMMARY.md";

/// All pages about checks, by path.
pub(super) fn pages(read: &impl Fn(&str) -> String) -> BTreeMap<String, String> {
    let mut pages = BTreeMap::from([
        (CONTENTS.to_owned(), with_checks(&read(CONTENTS))),
        ("docs/checks/README.md".to_owned(), index()),
    ]);
    for family in checks::families() {
        pages.insert(format!("docs/checks/{family}.md"), family_page(family));
        for check in checks_of(family) {
            pages.insert(format!("docs/checks/{}.md", check.id), check_page(check, read));
        }
    }
    pages
}

/// Describes what each family is about.
fn about(family: &str) -> &'static str {
    match family {
        "manifest" => "The CRD documents alone: what an API server would refuse, and what it accepts and users regret.",
        "upgrade" => "An old state of the CRDs against a new one: what breaks for those who have objects and clients.",
        "converter" => "The converter as a function: what goes to another version comes back whole.",
        "webhook" => "The conversion webhook as an endpoint.",
        "serving" => "What clients of every version see on an API server.",
        "storage" => "What is stored, and how it gets from one version to the next.",
        "apply" => "Who owns which field, across versions.",
        "resilience" => "What happens when the converter is slow, wrong or away.",
        _ => "Known defects and limits of API servers.",
    }
}

fn checks_of(family: &str) -> impl Iterator<Item = &'static Check> {
    checks::ALL.iter().copied().filter(move |check| check.family() == family)
}

fn index() -> String {
    let mut text =
        "# Checks\n\nWritten by `scripts/generate-docs` from the registry; `crdproof explain ID` says the same.\n\
         A check names the guarantee, not the defect.\n"
            .to_owned();
    for family in checks::families() {
        let _ = write!(text, "\n## [{family}]({family}.md)\n\n{}\n\n{}", about(family), table(family));
    }
    text
}

fn family_page(family: &str) -> String {
    format!("# The {family} family\n\n{}\n\nWritten by `scripts/generate-docs`.\n\n{}", about(family), table(family))
}

fn table(family: &str) -> String {
    let mut text = "| check | severity | guarantee |\n| --- | --- | --- |\n".to_owned();
    for check in checks_of(family) {
        let (name, severity) = (check.name(), check.severity.as_str());
        let _ = writeln!(text, "| [{name}]({}.md) | {severity} | {} |", check.id, cell(check.title));
    }
    text
}

fn check_page(check: &Check, read: &impl Fn(&str) -> String) -> String {
    let mut needs: Vec<&str> = check.needs.iter().map(|need| needed(*need)).collect();
    needs.dedup();
    let since = check.since.map(|minor| format!(" · from Kubernetes 1.{minor}")).unwrap_or_default();
    let mut text = format!(
        "# {}\n\n{} at worst · needs {}{since} · [{family} family](../{family}.md)\n\n**Guarantee:** {}.\n\n**Why:** {}\n\n\
         **What to do:** {}.\n\n## Example\n\n",
        check.id,
        check.severity.as_str(),
        needs.join(", "),
        prose(check.title),
        prose(check.why),
        prose(check.help),
        family = check.family(),
    );
    let folder = format!("fixtures/checks/{}", check.id);
    let expected = failing_fixture(&folder).map(|fixture| read(&format!("{folder}/{fixture}/expect.yaml")));
    let messages = messages(check.id, &expected.unwrap_or_default());
    if !messages.is_empty() {
        let _ = write!(text, "A finding says, in part:\n\n```text\n{}\n```\n\n", messages.join("\n"));
    }
    let _ = write!(
        text,
        "The subjects that prove the check both ways, one that fails and one that passes, are in \
         [{folder}](https://github.com/crdproof/crdproof/tree/main/{folder}).\n\nRun this check alone, and accept or waive what it \
         finds: [accept what exists](../../how-to/accept-what-exists.md).\n\n```sh\ncrdproof run --only {}\n```\n\n## Sources\n\n",
        check.id
    );
    for source in check.source {
        let _ = writeln!(text, "- {}", link(source));
    }
    text
}

/// The name of the first fixture in a folder that fails.
fn failing_fixture(folder: &str) -> Option<String> {
    let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).ok()?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("fail")).min()
}

/// The messages of a check that a fixture expects.
fn messages(id: &str, expected: &str) -> Vec<String> {
    let mut sources = Sources::default();
    let file = sources.add("expect.yaml", expected);
    let documents = parse(&sources, file).unwrap_or_default();
    let findings = documents.first().and_then(|document| document.get("findings"));
    let of_check = |finding: &&Node| finding.str_at("check") == Some(id);
    let message = |finding: &Node| {
        // A fixture may expect a few words only, which explain nothing by themselves.
        let says = finding.str_at("says").filter(|says| says.split(' ').count() > 3)?;
        let place = [finding.str_at("version"), finding.str_at("path")].into_iter().flatten().collect::<Vec<_>>();
        let place = if place.is_empty() { String::new() } else { format!("{}: ", place.join(" ")) };
        Some(if place.is_empty() || says.contains(place.trim_end_matches(": ")) {
            says.to_owned()
        } else {
            place + says
        })
    };
    findings.map(|findings| findings.items().iter().filter(of_check).filter_map(message).collect()).unwrap_or_default()
}

/// Links a source from a page of a check.
fn link(source: &str) -> String {
    let Some(page) = source.strip_prefix("docs/") else { return format!("<{source}>") };
    let words = page.replace(".md#", ": ").replace(".md", "").replace('-', " ");
    format!("[{words}](../../{page})")
}

fn needed(need: Need) -> &'static str {
    match need {
        Need::Manifest => "the CRD",
        Need::Baseline => "a baseline",
        Need::Samples => "samples",
        Need::ConversionRuns | Need::Survey => "a converter, and samples or generated objects",
        Need::FieldMap => "a field map beside the converter",
        Need::Recorded => "recorded conversions of samples",
        Need::BaselineConverter => "the converter of the previous release",
        Need::Exchanges => "a webhook that runs",
        Need::ThreeVersions => "a CRD with three versions or more",
        Need::Scenario(_) => "an API server",
        Need::InTreeMigration => "a control plane that migrates (`--in-tree-migration`)",
    }
}

/// Returns the table of contents with the checks of each family below the family's page.
fn with_checks(contents: &str) -> String {
    let is_check = |line: &&str| !line.starts_with("    - [");
    let mut text = String::new();
    for line in contents.lines().filter(is_check) {
        let _ = writeln!(text, "{line}");
        let family =
            checks::families().into_iter().find(|family| line == format!("  - [{family}](checks/{family}.md)"));
        for check in family.into_iter().flat_map(checks_of) {
            let _ = writeln!(text, "    - [{}](checks/{}.md)", check.name(), check.id);
        }
    }
    text
}
