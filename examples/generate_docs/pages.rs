//! Pages generated from the registry, the types and the help.

#[path = "keys.rs"]
mod keys;
#[path = "reference.rs"]
mod reference;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crdproof::checks::{self, Check, Need};
use crdproof::report::Report;
use crdproof::run::SuiteFile;
use crdproof::subject::SubjectFile;
use crdproof_schema::kubernetes::{FEATURES, KubeVersion, Older, RULES, ServerRule, Stages, Weight};
use schemars::schema_for;

/// All generated pages, by path. `read` returns the current page: pages with a table of keys keep their handwritten
/// parts. `help` returns the output of `crdproof COMMAND --help`.
pub(crate) fn pages(read: impl Fn(&str) -> String, help: &dyn Fn(&[&str]) -> String) -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    let tables = [
        ("docs/subject-file.md", schema_for!(SubjectFile)),
        ("docs/suites.md", schema_for!(SuiteFile)),
        ("docs/reports.md", schema_for!(Report)),
    ];
    for (path, schema) in tables {
        let page = keys::with_keys(&read(path), &schema.to_value());
        pages.insert(path.into(), reference::with_suites(&page));
    }
    pages.insert("docs/commands.md".into(), reference::commands(help));
    pages.insert("docs/checks/README.md".into(), index());
    for family in checks::families() {
        pages.insert(format!("docs/checks/{family}.md"), page(family));
    }
    pages.insert("docs/features.md".into(), features());
    pages.insert("docs/server-defects.md".into(), server_defects());
    // Editors load the schema from the address that `crdproof init` writes.
    let schema = schema_for!(SubjectFile).to_value();
    pages.insert("docs/subject-file.schema.json".into(), format!("{schema:#}\n"));
    pages
}

/// The subject of a family of checks.
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
        let _ = write!(text, "\n## [{family}]({family}.md)\n\n{}\n\n", about(family));
        text.push_str("| check | severity | guarantee |\n| --- | --- | --- |\n");
        for check in checks_of(family) {
            let _ = writeln!(
                text,
                "| [{}]({family}.md#{}) | {} | {} |",
                check.name(),
                check.name(),
                check.severity.as_str(),
                cell(check.title)
            );
        }
    }
    text
}

fn page(family: &str) -> String {
    let mut text = format!("# The {family} family\n\n{}\n\nWritten by `scripts/generate-docs`.\n", about(family));
    for check in checks_of(family) {
        let _ = write!(
            text,
            "\n## {}\n\n`{}` · {} · needs {}{}\n\n**Guarantee:** {}.\n\n**Why:** {}\n\n**What to do:** {}.\n",
            check.name(),
            check.id,
            check.severity.as_str(),
            check.needs.iter().map(|need| need_text(*need)).collect::<Vec<_>>().join(", "),
            check.since.map(|minor| format!(" · from Kubernetes 1.{minor}")).unwrap_or_default(),
            prose(check.title),
            prose(check.why),
            prose(check.help),
        );
        text.push_str("\n**Source:**\n\n");
        for source in check.source {
            let _ = writeln!(text, "- {}", link(source));
        }
    }
    text
}

/// Links a source from a page in `docs/checks`.
fn link(source: &str) -> String {
    let Some(page) = source.strip_prefix("docs/") else { return format!("<{source}>") };
    let words = page.replace(".md#", ": ").replace(".md", "").replace('-', " ");
    format!("[{words}](../{page})")
}

