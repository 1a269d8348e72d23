//! Changes of kinds as text.

use indexmap::{IndexMap, IndexSet};

use super::steps::{listed, successor};
use super::{Change, VersionChange};
use crate::report::{Field, Report};
use crate::subject::{Crd, Version};
use crdproof_schema::structural::compare::{Delta, Direction, What};

/// Maximum numbers of lines for a kind, and of fields in a line.
const MAX_LINES: usize = 12;
const MAX_FIELDS: usize = 6;
/// Maximum number of named fields of each group for a new version.
const MAX_MOVED: usize = 3;

/// Kinds with the same changes.
pub(super) struct Block {
    pub(super) kinds: Vec<String>,
    pub(super) lines: Vec<String>,
}

/// Returns the changes of kinds, each once.
pub(super) fn changed(changes: &[Change<'_>], report: &Report) -> Vec<Block> {
    let mut by_line: IndexMap<String, Vec<String>> = IndexMap::new();
    for change in changes {
        let lines = match (change.old, change.new) {
            (Some(old), Some(new)) => lines(change, old, new, report),
            (Some(old), None) => vec![format!("`{}` is gone, with all its objects.", old.name)],
            (None, _) => continue,
        };
        for line in lines {
            by_line.entry(line).or_default().push(change.kind());
        }
    }
    let mut by_kinds: IndexMap<Vec<String>, Vec<String>> = IndexMap::new();
    for (line, kinds) in by_line {
        by_kinds.entry(kinds).or_default().push(line);
    }
    let blocks = by_kinds.into_iter().map(|(kinds, mut lines)| {
        cut(&mut lines, MAX_LINES, "more changes");
        Block { kinds, lines }
    });
    blocks.collect()
}

fn lines(change: &Change<'_>, old: &Crd, new: &Crd, report: &Report) -> Vec<String> {
    let mut lines = whole(old, new);
    let in_place: Vec<_> = change.versions.iter().filter(|version| version.in_place).collect();
    for (text, fields) in findings(report, &new.name) {
        let paths: IndexSet<&str> = fields.iter().filter_map(|field| field.path.as_deref()).collect();
        let versions: IndexSet<&str> = fields.iter().filter_map(|field| field.version.as_deref()).collect();
        let only = versions.iter().copied().collect::<Vec<_>>().join("`, `");
        let only = if versions.len() == in_place.len() { String::new() } else { format!(" (only `{only}`)") };
        let is_general = paths.is_empty();
        lines.push(if is_general { text.to_owned() } else { format!("{}: {text}{only}", listed(paths, MAX_FIELDS)) });
    }
    let deltas = in_place.iter().flat_map(|version| &version.deltas);
    let looser: IndexSet<String> =
        deltas.filter(|delta| is_looser(delta)).map(|delta| delta.path.to_string()).collect();
    if !looser.is_empty() {
        lines.push(format!("looser: {}", listed(looser.iter().map(String::as_str), MAX_FIELDS)));
    }
    let fresh = change.versions.iter().filter(|version| !version.in_place);
    lines.extend(fresh.filter_map(moved));
    lines
}

/// Returns the changes of a CRD that findings name, with their fields. Changes of versions are listed for the CRD as a
/// whole.
fn findings<'r>(report: &'r Report, crd: &str) -> Vec<(&'r str, Vec<&'r Field>)> {
    let changes = report.findings.iter().filter_map(|finding| {
        let is_of = |field: &&Field| field.crd.as_deref() == Some(crd);
        let has_place = |field: &&Field| field.path.is_some() || finding.check == "upgrade/kubectl-view-kept";
        let fields: Vec<_> = finding.fields.iter().filter(is_of).filter(has_place).collect();
        Some((finding.change.as_deref()?, fields))
    });
    changes.filter(|(_, fields)| !fields.is_empty()).collect()
}

fn is_looser(delta: &Delta) -> bool {
    delta.direction == Direction::Wider && !matches!(delta.what, What::PropertyAdded)
}

/// Returns the differences that users of a new version notice.
fn moved(version: &VersionChange) -> Option<String> {
    let paths = |is_meant: fn(&Delta) -> bool| {
        let meant = version.deltas.iter().filter(|delta| delta.is_breaking() && is_meant(delta));
        meant.map(|delta| delta.path.to_string()).collect::<IndexSet<String>>()
    };
    let groups = [
        ("gone", paths(|delta| matches!(delta.what, What::PropertyRemoved { .. }))),
        ("of another type", paths(|delta| matches!(delta.what, What::TypeChanged { .. }))),
        ("required", paths(|delta| matches!(delta.what, What::RequiredAdded { .. }))),
    ];
    let is_named = |path: &String| groups.iter().any(|(_, paths)| paths.contains(path));
    let others = paths(|_| true).iter().filter(|path| !is_named(path)).count();
    let named = groups.iter().filter(|(_, paths)| !paths.is_empty());
    let mut parts: Vec<_> =
        named.map(|(what, paths)| format!("{what}: {}", listed(paths.iter().map(String::as_str), MAX_MOVED))).collect();
    if others > 0 {
        parts.push(format!("other limits, defaults or owners: {others} fields"));
    }
    let from = version.from.as_deref().unwrap_or_default();
    (!parts.is_empty()).then(|| format!("`{}`, compared with `{from}`: {}", version.name, parts.join("; ")))
}

