//! What people have to do about a change, in the order in which they have to do it. The same step for several kinds is one.

use super::Change;
use crate::subject::{Crd, api_version_order};
use crdproof_schema::structural::compare::{Delta, Direction, What};

/// So many paths are named in one line.
const PATHS: usize = 5;

/// One thing to do.
pub(super) struct Step {
    text: String,
    kinds: Vec<String>,
    /// A command for the first of the kinds.
    command: Option<String>,
}

impl Step {
    /// The step as an item of a checklist.
    pub(super) fn line(&self) -> String {
        let kinds = if self.kinds.is_empty() { String::new() } else { format!("{}: ", self.kinds.join(", ")) };
        let command = self.command.as_ref().map(|command| format!(" `{command}`")).unwrap_or_default();
        format!("- [ ] {kinds}{}{command}", self.text)
    }
}

/// Steps, each once.
#[derive(Default)]
pub(super) struct Steps(Vec<Step>);

impl Steps {
    fn add(&mut self, crd: &Crd, text: String, command: Option<String>) {
        let kind = &crd.names.kind;
        match self.0.iter_mut().find(|step| step.text == text) {
            Some(step) if step.kinds.contains(kind) => {}
            Some(step) => step.kinds.push(kind.clone()),
            None => self.0.push(Step { text, kinds: vec![kind.clone()], command }),
        }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.0.iter().map(Step::line).collect()
    }
}