/// Lists the defects of API servers that `crdproof preflight` knows.
fn server_defects() -> String {
    let mut text = "# Known server defects\n\nDefects of API servers and controllers that matter to CRDs of several versions. \
                    `crdproof preflight` and\n`crdproof minimum` report them by these ids. Written by `scripts/generate-docs` \
                    from `crates/schema/src/kubernetes/rules.yaml`.\n\n\
                    [How API servers treat CRD versions](api-server-behaviour.md) describes what works as designed.\n\n\
                    | id | guarantee | releases without it | fixed in |\n| --- | --- | --- | --- |\n"
        .to_owned();
    let affected = |rule: &ServerRule| rule.bad.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let fixed = |rule: &ServerRule| match rule.good.as_slice() {
        [] => "no release".to_owned(),
        good => good.iter().map(|fix| fix.release.to_string()).collect::<Vec<_>>().join(", "),
    };
    for rule in RULES.iter() {
        let (id, anchor) = (&rule.id, rule.id.to_lowercase());
        let (title, affected, fixed) = (cell(&rule.title), affected(rule), fixed(rule));
        let _ = writeln!(text, "| [{id}](#{anchor}) | {title} | {affected} | {fixed} |");
    }
    for rule in RULES.iter() {
        let severity = match rule.severity {
            Weight::Error => "error",
            Weight::Warning => "warning",
            Weight::Note => "note",
        };
        let probes = match &rule.untested {
            Some(why) => format!("none: {}", prose(why)),
            None => rule.probes.iter().map(|probe| format!("`{probe}`")).collect::<Vec<_>>().join(", "),
        };
        let _ = write!(
            text,
            "\n## {}\n\n`server/{}` · {severity}\n\n**Guarantee:** {}.\n\n**What breaks:** {}\n\n\
             **Releases without it:** {}. Fixed in {}.\n\n**Probe:** {probes}.\n\n**Source:** <{}>\n",
            rule.id,
            rule.name,
            prose(&rule.title),
            prose(&rule.breaks),
            affected(rule),
            fixed(rule),
            rule.source,
        );
    }
    text
}

/// The table of features.
fn features() -> String {
    let mut text = "# Features by release\n\nWritten by `scripts/generate-docs` from the table that `manifest/minimum-kubernetes`, \
                    `crdproof minimum` and\n`crdproof preflight` go by (`crates/schema/src/kubernetes/features.yaml`).\n\n\
                    *Since* is the first release in which a new CRD or a client may rely on it without asking for it. *Off* and *on* are\n\
                    beta. What an older server does: it *refuses* it, *drops* it silently, or *ignores* it. Parts of a feature share its \
                    fate\nwhere it is not there at all: a rule that calls a library is dropped by 1.24, and refused by a release that knows \
                    rules but\nnot the library. What is *seen* is recognised in manifests; the rest is a matter of servers.\n"
        .to_owned();
    let mut area = None;
    for (feature, _) in FEATURES.iter() {
        if area.replace(feature.area) != Some(feature.area) {
            let _ = write!(text, "\n## {}\n\n", feature.area.title());
            text.push_str("| feature | since | alpha | off | on | GA | removed | an older server | seen | gate |\n");
            text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
        }
        let release = |release: Option<KubeVersion>| release.map_or("–".to_owned(), |release| release.to_string());
        let Stages { alpha, beta_off, beta_on, ga, removed } = feature.stages;
        let stages = [feature.since(), alpha, beta_off, beta_on, ga, removed].map(release).join(" | ");
        let older = match feature.older {
            Older::Refuses => "refuses",
            Older::Drops => "drops",
            Older::Ignores => "ignores",
        };
        let note = feature.note.as_ref().map_or(String::new(), |note| format!(": {}", cell(note)));
        let seen = if feature.found.is_some() { "yes" } else { "–" };
        let gate = feature.gate.as_ref().map_or("–".to_owned(), |gate| format!("`{gate}`"));
        let what = cell(&feature.what);
        let _ = writeln!(text, "| [{what}]({}){note} | {stages} | {older} | {seen} | {gate} |", feature.source);
    }
    text
}

fn need_text(need: Need) -> &'static str {
    match need {
        Need::Manifest => "the CRD",
        Need::Baseline => "a baseline",
        Need::Samples => "samples",
        Need::ConversionRuns | Need::Survey => "a converter, and samples or generated objects",
        Need::FieldMap => "a field map beside the converter",
        Need::Recorded => "recorded conversions of samples",
        Need::BaselineConverter => "the converter of the previous release",
        Need::Exchanges => "a webhook that runs, and samples",
        Need::Scenario(_) => "an API server",
        Need::InTreeMigration => "a control plane that migrates (`--in-tree-migration`)",
    }
}

/// Returns a page with the part between two lines replaced.
fn replace_between(page: &str, begin: &str, end: &str, part: &str) -> String {
    let Some((before, rest)) = page.split_once(begin) else { return page.to_owned() };
    let after = rest.split_once(end).map_or("", |(_, after)| after);
    format!("{before}{begin}\n{part}\n{end}{after}")
}

/// Escapes markup in a text, except for code spans.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let escape = |(index, part): (usize, &str)| match index % 2 {
        0 => part.replace('*', "\\*").replace('<', "\\<"),
        _ => part.to_owned(),
    };
    parts.map(escape).collect::<Vec<_>>().join("`")
}

fn cell(text: &str) -> String {
    prose(text).replace('|', "\\|")
}
