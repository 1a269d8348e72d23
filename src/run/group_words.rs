//! Messages for findings about several fields.

use indexmap::{IndexMap, IndexSet};

use crate::report::{Field, Finding};

/// The numbers of fields that are named in a message, and in the evidence.
const MAX_IN_MESSAGE: usize = 3;
const MAX_IN_EVIDENCE: usize = 40;

/// The number of places of a change that the evidence lists.
const MAX_PLACES: usize = 12;

/// Returns one sentence about several fields of one CRD.
pub(super) fn summary(finding: &Finding, clause: &str) -> String {
    // The field of the counterexample comes first.
    let paths =
        finding.path.as_deref().into_iter().chain(finding.fields.iter().filter_map(|field| field.path.as_deref()));
    let names: IndexSet<&str> = paths.collect();
    let count = names.len();
    if count == 0 {
        return format!("{} (and {} more like this)", finding.message, finding.fields.len() - 1);
    }
    if count == 1 {
        return finding.message.clone();
    }
    format!("{count} fields {clause}: {}", some(&names))
}

/// Returns the evidence of the representative above a list of all fields.
pub(super) fn listed(finding: &Finding) -> String {
    let mut lines: Vec<String> = finding.evidence.iter().cloned().collect();
    lines.push(format!("all {}:", finding.fields.len()));
    lines.extend(shortened(finding.fields.iter().map(|field| field.message.clone()).collect(), MAX_IN_EVIDENCE));
    lines.join("\n")
}

/// Returns one sentence about a change of several fields, versions or CRDs.
pub(super) fn change_message(change: &str, fields: &[Field]) -> String {
    let crds: IndexSet<&str> = fields.iter().filter_map(|field| field.crd.as_deref()).collect();
    let places = places(fields);
    let paths: IndexSet<&str> = places.keys().filter_map(|(_, path)| *path).collect();
    match (paths.len(), crds.len()) {
        (0, 0 | 1) => change.to_owned(),
        (0, count) => format!("{change}: {count} CRDs: {}", some(&crds)),
        (1, 0 | 1) => format!("{}: {change}", places.iter().map(place).collect::<String>()),
        (count, 0 | 1) => format!("{change}: {count} fields: {}", some(&paths)),
        (1, count) => format!("{change}: {} of {count} CRDs: {}", some(&paths), some(&crds)),
        (_, count) => format!("{change}: {} fields of {count} CRDs: {}", places.len(), some(&paths)),
    }
}

/// Returns the places of a change, one line for each field of a CRD.
pub(super) fn change_evidence(fields: &[Field]) -> String {
    let places = places(fields);
    let lines = places.iter().map(|(at, versions)| format!("{} {}", at.0, place((at, versions))).trim_end().to_owned());
    shortened(lines.collect(), MAX_PLACES).join("\n")
}

/// The versions in which a field of a CRD changed.
type Places<'a> = IndexMap<(&'a str, Option<&'a str>), IndexSet<&'a str>>;

fn places(fields: &[Field]) -> Places<'_> {
    let mut places = Places::new();
    for field in fields {
        let versions = places.entry((field.crd.as_deref().unwrap_or_default(), field.path.as_deref())).or_default();
        versions.extend(field.version.as_deref());
    }
    places
}

fn place(((_, path), versions): (&(&str, Option<&str>), &IndexSet<&str>)) -> String {
    let versions = versions.iter().copied().collect::<Vec<_>>().join(", ");
    format!("{versions} {}", path.unwrap_or_default()).trim().to_owned()
}

/// Names some of several, and counts the others.
fn some(names: &IndexSet<&str>) -> String {
    let shown = names.iter().take(MAX_IN_MESSAGE).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_IN_MESSAGE) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn shortened(mut lines: Vec<String>, most: usize) -> Vec<String> {
    let more = lines.len().saturating_sub(most);
    if more > 1 {
        lines.truncate(most);
        lines.push(format!("… and {more} more; the JSON report lists all"));
    }
    lines
}