/// What to do before an upgrade.
pub(super) fn before(changes: &[Change<'_>]) -> Steps {
    let mut steps = Steps::default();
    for change in changes {
        if let (Some(old), None) = (change.old, change.new) {
            let command = format!("kubectl get {}{} -o yaml", old.name, everywhere(old));
            let text = "Save what you need: the CRD is gone, and deleting it deletes every object of it. Keep appliers that prune (Helm, Argo CD, Flux) from deleting it until nobody needs the objects.";
            steps.add(old, text.to_owned(), Some(command));
        }
    }
    for change in changes {
        if let (Some(old), Some(new)) = (change.old, change.new) {
            versions(&mut steps, old, new);
        }
    }
    for (pick, text) in TASKS {
        for change in changes {
            if let (Some(_), Some(new)) = (change.old, change.new) {
                task(&mut steps, change, new, pick, text);
            }
        }
    }
    for change in changes {
        if let (Some(old), Some(new)) = (change.old, change.new) {
            subresources(&mut steps, old, new);
        }
    }
    steps
}

/// What to do after it.
pub(super) fn after(changes: &[Change<'_>]) -> Steps {
    let mut steps = Steps::default();
    for (old, new) in changes.iter().filter_map(|change| change.old.zip(change.new)) {
        let (Some(before), Some(stored)) = (old.storage(), new.storage()) else { continue };
        if before.name == stored.name {
            continue;
        }
        let (name, to) = (&new.name, &stored.name);
        let rewrite = format!("kubectl get {name}{} -o json | kubectl replace -f -", everywhere(new));
        steps.add(new, format!("Rewrite every object, so that it is stored at `{to}`."), Some(rewrite));
        let trim = format!(
            "kubectl patch crd {name} --subresource=status --type=merge -p '{{\"status\":{{\"storedVersions\":[\"{to}\"]}}}}'"
        );
        steps.add(new, "Then trim the list of stored versions.".to_owned(), Some(trim));
    }
    steps
}

/// Versions that stop to be served or leave, and the converter: everybody has to be off them, or ready, first.
fn versions(steps: &mut Steps, old: &Crd, new: &Crd) {
    for before in old.versions.iter().filter(|before| before.served) {
        let is_served = new.version(&before.name).is_some_and(|after| after.served);
        if !is_served {
            let text = format!(
                "Move every manifest, Helm release and client off `{}/{}`{}.",
                new.group,
                before.name,
                heir(new, &before.name)
            );
            steps.add(new, text, None);
        }
    }
    for before in old.versions.iter().filter(|before| new.version(&before.name).is_none()) {
        let text = format!(
            "Make sure that `status.storedVersions` does not list `{}`; otherwise rewrite all objects and trim the list.",
            before.name
        );
        steps.add(new, text, Some(format!("kubectl get crd {} -o jsonpath='{{.status.storedVersions}}'", new.name)));
    }
    let is_webhook = |crd: &Crd| crd.conversion.strategy == "Webhook";
    match (is_webhook(old), is_webhook(new)) {
        (false, true) => {
            let text = "Have the conversion webhook running before you apply the CRD: without it objects of another version cannot be read.";
            steps.add(new, text.to_owned(), None);
        }
        (true, false) => {
            let text = "Keep the conversion webhook running until the new CRD is in force on every API server.";
            steps.add(new, text.to_owned(), None);
        }
        (true, true) | (false, false) => {}
    }
}

fn subresources(steps: &mut Steps, old: &Crd, new: &Crd) {
    let served = new.versions.iter().filter_map(|after| Some((old.version(&after.name)?, after)));
    for (before, after) in served {
        for (part, was, is) in [
            ("status", before.status.is_some(), after.status.is_some()),
            ("scale", before.scale.is_some(), after.scale.is_some()),
        ] {
            if was && !is {
                steps.add(new, format!("Stop programs that write to `/{part}`: it is gone."), None);
            }
        }
    }
}

/// Which differences ask for something, and what: `PATHS` stands for the fields.
type Task = (fn(&Delta) -> bool, &'static str);

/// What has to be looked at in existing objects, most urgent first.
const TASKS: [Task; 6] = [
    (
        |delta| delta.direction == Direction::Lossy,
        "Save the values of PATHS: they are dropped at the next write of each object.",
    ),
    (
        |delta| matches!(delta.what, What::TypeChanged { .. }) && delta.is_breaking(),
        "Rewrite PATHS in objects and manifests: the type changed.",
    ),
    (
        |delta| matches!(delta.what, What::RequiredAdded { .. }) && delta.is_breaking(),
        "Set PATHS in every object and manifest: it is required.",
    ),
    (tightens, "Correct objects and manifests that break the new limits of PATHS."),
    (
        |delta| is_default(delta) && delta.is_breaking(),
        "Set PATHS wherever you rely on the old default, or on its absence.",
    ),
    (
        |delta| delta.direction == Direction::Meaning && !is_default(delta),
        "Let one manager apply all of PATHS: who owns its parts changes at the next write.",
    ),
];

fn task(steps: &mut Steps, change: &Change<'_>, new: &Crd, pick: fn(&Delta) -> bool, text: &str) {
    let deltas = change.versions.iter().filter(|version| version.in_place).flat_map(|version| &version.deltas);
    let mut paths: Vec<String> = Vec::new();
    // Status is what controllers write, not people.
    for delta in deltas.filter(|delta| pick(delta)) {
        let path = delta.path.to_string();
        if !path.starts_with(".status") && !paths.contains(&path) {
            paths.push(path);
        }
    }
    let Some(first) = paths.first() else { return };
    let (name, all) = (&new.name, everywhere(new));
    let command = if text.contains("manager") {
        format!("kubectl get {name}{all} --show-managed-fields -o yaml")
    } else {
        // Keys of maps have no place in a column.
        let column = first.split(".*").next().filter(|column| column.len() > 1).unwrap_or(".spec");
        let namespace = if new.is_namespaced() { "NAMESPACE:.metadata.namespace," } else { "" };
        format!("kubectl get {name}{all} -o custom-columns='{namespace}NAME:.metadata.name,VALUE:{column}'")
    };
    steps.add(new, text.replace("PATHS", &listed(&paths, PATHS)), Some(command));
}

/// Some of these, and how many more there are.
pub(super) fn listed(paths: &[String], most: usize) -> String {
    let shown: Vec<_> = paths.iter().take(most).map(|path| format!("`{path}`")).collect();
    match paths.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn is_default(delta: &Delta) -> bool {
    matches!(delta.what, What::DefaultChanged { .. })
}

fn tightens(delta: &Delta) -> bool {
    let refuses = matches!(delta.direction, Direction::Narrower | Direction::Unknown);
    refuses && !matches!(delta.what, What::TypeChanged { .. } | What::RequiredAdded { .. })
}

/// Where users of a version should go: the one that API servers prefer among those that stay.
pub(super) fn heir(new: &Crd, name: &str) -> String {
    let mut candidates: Vec<_> = new
        .versions
        .iter()
        .filter(|version| version.served && !version.deprecated && version.name != name)
        .map(|version| version.name.as_str())
        .collect();
    candidates.sort_by(|left, right| api_version_order(left, right));
    candidates.first().map(|heir| format!(" to `{}/{heir}`", new.group)).unwrap_or_default()
}

fn everywhere(crd: &Crd) -> &'static str {
    if crd.is_namespaced() { " -A" } else { "" }
}
