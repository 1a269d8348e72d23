//! Markdown for a comment on a pull request. Hosts refuse long comments, so the text is limited and says how much it
//! leaves out.

use std::fmt::Write as _;

use super::converted::{self, Converted};
use super::releases::Releases;
use super::sections::{self, Section, aim, plural};
use super::{Finding, Report};

/// Maximum size: below the 65,536 characters that GitHub accepts, with space for a template around the text.
const MAX_BYTES: usize = 60_000;
/// Space for the closing lines, which must always fit.
const RESERVED_BYTES: usize = 400;
/// More findings than this on one CRD are folded.
const MAX_UNFOLDED: usize = 5;
/// Longer messages are cut; other formats have them in full.
const MAX_MESSAGE: usize = 2_000;

/// Writes the report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut page = Page::default();
    page.force(&head(report));
    for section in worst_first(report) {
        page.section(&section);
    }
    page.releases(report);
    page.conversions(report);
    page.rest(report);
    page.force(&tail(report, page.left_out));
    page.text
}

fn head(report: &Report) -> String {
    let headline = sections::headline(report);
    let summary = &report.summary;
    let mut text = format!(
        "## crdproof: {} – {}\n\n{} · {}\n",
        headline.word,
        headline.clause,
        escape(&report.subject),
        plural(report.crds.len(), "CRD")
    );
    text.push_str(
        "\n| errors | warnings | notes | waived | passed | failed | known server issues | inconclusive | skipped |\n",
    );
    text.push_str("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        summary.errors,
        summary.warnings,
        summary.notes,
        summary.waived,
        summary.passed,
        summary.failed,
        summary.known_server_issues,
        summary.inconclusive,
        summary.skipped
    );
    for problem in report.problems.iter().take(MAX_UNFOLDED) {
        let _ = write!(text, "\n**Could not judge:** {}\n", escape(&problem.message));
        if let Some(help) = &problem.help {
            let _ = writeln!(text, "Help: {}", escape(help));
        }
    }
    text
}

/// CRDs with the worst findings come first, because a long report is cut at its end.
fn worst_first(report: &Report) -> Vec<Section<'_>> {
    let mut sections: Vec<_> =
        sections::sections(report).into_iter().filter(|section| section.counting().next().is_some()).collect();
    sections.sort_by_key(|section| std::cmp::Reverse(section.counting().map(|finding| finding.severity).max()));
    for section in &mut sections {
        section.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    }
    sections
}

#[derive(Default)]
struct Page {
    text: String,
    length: usize,
    left_out: usize,
}

impl Page {
    fn force(&mut self, text: &str) {
        self.text.push_str(text);
        self.length += text.chars().count();
    }

    fn fits(&self, text: &str) -> bool {
        self.length + text.chars().count() + RESERVED_BYTES <= MAX_BYTES
    }

    fn section(&mut self, section: &Section<'_>) {
        let count = section.counting().count();
        let folded = count > MAX_UNFOLDED;
        let title = format!("\n### {}\n\n", escape(section.title()));
        let fold = format!("<details><summary>{}</summary>\n\n", plural(count, "finding"));
        if !self.fits(&format!("{title}{fold}")) {
            self.left_out += count;
            return;
        }
        self.force(&title);
        if folded {
            self.force(&fold);
        }
        for finding in section.counting() {
            let item = item(finding);
            if self.fits(&item) {
                self.force(&item);
            } else {
                self.left_out += 1;
            }
        }
        if folded {
            self.force("\n</details>\n");
        }
    }

    /// Waived findings and check results without a verdict, each list folded.
    fn rest(&mut self, report: &Report) {
        let waived = report.findings.iter().filter_map(|finding| {
            let why = sections::waived(report, finding)?;
            let crd = escape(&finding.crd);
            let (check, message) = (code(&finding.check), escape(&finding.message));
            Some(format!("- {check} on {crd}: {message} – {}\n", escape(&why)))
        });
        self.list("waived", "finding", waived.collect());
        let open = report.results.iter().filter_map(|result| {
            let (check, crd) = (code(&result.check), escape(&result.crd));
            let outcome = sections::outcome(result.outcome);
            let reason = escape(result.reason.as_ref()?);
            let server =
                result.kubernetes.as_ref().map_or(String::new(), |server| format!(" on Kubernetes {}", escape(server)));
            Some(format!("- {check} on {crd}{server}: {outcome}, {reason}\n"))
        });
        self.list("without a verdict", "check", open.collect());
    }