/// Returns the changes of a CRD as a whole, and the states of its versions.
fn whole(old: &Crd, new: &Crd) -> Vec<String> {
    let mut lines = Vec::new();
    for (what, before, after) in [
        ("scope", &old.scope, &new.scope),
        ("kind", &old.names.kind, &new.names.kind),
        ("conversion strategy", &old.conversion.strategy, &new.conversion.strategy),
    ] {
        if before != after && !after.is_empty() {
            lines.push(format!("{what} changed from {before} to {after}"));
        }
    }
    for before in &old.versions {
        let name = &before.name;
        match new.version(name) {
            None => lines.push(format!("`{name}` is gone")),
            Some(after) => lines.extend(flags(before, after).into_iter().map(|words| format!("`{name}` {words}"))),
        }
    }
    lines
}

fn flags(before: &Version, after: &Version) -> Vec<&'static str> {
    let fields = |version: &Version| version.selectable_fields.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    let gone = fields(before).iter().any(|field| !fields(after).contains(field));
    let flags = [
        (before.served, after.served, "is served", "is no longer served"),
        (before.storage, after.storage, "is the stored version", "is no longer the stored version"),
        (before.status.is_some(), after.status.is_some(), "has the status subresource", "lost the status subresource"),
        (before.scale.is_some(), after.scale.is_some(), "has the scale subresource", "lost the scale subresource"),
        (gone, false, "", "has fewer fields to select by"),
    ];
    let changed = flags.into_iter().filter(|(was, is, ..)| was != is);
    changed.map(|(_, is, came, went)| if is { came } else { went }).collect()
}

/// New kinds, versions and fields.
pub(super) fn new(changes: &[Change<'_>]) -> Vec<String> {
    let (mut lines, mut versions, mut fields) = (Vec::new(), ByText::new(), ByText::new());
    for change in changes {
        let Some(new) = change.new else { continue };
        let Some(old) = change.old else {
            let versions: Vec<_> = new.versions.iter().map(|version| version.name.as_str()).collect();
            lines.push(format!("the kind {} (`{}`, `{}`)", change.kind(), new.name, versions.join("`, `")));
            continue;
        };
        for version in new.versions.iter().filter(|version| old.version(&version.name).is_none()) {
            versions.entry(format!("the version `{}/{}`", new.group, version.name)).or_default().push(change.kind());
        }
        let in_place = change.versions.iter().filter(|version| version.in_place);
        let added = in_place.flat_map(|version| &version.deltas);
        let added = added.filter(|delta| matches!(delta.what, What::PropertyAdded));
        let added: IndexSet<String> = added.map(|delta| delta.path.to_string()).collect();
        if !added.is_empty() {
            fields.entry(listed(added.iter().map(String::as_str), MAX_FIELDS)).or_default().push(change.kind());
        }
    }
    lines.extend(versions.into_iter().chain(fields).map(|(text, kinds)| format!("{}: {text}", named(&kinds, changes))));
    lines
}

/// Kinds by their text.
type ByText = IndexMap<String, Vec<String>>;

/// Newly deprecated versions.
pub(super) fn deprecated(changes: &[Change<'_>]) -> Vec<String> {
    let mut lines = ByText::new();
    for (old, new) in changes.iter().filter_map(|change| change.old.zip(change.new)) {
        let newly = new.versions.iter().filter(|version| {
            version.deprecated && old.version(&version.name).is_some_and(|before| !before.deprecated)
        });
        for version in newly {
            let name = &version.name;
            let warning = version.deprecation_warning.as_ref();
            let warning = warning.map(|(text, _)| format!(": “{text}”")).unwrap_or_default();
            let text = format!("`{}/{name}`{warning}. Move{} while it still works.", new.group, successor(new, name));
            lines.entry(text).or_default().push(new.names.kind.clone());
        }
    }
    lines.into_iter().map(|(text, kinds)| format!("{}: {text}", named(&kinds, changes))).collect()
}

/// Names kinds; all kinds of a project by one word.
pub(super) fn named(kinds: &[String], changes: &[Change<'_>]) -> String {
    let is_all = kinds.len() == changes.len() && kinds.len() > 3;
    if is_all { "Every kind".to_owned() } else { kinds.join(", ") }
}

/// Keeps this many lines and counts the others.
pub(super) fn cut(lines: &mut Vec<String>, most: usize, what: &str) {
    let more = lines.len().saturating_sub(most);
    if more > 1 {
        lines.truncate(most);
        lines.push(format!("… and {more} {what}"));
    }
}
