//! The upgrade guide: a change of CRDs in words, and what to do about it, as Markdown to publish.

mod changes;
mod todo;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Finding, Report};
use crate::checks::Severity;
use crate::subject::{Crd, Subject};

use changes::Changes;

/// Where the two states come from, as a reader knows them.
#[derive(Debug, Clone, Copy)]
pub struct Between<'a> {
    /// The old state.
    pub old: &'a str,
    /// The new state.
    pub new: &'a str,
}

/// Writes the guide for a subject that has an old state. The findings are those of the report.
pub fn guide(subject: &Subject, report: &Report, between: Between<'_>) -> String {
    let baseline = subject.baseline.as_deref().unwrap_or_default();
    let names: BTreeSet<&str> = subject.crds.iter().chain(baseline).map(|crd| crd.name.as_str()).collect();
    let mut parts = Parts::default();
    for name in names {
        match (subject.baseline_of(name), subject.crd(name)) {
            (None, Some(new)) => parts.added.push(added(new) + &findings(name, report)),
            (Some(old), None) => parts.removed.push(removed(old) + &findings(name, report)),
            (Some(old), Some(new)) => match changed(old, new, report) {
                Some(text) => parts.changed.push(text),
                None => parts.unchanged.push(format!("`{name}`")),
            },
            (None, None) => {}
        }
    }
    let mut text = heading(&parts, report, between);
    for part in [&parts.removed, &parts.changed, &parts.added] {
        text.push_str(&part.concat());
    }
    if !parts.unchanged.is_empty() {
        let _ = write!(text, "\n## Unchanged\n\n{}\n", parts.unchanged.join(", "));
    }
    text
}

/// The sections of a guide.
#[derive(Default)]
struct Parts {
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<String>,
    unchanged: Vec<String>,
}

fn heading(parts: &Parts, report: &Report, between: Between<'_>) -> String {
    let counts: Vec<String> = [
        (&parts.added, "added"),
        (&parts.changed, "changed"),
        (&parts.removed, "removed"),
        (&parts.unchanged, "unchanged"),
    ]
    .iter()
    .filter(|(part, _)| !part.is_empty())
    .map(|(part, word)| format!("{} {word}", part.len()))
    .collect();
    let summary = &report.summary;
    let verdict = match (summary.errors, summary.warnings) {
        (0, 0) => "Nothing was found that stands in the way of this upgrade.".to_owned(),
        (0, warnings) => format!(
            "Nothing breaks for certain; {} below.",
            counted(warnings, "warning", "needs attention", "need attention")
        ),
        (errors, _) => format!(
            "**{} this upgrade unsafe as it is**; see the findings below.",
            counted(errors, "error", "makes", "make")
        ),
    };
    format!(
        "# Upgrade guide: {}\n\nFrom `{}` to `{}`. {}.\n\n{verdict}\n",
        report.subject,
        between.old,
        between.new,
        match counts.as_slice() {
            [] => "There are no CRDs".to_owned(),
            counts => format!("CRDs: {}", counts.join(", ")),
        },
    )
}

fn counted(count: usize, noun: &str, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {noun} {one}"),
        count => format!("{count} {noun}s {many}"),
    }
}

fn title(crd: &Crd, word: &str) -> String {
    format!("\n## `{}` ({}): {word}\n", crd.name, crd.names.kind)
}

fn added(new: &Crd) -> String {
    let versions: Vec<_> = new.versions.iter().map(changes::describe).collect();
    format!(
        "{}\nA new kind. Versions: {}.\n\n### What to do\n\n{}",
        title(new, "added"),
        versions.join("; "),
        checklist(&todo::for_added(new))
    )
}

fn removed(old: &Crd) -> String {
    format!(
        "{}\nThe new state no longer holds this CRD. Deleting it deletes every {} in the cluster.\n\n### What to do\n\n{}",
        title(old, "removed"),
        old.names.kind,
        checklist(&todo::for_removed(old))
    )
}

fn changed(old: &Crd, new: &Crd, report: &Report) -> Option<String> {
    let changes = Changes::between(old, new);
    let findings = findings(&new.name, report);
    if changes.is_empty() && findings.is_empty() {
        return None;
    }
    let mut text = title(new, "changed");
    if !changes.crd.is_empty() {
        let _ = write!(text, "\n{}", bullets(&changes.crd));
    }
    for version in &changes.versions {
        let _ = write!(text, "\n### `{}`{}\n", version.name, version.remark);
        for (label, lines) in version.sections() {
            let _ = write!(text, "\n{label}\n\n{}", bullets(lines));
        }
    }
    let todo = todo::for_changed(old, new, &changes);
    if !todo.is_empty() {
        let _ = write!(text, "\n### What to do\n\n{}", checklist(&todo));
    }
    text.push_str(&findings);
    Some(text)
}

/// The findings on a CRD as a section, empty where there are none.
fn findings(crd: &str, report: &Report) -> String {
    let lines: Vec<_> = report.counting().filter(|finding| finding.crd == crd).map(told).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\n### Findings\n\n{}", bullets(&lines))
}

fn told(finding: &Finding) -> String {
    let mark = match finding.severity {
        Severity::Error => "**error**",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    format!("{mark} ({}): {}. To mend it: {}.", finding.check, finding.message, finding.help)
}

fn bullets(lines: &[String]) -> String {
    list("- ", lines)
}

fn checklist(lines: &[String]) -> String {
    list("- [ ] ", lines)
}

fn list(mark: &str, lines: &[String]) -> String {
    lines.iter().fold(String::new(), |text, line| text + mark + line + "\n")
}
