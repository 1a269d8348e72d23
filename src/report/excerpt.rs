//! One finding with its source excerpts, in the style of a compiler.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::paint::wrap;
use super::sections::{aim, marked};
use super::{Finding, Location, Style};
use crate::checks::Severity;

/// The number of lines of evidence that are shown by default.
const MAX_EVIDENCE_LINES: usize = 24;

/// Renders findings in one style.
pub(super) struct Excerpts {
    renderer: Renderer,
    style: Style,
}

impl Excerpts {
    pub(super) fn new(style: Style) -> Self {
        let renderer = if style.colour { Renderer::styled() } else { Renderer::plain() };
        Self { renderer: renderer.term_width(style.width), style }
    }

    /// A finding; with the reason for the check if it was not shown yet.
    pub(super) fn finding(&self, finding: &Finding, why: Option<&str>) -> String {
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let title = level.primary_title(finding.message.as_str()).id(finding.check.as_str());
        let mut group = Group::with_title(title);
        if let Some(location) = &finding.location {
            group = show(group, location, AnnotationKind::Primary, None);
        }
        for related in &finding.related {
            let label = Some(related.message.clone());
            group = show(group, &related.location, AnnotationKind::Context, label);
        }
        for (name, text) in details(finding, why) {
            let text = self.fit(name, &text);
            group = group.element(Level::NOTE.with_name(Some(name)).message(text));
        }
        without_bare_marks(&self.renderer.render(&[group]))
    }

    /// Wraps prose; evidence and commands keep their lines.
    fn fit(&self, name: &str, text: &str) -> String {
        match name {
            "evidence" if !self.style.verbose => cut(text),
            "evidence" | "reproduce" => text.trim_end().to_owned(),
            _ => wrap(text, self.style.width.saturating_sub(name.len() + 9).max(40)).join("\n"),
        }
    }
}

fn cut(evidence: &str) -> String {
    let mut lines: Vec<&str> = evidence.trim_end().lines().collect();
    let more = lines.len().saturating_sub(MAX_EVIDENCE_LINES);
    let rest = format!("… {more} more lines (--verbose shows all)");
    if more > 1 {
        lines.truncate(MAX_EVIDENCE_LINES);
        lines.push(&rest);
    }
    lines.join("\n")
}

/// The lines below the excerpts.
fn details<'a>(finding: &'a Finding, why: Option<&'a str>) -> Vec<(&'static str, String)> {
    let all = [
        ("at", aim(finding)),
        ("evidence", finding.evidence.clone()),
        ("also breaks", also(finding)),
        ("why", why.map(str::to_owned)),
        ("help", Some(finding.help.clone())),
        ("fingerprint", Some(finding.fingerprint.clone())),
        ("reproduce", finding.reproduce.clone()),
    ];
    all.into_iter().filter_map(|(name, text)| Some((name, text.filter(|text| !text.is_empty())?))).collect()
}

/// The checks that fail for the same reason, each once.
fn also(finding: &Finding) -> Option<String> {
    let mut checks: Vec<&str> = finding.consequences.iter().map(|one| one.check.as_str()).collect();
    checks.sort_unstable();
    checks.dedup();
    (!checks.is_empty()).then(|| checks.join(", "))
}

/// Adds the excerpt of a location. The renderer counts columns in the excerpt, which may be a part of a long line.
fn show<'a>(group: Group<'a>, location: &'a Location, kind: AnnotationKind, label: Option<String>) -> Group<'a> {
    let excerpt = &location.excerpt;
    let (line, column) = (location.line as usize, location.column as usize);
    let marked = marked(excerpt);
    let is_whole = excerpt.text[..marked.start].chars().count() + 1 == column;
    let snippet: Snippet<'a, Annotation<'a>> = Snippet::source(excerpt.text.as_str())
        .line_start(excerpt.line.max(1) as usize)
        .annotation(kind.span(marked).label(label));
    if is_whole {
        return group.element(snippet.path(location.file.as_str()));
    }
    group.element(Origin::path(location.file.as_str()).line(line).char_column(column)).element(snippet)
}

/// Drops lines with only `:::`, by which the renderer begins an excerpt whose location was already shown.
fn without_bare_marks(text: &str) -> String {
    let is_bare = |line: &&str| {
        let mut parts = line.split('\u{1b}');
        let first = parts.next().unwrap_or_default();
        // A colour begins with an escape and ends with an m.
        let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
        std::iter::once(first).chain(rest).collect::<String>().trim() == ":::"
    };
    text.lines().filter(|line| !is_bare(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_evidence_is_cut() {
        assert_eq!(cut("a\nb\n"), "a\nb");
        let long = cut(&"line\n".repeat(30));
        assert_eq!(long.lines().count(), MAX_EVIDENCE_LINES + 1);
        assert!(long.ends_with("… 6 more lines (--verbose shows all)"));
    }

    #[test]
    fn marks_without_a_place_are_dropped() {
        assert_eq!(
            without_bare_marks("a\n \u{1b}[1m\u{1b}[94m::: \u{1b}[0m\n ::: f.yaml:1:2\nb"),
            "a\n ::: f.yaml:1:2\nb"
        );
    }
}
