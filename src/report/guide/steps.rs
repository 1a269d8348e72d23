//! Steps for users before and after a change, in order. The same step for several kinds is listed once.

use indexmap::IndexSet;

use super::Change;
use super::changes::named;
use crate::checks::Severity;
use crate::report::{Finding, Report};
use crate::subject::{Crd, api_version_order};

/// Maximum number of paths in one line.
const MAX_PATHS: usize = 5;

/// One step.
pub(super) struct Step {
    text: String,
    kinds: Vec<String>,
    /// A command for the first of the kinds.
    command: Option<String>,
}

impl Step {
    /// The step as an item of a checklist.
    fn line(&self, changes: &[Change<'_>]) -> String {
        let others = if self.kinds.len() > 1 { ", and so for the others" } else { "" };
        let command = self.command.as_ref().map(|command| format!(" `{command}`{others}")).unwrap_or_default();
        format!("- [ ] {}: {}{command}", named(&self.kinds, changes), self.text)
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

    pub(super) fn lines(&self, changes: &[Change<'_>]) -> Vec<String> {
        self.0.iter().map(|step| step.line(changes)).collect()
    }
}

/// Returns the steps before an upgrade.
pub(super) fn before(changes: &[Change<'_>], report: &Report) -> Steps {
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
    for (checks, text) in TASKS {
        for new in changes.iter().filter_map(|change| change.old.and(change.new)) {
            task(&mut steps, report, new, checks, text);
        }
    }
    for change in changes {
        if let (Some(old), Some(new)) = (change.old, change.new) {
            subresources(&mut steps, old, new);
        }
    }
    steps
}

/// Returns the steps after an upgrade.
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

/// Adds steps for versions that are no longer served or removed, and for the converter: clients must have moved first.
fn versions(steps: &mut Steps, old: &Crd, new: &Crd) {
    for before in old.versions.iter().filter(|before| before.served) {
        let is_served = new.version(&before.name).is_some_and(|after| after.served);
        if !is_served {
            let text = format!(
                "Move every manifest, Helm release and client off `{}/{}`{}.",
                new.group,
                before.name,
                successor(new, &before.name)
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

/// Checks whose findings concern existing objects, and the step: `MAX_PATHS` stands for the fields.
type Task = (&'static [&'static str], &'static str);

/// The most urgent first.
const TASKS: [Task; 6] = [
    (&["upgrade/field-kept"], "Save the values of MAX_PATHS: they are dropped at the next write of each object."),
    (&["upgrade/type-kept"], "Rewrite MAX_PATHS in objects and manifests: the type changed."),
    (&["upgrade/required-not-added"], "Set MAX_PATHS in every object and manifest: it is required."),
    (
        &["upgrade/constraint-not-tightened", "upgrade/rules-not-tightened", "upgrade/change-understood"],
        "Correct objects and manifests that break the new limits of MAX_PATHS.",
    ),
    (&["upgrade/default-kept"], "Set MAX_PATHS wherever you rely on the old default, or on its absence."),
    (
        &["upgrade/list-topology-kept"],
        "Let one manager apply all of MAX_PATHS: who owns its parts changes at the next write.",
    ),
];

fn task(steps: &mut Steps, report: &Report, new: &Crd, checks: &[&str], text: &str) {
    // Notes need no step.
    let is_meant = |finding: &&Finding| checks.contains(&finding.check.as_str()) && finding.severity > Severity::Note;
    let fields = report.findings.iter().filter(is_meant).flat_map(|finding| &finding.fields);
    let paths = fields.filter(|field| field.crd.as_ref() == Some(&new.name)).filter_map(|field| field.path.as_deref());
    // Controllers write the status, not people.
    let paths: IndexSet<&str> = paths.filter(|path| !path.starts_with(".status")).collect();
    let Some(first) = paths.first() else { return };
    let (name, all) = (&new.name, everywhere(new));
    let command = if text.contains("manager") {
        format!("kubectl get {name}{all} --show-managed-fields -o yaml")
    } else {
        // Keys of maps cannot be columns.
        let column = first.split(".*").next().filter(|column| column.len() > 1).unwrap_or(".spec");
        let namespace = if new.is_namespaced() { "NAMESPACE:.metadata.namespace," } else { "" };
        format!("kubectl get {name}{all} -o custom-columns='{namespace}NAME:.metadata.name,VALUE:{column}'")
    };
    steps.add(new, text.replace("MAX_PATHS", &listed(paths, MAX_PATHS)), Some(command));
}

/// Some of these, and the number of others.
pub(super) fn listed<'p>(paths: impl IntoIterator<Item = &'p str>, most: usize) -> String {
    let mut paths = paths.into_iter();
    let shown: Vec<_> = paths.by_ref().take(most).map(|path| format!("`{path}`")).collect();
    match paths.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns the version that users of a version should move to: the one that API servers prefer among the remaining
/// ones.
pub(super) fn successor(new: &Crd, name: &str) -> String {
    let mut candidates: Vec<_> = new
        .versions
        .iter()
        .filter(|version| version.served && !version.deprecated && version.name != name)
        .map(|version| version.name.as_str())
        .collect();
    candidates.sort_by(|left, right| api_version_order(left, right));
    candidates.first().map(|successor| format!(" to `{}/{successor}`", new.group)).unwrap_or_default()
}

fn everywhere(crd: &Crd) -> &'static str {
    if crd.is_namespaced() { " -A" } else { "" }
}
