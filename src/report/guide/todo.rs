//! What people have to do about a change, in the order in which they have to do it.

use super::changes::Changes;
use crate::subject::{Crd, Version, api_version_order};
use crdproof_schema::structural::compare::{Delta, Direction, What};

/// So many paths are named in one line.
const PATHS: usize = 5;

pub(super) fn for_added(new: &Crd) -> Vec<String> {
    vec![
        "Apply the CRD before anything that uses it.".to_owned(),
        format!("Give the roles that need it access to `{}`.", new.name),
    ]
}

pub(super) fn for_removed(old: &Crd) -> Vec<String> {
    let name = &old.name;
    vec![
        format!("Save what you still need: `kubectl get {name}{} -o yaml`.", everywhere(old)),
        "Keep appliers that prune (Helm, Argo CD, Flux) from deleting the CRD until the objects are gone or moved."
            .to_owned(),
        format!("Delete the CRD once nobody has objects of it: `kubectl delete crd {name}`."),
    ]
}

pub(super) fn for_changed(old: &Crd, new: &Crd, changes: &Changes) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(gone_versions(old, new));
    lines.extend(in_objects(new, changes));
    lines.extend(conversion(old, new));
    lines.extend(deprecations(old, new));
    lines.extend(storage(old, new));
    lines
}

/// Versions that stop to be served or leave: everybody has to be off them first.
fn gone_versions(old: &Crd, new: &Crd) -> Vec<String> {
    let mut lines = Vec::new();
    let name = &new.name;
    for before in old.versions.iter().filter(|before| before.served) {
        if new.version(&before.name).is_some_and(|after| after.served) {
            continue;
        }
        lines.push(format!(
            "Before the upgrade, move every manifest, Helm release and client off `{}/{}`{}.",
            new.group,
            before.name,
            heir(new, &before.name)
        ));
    }
    for before in &old.versions {
        if new.version(&before.name).is_none() {
            lines.push(format!(
                "Before the upgrade, make sure that nothing is stored at `{0}`: `kubectl get crd {name} -o jsonpath='{{.status.storedVersions}}'` must not name it. Otherwise migrate all objects and trim the list first.",
                before.name
            ));
        }
    }
    lines
}

/// Which differences ask for something, and what: the words get the paths and the kind.
type Task = (fn(&Delta) -> bool, fn(&str, &str) -> String);

/// What has to be looked at in existing objects, most urgent first.
const TASKS: [Task; 7] = [
    (
        |delta| delta.direction == Direction::Lossy,
        |paths, kind| {
            format!(
                "Save the values of {paths} and put them where they belong now: they are dropped at the next write of each {kind}."
            )
        },
    ),
    (
        |delta| matches!(delta.what, What::TypeChanged { .. }) && delta.is_breaking(),
        |paths, _| format!("Rewrite {paths} in manifests and in existing objects: the type changed."),
    ),
    (
        |delta| matches!(delta.what, What::RequiredAdded { .. }) && delta.is_breaking(),
        |paths, kind| format!("Set {paths} in every {kind} and every manifest before the upgrade."),
    ),
    (tightens, |paths, kind| {
        format!("Find each {kind} outside the new limits of {paths} and correct it before the upgrade.")
    }),
    (is_default, |paths, _| format!("Write {paths} out wherever you relied on the old default or on its absence.")),
    (
        |delta| delta.direction == Direction::Meaning && !is_default(delta),
        |paths, _| {
            format!(
                "Check who applies {paths} (`kubectl get … --show-managed-fields`): ownership of its parts changes at the next write."
            )
        },
    ),
    (
        |delta| matches!(delta.what, What::NotUnderstood { .. }),
        |paths, _| format!("Judge the change of {paths} by hand: it could not be understood."),
    ),
];

fn in_objects(new: &Crd, changes: &Changes) -> Vec<String> {
    let mut lines = Vec::new();
    for version in changes.versions.iter().filter(|version| version.in_place) {
        for (pick, task) in TASKS {
            if let Some(paths) = paths(&version.deltas, pick) {
                let task = task(&paths, &new.names.kind);
                lines.push(format!("{task} (`{}`)", version.name));
            }
        }
    }
    lines
}

fn is_default(delta: &Delta) -> bool {
    matches!(delta.what, What::DefaultChanged { .. })
}

fn tightens(delta: &Delta) -> bool {
    let refuses = matches!(delta.direction, Direction::Narrower | Direction::Unknown);
    refuses && !matches!(delta.what, What::TypeChanged { .. } | What::RequiredAdded { .. } | What::NotUnderstood { .. })
}

fn paths(deltas: &[Delta], pick: fn(&Delta) -> bool) -> Option<String> {
    let mut paths: Vec<_> =
        deltas.iter().filter(|delta| pick(delta)).map(|delta| format!("`{}`", delta.path)).collect();
    paths.dedup();
    let more = paths.len().saturating_sub(PATHS);
    paths.truncate(PATHS);
    match (paths.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(paths.join(", ")),
        (false, more) => Some(format!("{} and {more} more", paths.join(", "))),
    }
}

fn conversion(old: &Crd, new: &Crd) -> Option<String> {
    let webhook = |crd: &Crd| crd.conversion.strategy == "Webhook";
    match (webhook(old), webhook(new)) {
        (false, true) => Some("Have the conversion webhook running and reachable before you apply the CRD: without it the API server can read no object of another version.".into()),
        (true, false) => Some("Keep the conversion webhook running until the new CRD is in force on every API server.".into()),
        (true, true) | (false, false) => None,
    }
}

fn deprecations(old: &Crd, new: &Crd) -> Vec<String> {
    let newly =
        |version: &&Version| version.deprecated && old.version(&version.name).is_some_and(|old| !old.deprecated);
    let line = |version: &Version| {
        format!(
            "Move manifests and clients from `{}/{}`{}; it still works and warns.",
            new.group,
            version.name,
            heir(new, &version.name)
        )
    };
    new.versions.iter().filter(newly).map(line).collect()
}

/// The flip of the stored version, and what must follow it.
fn storage(old: &Crd, new: &Crd) -> Vec<String> {
    let (Some(before), Some(after)) = (old.storage(), new.storage()) else {
        return Vec::new();
    };
    if before.name == after.name {
        return Vec::new();
    }
    let (name, to) = (&new.name, &after.name);
    let everywhere = everywhere(new);
    vec![
        format!(
            "After the upgrade, migrate what is stored: rewrite every {} so that it is stored at `{to}` (`kubectl get {name}{everywhere} -o json | kubectl replace -f -`, or a StorageVersionMigration).",
            new.names.kind
        ),
        format!(
            "Then trim the list of stored versions: `kubectl patch crd {name} --subresource=status --type=merge -p '{{\"status\":{{\"storedVersions\":[\"{to}\"]}}}}'`."
        ),
        format!("Keep `{}` in the CRD until both are done; a later release may remove it.", before.name),
    ]
}

/// Where users of a version should go: the one that API servers prefer among those that stay.
fn heir(new: &Crd, name: &str) -> String {
    let mut candidates: Vec<_> = new
        .versions
        .iter()
        .filter(|version| version.served && !version.deprecated && version.name != name)
        .map(|version| version.name.as_str())
        .collect();
    candidates.sort_by(|left, right| api_version_order(left, right));
    match candidates.first() {
        Some(heir) => format!(" to `{}/{heir}`", new.group),
        None => String::new(),
    }
}

fn everywhere(crd: &Crd) -> &'static str {
    if crd.is_namespaced() { " -A" } else { "" }
}
