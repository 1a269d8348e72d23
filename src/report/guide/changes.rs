//! What changed about kinds, in words.

use super::Change;
use super::steps::{heir, listed};
use crate::subject::{Crd, Version};
use crdproof_schema::structural::compare::{Delta, Direction, What};

/// So many lines are shown for a kind, and so many fields in a line.
const LINES: usize = 12;
const FIELDS: usize = 6;

/// Kinds that changed alike, and how.
pub(super) struct Block {
    pub(super) kinds: Vec<String>,
    pub(super) lines: Vec<String>,
}

/// What changed about kinds that stay, each change once.
pub(super) fn changed(changes: &[Change<'_>]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for change in changes {
        let lines = match (change.old, change.new) {
            (Some(old), Some(new)) => lines(change, old, new),
            (Some(old), None) => vec![format!("`{}` is gone, with all its objects.", old.name)],
            (None, _) => continue,
        };
        let kind = change.kind();
        match blocks.iter_mut().find(|block| block.lines == lines) {
            _ if lines.is_empty() => {}
            Some(block) => block.kinds.push(kind),
            None => blocks.push(Block { kinds: vec![kind], lines }),
        }
    }
    for block in &mut blocks {
        cut(&mut block.lines, LINES, "more changes");
    }
    blocks
}

fn lines(change: &Change<'_>, old: &Crd, new: &Crd) -> Vec<String> {
    let mut lines = whole(old, new);
    // Versions that changed alike are told once.
    let mut told: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    let compared: Vec<_> = change.versions.iter().filter(|version| version.in_place).collect();
    for version in &compared {
        let inside = inside(&version.deltas);
        match told.iter_mut().find(|(known, _)| *known == inside) {
            _ if inside.is_empty() => {}
            Some((_, names)) => names.push(&version.name),
            None => told.push((inside, vec![&version.name])),
        }
    }
    for (inside, names) in told {
        let is_all = names.len() == compared.len();
        let versions = if is_all { String::new() } else { format!(" (only `{}`)", names.join("`, `")) };
        lines.extend(inside.into_iter().map(|line| format!("{line}{versions}")));
    }
    for version in change.versions.iter().filter(|version| !version.in_place) {
        let is_other = |delta: &&Delta| delta.is_breaking();
        let fields: Vec<_> = version.deltas.iter().filter(is_other).map(|delta| delta.path.to_string()).collect();
        if !fields.is_empty() {
            let from = version.from.as_deref().unwrap_or_default();
            lines.push(format!("`{}` differs from `{from}` in {}", version.name, listed(&fields, FIELDS)));
        }
    }
    lines
}

/// The differences of one version, fields with the same change together. What has no effect is left out.
fn inside(deltas: &[Delta]) -> Vec<String> {
    let mut changes: Vec<(String, Vec<String>)> = Vec::new();
    let mut looser: Vec<String> = Vec::new();
    for delta in deltas {
        let path = delta.path.to_string();
        match (&delta.what, delta.direction) {
            (What::PropertyAdded, Direction::Wider) | (_, Direction::Harmless) => {}
            (_, Direction::Wider) if looser.contains(&path) => {}
            (_, Direction::Wider) => looser.push(path),
            (_, Direction::Meaning | Direction::Unknown | Direction::Narrower | Direction::Lossy) => {
                let text = delta.to_string();
                match changes.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, paths)) => paths.push(path),
                    None => changes.push((text, vec![path])),
                }
            }
        }
    }
    let mut lines: Vec<_> = changes.iter().map(|(text, paths)| format!("{}: {text}", listed(paths, FIELDS))).collect();
    if !looser.is_empty() {
        lines.push(format!("looser: {}", listed(&looser, FIELDS)));
    }
    lines
}

/// What concerns a CRD as a whole, and the states of its versions.
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

/// Kinds, versions and fields that are new.
pub(super) fn new(changes: &[Change<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    for change in changes {
        let Some(new) = change.new else { continue };
        let kind = change.kind();
        let Some(old) = change.old else {
            let versions: Vec<_> = new.versions.iter().map(|version| version.name.as_str()).collect();
            lines.push(format!("the kind {kind} (`{}`, `{}`)", new.name, versions.join("`, `")));
            continue;
        };
        let versions = new.versions.iter().filter(|version| old.version(&version.name).is_none());
        lines.extend(versions.map(|version| format!("{kind}: the version `{}/{}`", new.group, version.name)));
        let mut fields: Vec<String> = Vec::new();
        for version in change.versions.iter().filter(|version| version.in_place) {
            for delta in version.deltas.iter().filter(|delta| matches!(delta.what, What::PropertyAdded)) {
                let path = delta.path.to_string();
                if !fields.contains(&path) {
                    fields.push(path);
                }
            }
        }
        let fields = listed(&fields, FIELDS);
        match told.iter_mut().find(|(known, _)| *known == fields) {
            _ if fields.is_empty() => {}
            Some((_, kinds)) => kinds.push(kind),
            None => told.push((fields, vec![kind])),
        }
    }
    lines.extend(told.into_iter().map(|(fields, kinds)| format!("{}: {fields}", kinds.join(", "))));
    lines
}

/// Versions that are deprecated from now on.
pub(super) fn deprecated(changes: &[Change<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    for (old, new) in changes.iter().filter_map(|change| change.old.zip(change.new)) {
        let newly = new.versions.iter().filter(|version| {
            version.deprecated && old.version(&version.name).is_some_and(|before| !before.deprecated)
        });
        lines.extend(newly.map(|version| {
            let name = &version.name;
            let warning = version.deprecation_warning.as_ref();
            let warning = warning.map(|(text, _)| format!(": “{text}”")).unwrap_or_default();
            format!("{} `{}/{name}`{warning}. Move{} while it still works.", new.names.kind, new.group, heir(new, name))
        }));
    }
    lines
}

/// Leaves so many lines and says how many more there are.
pub(super) fn cut(lines: &mut Vec<String>, most: usize, what: &str) {
    let more = lines.len().saturating_sub(most);
    if more > 1 {
        lines.truncate(most);
        lines.push(format!("… and {more} {what}"));
    }
}
