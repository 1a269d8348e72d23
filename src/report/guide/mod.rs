//! The upgrade guide: effects of a change of CRDs on users, as Markdown for release notes. Advice for maintainers stays
//! in the findings.

mod changes;
mod steps;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use self::changes::{Block, named};
use super::Report;
use crate::subject::{Crd, Subject};
use crdproof_schema::document::Node;
use crdproof_schema::structural::compare::{Delta, compare};

/// Maximum size of a guide; GitHub accepts 125,000 characters.
const MAX_BYTES: usize = 60_000;

/// The names of the two states.
#[derive(Debug, Clone, Copy)]
pub struct Between<'a> {
    /// The old state.
    pub old: &'a str,
    /// The new state.
    pub new: &'a str,
}

/// One CRD in both states; either may be missing.
struct Change<'a> {
    old: Option<&'a Crd>,
    new: Option<&'a Crd>,
    versions: Vec<VersionChange>,
}

/// The changes inside a version.
struct VersionChange {
    name: String,
    /// The version that it is compared with, if it is new.
    from: Option<String>,
    /// True if old objects of the same version are affected.
    in_place: bool,
    deltas: Vec<Delta>,
}

impl Change<'_> {
    fn kind(&self) -> String {
        let crd = self.new.or(self.old);
        crd.map(|crd| crd.names.kind.clone()).unwrap_or_default()
    }
}

/// Writes the guide for a subject that has an old state.
pub fn guide(subject: &Subject, report: &Report, between: Between<'_>) -> String {
    let baseline = subject.baseline.as_deref().unwrap_or_default();
    let names: BTreeSet<&str> = subject.crds.iter().chain(baseline).map(|crd| crd.name.as_str()).collect();
    let changes: Vec<_> = names.into_iter().map(|name| change(subject.baseline_of(name), subject.crd(name))).collect();
    let mut text = heading(&changes, report, between);
    section(&mut text, "Before you upgrade", &steps::before(&changes, report).lines(&changes), MAX_BYTES * 2 / 5);
    let blocks = render_blocks(&changes::changed(&changes, report), &changes);
    section(&mut text, "What changed", &blocks, MAX_BYTES * 4 / 5);
    let bullets = |lines: Vec<String>| lines.into_iter().map(|line| format!("- {line}")).collect::<Vec<_>>();
    section(&mut text, "New", &bullets(changes::new(&changes)), MAX_BYTES * 9 / 10);
    section(&mut text, "Deprecated", &bullets(changes::deprecated(&changes)), MAX_BYTES * 19 / 20);
    section(&mut text, "After you upgrade", &steps::after(&changes).lines(&changes), MAX_BYTES);
    text
}

fn change<'a>(old: Option<&'a Crd>, new: Option<&'a Crd>) -> Change<'a> {
    let versions = old.zip(new).map(|(old, new)| {
        let versions = new.versions.iter().filter_map(|version| {
            // A new version is compared with the previous storage version, because its users come from there.
            let in_place = old.version(&version.name).is_some();
            let before = old.version(&version.name).or_else(|| old.storage())?;
            let deltas = compare(before.schema.as_ref()?, version.schema.as_ref()?);
            let from = (!in_place).then(|| before.name.clone());
            Some(VersionChange { name: version.name.clone(), from, in_place, deltas })
        });
        versions.collect()
    });
    Change { old, new, versions: versions.unwrap_or_default() }
}

/// Writes a line for kinds with one change, and a list for others.
fn render_blocks(blocks: &[Block], changes: &[Change<'_>]) -> Vec<String> {
    let is_line = |block: &Block| block.lines.len() == 1;
    let told = blocks.iter().enumerate().map(|(at, block)| {
        let (kinds, lines) = (named(&block.kinds, changes), block.lines.join("\n- "));
        if is_line(block) {
            return format!("- **{kinds}**: {lines}");
        }
        // A list ends with an empty line.
        let gap = if at > 0 && is_line(&blocks[at - 1]) { "\n" } else { "" };
        format!("{gap}**{kinds}**\n\n- {lines}\n")
    });
    told.collect()
}

/// Adds a section, as far as it fits into this many bytes of the guide. Skips an empty one.
fn section(text: &mut String, title: &str, parts: &[String], most: usize) {
    if parts.is_empty() {
        return;
    }
    let _ = write!(text, "\n## {title}\n\n");
    for (at, part) in parts.iter().enumerate() {
        if text.len() + part.len() + 200 > most {
            let _ = writeln!(text, "- … and {} more; `crdproof diff` lists them all.", parts.len() - at);
            return;
        }
        text.push_str(part);
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
}

/// Returns the spec of a CRD, without locations.
fn spec(crd: &Crd) -> Option<Value> {
    crd.node.get("spec").map(Node::to_value)
}

fn heading(changes: &[Change<'_>], report: &Report, between: Between<'_>) -> String {
    let is_changed = |change: &&Change<'_>| match (change.old, change.new) {
        (Some(old), Some(new)) => spec(old) != spec(new),
        _ => false,
    };
    let counts = [
        (changes.iter().filter(|change| change.old.is_none()).count(), "new"),
        (changes.iter().filter(is_changed).count(), "changed"),
        (changes.iter().filter(|change| change.new.is_none()).count(), "gone"),
    ];
    let counts: Vec<_> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let counts = if counts.is_empty() { "none changed".to_owned() } else { counts.join(", ") };
    let verdict = match (report.summary.errors, report.summary.warnings) {
        (0, 0) => "No change breaks existing objects or clients.",
        (0, _) => "No change is sure to break existing objects or clients.",
        _ => "**Some changes break existing objects or clients.** Follow the steps before you upgrade.",
    };
    format!(
        "# Upgrading {} from {} to {}\n\n{} kinds: {counts}. {verdict}\n",
        project(report, between),
        reference(between.old),
        reference(between.new),
        changes.len()
    )
}

/// The revision of `git:REVISION:PATH`, or the unchanged source.
fn reference(source: &str) -> &str {
    source.strip_prefix("git:").and_then(|rest| rest.split(':').next()).unwrap_or(source)
}

/// Returns the name of the project: that of the subject, unless it is just the source.
fn project(report: &Report, between: Between<'_>) -> String {
    // Sources without a subject name are named after their content.
    let is_source = matches!(report.subject.as_str(), "" | "crds") || between.new.ends_with(&report.subject);
    let mut groups: Vec<_> =
        report.crds.iter().filter_map(|crd| crd.name.split_once('.')).map(|(_, group)| group).collect();
    groups.sort_unstable_by_key(|group| (group.len(), *group));
    match groups.first() {
        Some(group) if is_source => (*group).to_owned(),
        _ => report.subject.clone(),
    }
}