    /// Adds checks against API servers.
    fn releases(&mut self, report: &Report) {
        let Some(table) = Releases::of(report) else { return };
        let row = |first: &str, cells: Vec<String>| format!("| {} | {} |\n", escape(first), cells.join(" | "));
        let mut text = "\n### On API servers\n\n".to_owned();
        text.push_str(&row("", table.columns.iter().map(|name| escape(name)).collect()));
        text.push_str(&format!("| --- |{}\n", " :---: |".repeat(table.columns.len())));
        for line in &table.rows {
            text.push_str(&row(&line.name, line.cells.iter().map(|cell| cell.glyph.to_owned()).collect()));
        }
        let count = |count: &Option<u64>| count.map_or("–".to_owned(), |count| count.to_string());
        text.push_str(&row("requests", table.requests.iter().map(count).collect()));
        let legend: Vec<String> = table.legend.iter().map(|(glyph, word)| format!("{glyph} {word}")).collect();
        text.push_str(&format!("\n{}\n", legend.join(" · ")));
        if !table.absent.is_empty() {
            text.push('\n');
        }
        text.extend(table.absent.iter().map(|line| format!("- {}\n", escape(line))));
        if self.fits(&text) {
            self.force(&text);
        }
    }

    /// Adds, for each CRD with something to report: a matrix of version pairs, unset leaves, and response times;
    /// folded.
    fn conversions(&mut self, report: &Report) {
        for conversions in report.conversions.iter().filter(|one| converted::has_content(one)) {
            let text = converted_crd(&Converted::of(conversions));
            if self.fits(&text) {
                self.force(&text);
            }
        }
    }

    fn list(&mut self, title: &str, noun: &str, items: Vec<String>) {
        let count = plural(items.len(), noun);
        let head = format!("\n<details><summary>{count} {title}</summary>\n\n");
        if items.is_empty() || !self.fits(&head) {
            return;
        }
        self.force(&head);
        let mut missing = 0;
        for item in items {
            if self.fits(&item) {
                self.force(&item);
            } else {
                missing += 1;
            }
        }
        if missing > 0 {
            self.force(&format!("- and {missing} more\n"));
        }
        self.force("\n</details>\n");
    }
}

fn converted_crd(shown: &Converted) -> String {
    let row = |first: &str, cells: Vec<String>| format!("| {} | {} |\n", escape(first), cells.join(" | "));
    let all = |cells: &[String]| cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>();
    let mut text = format!("\n<details><summary>conversions of {}</summary>\n\n", escape(&shown.crd));
    text.push_str(&row("from, to", all(&shown.versions)));
    text.push_str(&format!("| --- |{}\n", " ---: |".repeat(shown.versions.len())));
    for line in &shown.rows {
        text.push_str(&row(&line.from, all(&line.cells)));
    }
    text.push('\n');
    for never in &shown.never {
        let _ = writeln!(text, "- {}", escape(never));
    }
    if !shown.timings.is_empty() {
        text.push_str("\n| in a review | reviews | p50 | p90 | p99 |\n| --- | ---: | ---: | ---: | ---: |\n");
    }
    for took in &shown.timings {
        let cells = [took.reviews.to_string(), took.p50.clone(), took.p90.clone(), took.p99.clone()];
        text.push_str(&row(&took.objects, cells.to_vec()));
    }
    text + "\n</details>\n"
}

fn item(finding: &Finding) -> String {
    let place = finding
        .location
        .as_ref()
        .map_or(String::new(), |location| format!(" {}", code(&format!("{}:{}", location.file, location.line))));
    let aim = aim(finding).map_or(String::new(), |aim| format!(" {}", code(&aim)));
    format!(
        "- **{}** {}{place}{aim}: {}<br>Help: {}\n",
        finding.severity.as_str(),
        code(&finding.check),
        escape(&finding.message),
        escape(&finding.help)
    )
}

fn tail(report: &Report, left_out: usize) -> String {
    let missing = if left_out > 0 {
        format!(
            "\n**{} left out**, because this text is limited to {MAX_BYTES} characters. Other formats have all.\n",
            plural(left_out, "finding")
        )
    } else {
        String::new()
    };
    format!("{missing}\n<sub>crdproof {}, seed {}</sub>\n", escape(&report.tool_version), report.seed)
}

/// Escapes text from manifests, so that it is never read as Markdown or HTML, on one line.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (index, char) in text.chars().enumerate() {
        if index == MAX_MESSAGE {
            out.push('…');
            break;
        }
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A mention would send a mail to somebody.
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(char);
            }
            _ => out.push(char),
        }
    }
    out
}

/// A code span whose fence is longer than any sequence of backticks inside.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let (mut run, mut longest) = (0, 0);
    for char in text.chars() {
        run = if char == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_manifests_stays_text() {
        assert_eq!(escape("a|b `c`\n<script> @team"), "a\\|b \\`c\\` &lt;script&gt; &#64;team");
        assert!(escape(&"x".repeat(9_000)).chars().count() <= MAX_MESSAGE + 1);
    }

    #[test]
    fn fences_are_longer_than_their_content() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`"), "`` ` ``");
    }
}
