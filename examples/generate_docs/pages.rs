//! Pages generated from the registry, the types and the help.

#[path = "check_pages.rs"]
mod check_pages;
#[path = "keys.rs"]
mod keys;
#[path = "reference.rs"]
mod reference;

use std::collections::BTreeMap;
use std::fmt::Write as _;

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
    pages.extend(check_pages::pages(&read));
    pages.insert("docs/features.md".into(), features());
    pages.insert("docs/server-defects.md".into(), server_defects());
    // Editors load the schema from the address that `crdproof init` writes.
    let schema = schema_for!(SubjectFile).to_value();
    pages.insert("docs/subject-file.schema.json".into(), format!("{schema:#}\n"));
    pages
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
