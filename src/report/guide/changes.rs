//! What changed about a CRD, in words.

use crate::subject::{Crd, Version};
use crdproof_schema::structural::compare::{Delta, Direction, What, compare};

/// Longer lists are cut; the report has them all.
const LINES: usize = 40;

/// What changed about a CRD.
pub(super) struct Changes {
    /// What concerns the CRD as a whole, and the states of its versions.
    pub(super) crd: Vec<String>,
    /// What changed inside versions.
    pub(super) versions: Vec<VersionChanges>,
}

/// What changed inside a version.
pub(super) struct VersionChanges {
    /// Its name.
    pub(super) name: String,
    /// What the heading adds to the name.
    pub(super) remark: String,
    /// Every difference. Empty for a version that has nothing to be compared with.
    pub(super) deltas: Vec<Delta>,
    /// Whether old objects of this very version are concerned.
    pub(super) in_place: bool,
    breaking: Vec<String>,
    new: Vec<String>,
    relaxed: Vec<String>,
    other: Vec<String>,
}

impl Changes {
    pub(super) fn between(old: &Crd, new: &Crd) -> Self {
        let mut crd = Vec::new();
        for (what, before, after) in [
            ("Scope", &old.scope, &new.scope),
            ("Kind", &old.names.kind, &new.names.kind),
            ("Group", &old.group, &new.group),
            ("Plural", &old.names.plural, &new.names.plural),
        ] {
            if before != after {
                crd.push(format!("{what} changed from {before} to {after}."));
            }
        }
        let (before, after) = (&old.conversion.strategy, &new.conversion.strategy);
        if before != after {
            crd.push(format!("Conversion changed from strategy {before} to {}.", or_none(after)));
        }
        crd.extend(states(old, new));
        let versions = new.versions.iter().filter_map(|version| inside(old, version)).collect();
        Self { crd, versions }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.crd.is_empty() && self.versions.is_empty()
    }
}

fn or_none(strategy: &str) -> &str {
    if strategy.is_empty() { "(not stated)" } else { strategy }
}

/// A version's state: `v1 (served, stored)`.
pub(super) fn describe(version: &Version) -> String {
    let mut words = vec![if version.served { "served" } else { "not served" }];
    if version.storage {
        words.push("stored");
    }
    if version.deprecated {
        words.push("deprecated");
    }
    format!("`{}` ({})", version.name, words.join(", "))
}

/// How versions came, went and changed their state.
fn states(old: &Crd, new: &Crd) -> Vec<String> {
    let mut lines = Vec::new();
    for after in &new.versions {
        let name = &after.name;
        let Some(before) = old.version(name) else {
            lines.push(format!("{} is new.", describe(after)));
            continue;
        };
        if after.deprecated && !before.deprecated {
            let warning = after.deprecation_warning.as_ref();
            let warning = warning.map(|(text, _)| format!(": “{text}”")).unwrap_or_default();
            lines.push(format!("`{name}` is deprecated from now on{warning}."));
        }
        lines.extend(flags(before, after));
        lines.extend(columns(before, after));
    }
    for before in &old.versions {
        if new.version(&before.name).is_none() {
            lines.push(format!("{} is gone.", describe(before)));
        }
    }
    lines
}

/// What was switched on or off.
fn flags(before: &Version, after: &Version) -> Vec<String> {
    let mut lines = Vec::new();
    let flags = [
        (before.deprecated, after.deprecated, "", "is no longer deprecated"),
        (before.served, after.served, "is served from now on", "is no longer served"),
        (before.storage, after.storage, "is the stored version from now on", "is no longer the stored version"),
        (
            before.status.is_some(),
            after.status.is_some(),
            "gained the status subresource: `status` is written only through `/status`",
            "lost the status subresource: `status` is written with the object",
        ),
        (before.scale.is_some(), after.scale.is_some(), "gained the scale subresource", "lost the scale subresource"),
    ];
    for (was, is, came, went) in flags {
        let words = if is { came } else { went };
        if was != is && !words.is_empty() {
            lines.push(format!("`{}` {words}.", after.name));
        }
    }
    lines
}

fn columns(before: &Version, after: &Version) -> Vec<String> {
    let columns = |version: &Version| -> Vec<(String, Option<String>)> {
        let path = |path: &Option<(String, _)>| path.as_ref().map(|(path, _)| path.clone());
        let columns = version.columns.iter();
        columns.map(|column| (column.name.clone(), path(&column.path))).collect()
    };
    let fields = |version: &Version| -> Vec<String> {
        let fields = version.selectable_fields.iter();
        fields.map(|(path, _)| path.clone()).collect()
    };
    let mut lines = Vec::new();
    if columns(before) != columns(after) {
        lines.push(format!("`{}` shows other columns in `kubectl get`.", after.name));
    }
    if fields(before) != fields(after) {
        lines.push(format!("`{}` has other fields to select by.", after.name));
    }
    lines
}

/// What changed inside a version. A new one is compared with what was stored so far, because that
/// is where its users come from.
fn inside(old: &Crd, version: &Version) -> Option<VersionChanges> {
    let (before, in_place) = match old.version(&version.name) {
        Some(before) => (before, true),
        None => (old.storage()?, false),
    };
    let (from, to) = (before.schema.as_ref()?, version.schema.as_ref()?);
    let mut changes = VersionChanges {
        name: version.name.clone(),
        remark: if in_place { String::new() } else { format!(", compared with `{}`", before.name) },
        deltas: compare(from, to),
        in_place,
        breaking: Vec::new(),
        new: Vec::new(),
        relaxed: Vec::new(),
        other: Vec::new(),
    };
    (changes.sort_in() > 0).then_some(changes)
}

fn cut(lines: &mut Vec<String>) -> usize {
    let count = lines.len();
    if count > LINES {
        lines.truncate(LINES);
        lines.push(format!("… and {} more", count - LINES));
    }
    count
}

impl VersionChanges {
    /// Puts each difference where a reader looks for it, and says how many there are to show.
    fn sort_in(&mut self) -> usize {
        for delta in &self.deltas {
            let line = format!("`{}`: {delta}", delta.path);
            match (&delta.what, delta.direction) {
                // Words for readers are not worth a line each.
                (What::Annotated { .. }, _) => {}
                (What::PropertyAdded, Direction::Wider) => {
                    self.new.push(format!("`{}`", delta.path));
                }
                (_, Direction::Wider) => self.relaxed.push(line),
                (_, Direction::Harmless) => self.other.push(line),
                (_, Direction::Meaning | Direction::Unknown | Direction::Narrower | Direction::Lossy) => {
                    self.breaking.push(line);
                }
            }
        }
        let lists = [&mut self.breaking, &mut self.new, &mut self.relaxed, &mut self.other];
        lists.map(cut).iter().sum()
    }

    /// The lists that are worth showing, each with its label.
    pub(super) fn sections(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        let breaking =
            if self.in_place { "May break what exists:" } else { "Differs, so objects and clients must be adapted:" };
        [
            (breaking, self.breaking.as_slice()),
            ("New fields:", self.new.as_slice()),
            ("Relaxed:", self.relaxed.as_slice()),
            ("Without effect on what exists:", self.other.as_slice()),
        ]
        .into_iter()
        .filter(|(_, lines)| !lines.is_empty())
    }
}
