//! The answer of `minimum` as text.

use crate::checks::minimum::{Answer, Requirement};
use crdproof_schema::kubernetes::KubeVersion;

/// The maximum number of reasons that are shown; JSON has all.
const MAX_SHOWN: usize = 3;

/// Renders the answer.
pub(super) fn text(answer: &Answer) -> String {
    let mut lines = vec![head(answer)];
    for because in answer.requirements.because.iter().take(MAX_SHOWN) {
        let Requirement { feature, since, place, older, harmless, .. } = because;
        let harmless = if *harmless { ", which is harmless" } else { "" };
        lines.push(format!("  {feature} needs {since} ({place}); the release before {older}{harmless}"));
    }
    if let Some(below) = answer.tested.iter().find(|one| Some(one.release) == answer.below) {
        let gaps = &below.result.gaps;
        lines.extend(gaps.iter().take(MAX_SHOWN).map(|gap| format!("✗ {} {gap}", below.release)));
        if gaps.len() > MAX_SHOWN {
            lines.push(format!("  and {} more; --format json lists them", gaps.len() - MAX_SHOWN));
        }
        lines.extend(below.result.warnings.iter().map(|warning| format!("⚠ {} warns: {warning}", below.release)));
    }
    if !answer.strays.is_empty() {
        lines.push(format!("⚠ it also works on {}, although a later release does not work", list(&answer.strays)));
    }
    if let Some(minimum) = answer.minimum.filter(|minimum| answer.proven && !answer.requirements.allow(*minimum)) {
        let required = answer.requirements.minimum;
        lines.push(format!("⚠ the manifests require {required} by table, but no test on {minimum} failed"));
    }
    for one in &answer.excluded {
        lines.extend(one.lines());
        let seen = answer.tested.iter().filter(|tested| one.seen.contains(&tested.release));
        let first = seen.filter_map(|tested| Some((tested.release, tested.result.gaps.first()?)));
        lines.extend(first.map(|(release, gap)| format!("  {release} {gap}")));
    }
    if let Some(minimum) = answer.minimum.filter(|_| answer.proven && answer.below.is_none()) {
        lines.push(format!("○ nothing below {minimum} is installed"));
    }
    if !answer.not_installed.is_empty() {
        lines.push(format!("○ not installed, so not tested: {}", list(&answer.not_installed)));
    }
    if !answer.not_tested.is_empty() {
        lines.push(format!("○ not tested: {}", list(&answer.not_tested)));
    }
    for block in answer.subject_file.iter().chain(&answer.badge) {
        lines.push(format!("\n{}", block.trim_end()));
    }
    lines.join("\n") + "\n"
}

/// Renders the first line.
fn head(answer: &Answer) -> String {
    let required = answer.requirements.minimum;
    match answer.minimum {
        Some(minimum) if !answer.proven => {
            format!("✔ minimum: {minimum} (required by the manifests; not tested on a server)")
        }
        Some(minimum) => {
            let not_on: String = answer
                .excluded
                .iter()
                .filter(|one| !one.seen.is_empty())
                .map(|one| format!(", not on {} ({})", one.windows.join(", "), one.id))
                .collect();
            let apart = match answer.window_servers {
                0 => String::new(),
                count => format!(", and {count} for known defects"),
            };
            format!(
                "✔ minimum: {minimum}{not_on} ({} of {} installed releases tested{apart}; the manifests alone require {required})",
                answer.servers,
                answer.installed.len()
            )
        }
        None if answer.strays.is_empty() => format!(
            "✗ no minimum: none of the {} tested releases works, of {} installed; the manifests alone require {required}",
            answer.servers,
            answer.installed.len()
        ),
        None => {
            format!("✗ no minimum: the newest installed release does not work; the manifests alone require {required}")
        }
    }
}

fn list(releases: &[KubeVersion]) -> String {
    releases.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
