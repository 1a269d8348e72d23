//! What the documents claim: generated pages are current, excerpts are real, examples load, links lead
//! somewhere.

#[path = "../../examples/generate_docs/pages.rs"]
mod pages;

use std::path::{Path, PathBuf};

use crdproof::subject::SubjectFile;
use crdproof_schema::document::{Sources, decode, parse};

use crate::cli::{crdproof, repository};

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The Markdown files that are written for people.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/checks"] {
        let entries = std::fs::read_dir(repository().join(folder)).unwrap().flatten().map(|entry| entry.path());
        found.extend(entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    assert!(found.len() > 5);
    found
}

/// The fenced blocks of a language, with their content.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block.to_owned()).collect()
}

#[test]
fn generated_pages_are_current() {
    let pages = pages::pages(&read(pages::SUBJECT_FILE));
    for (path, text) in &pages {
        let written = std::fs::read_to_string(repository().join(path)).unwrap_or_default();
        assert!(written == *text, "{path} is stale: run scripts/generate-docs");
    }
    for path in documents() {
        let path = path.strip_prefix(repository()).unwrap().display().to_string();
        assert!(
            !path.starts_with("docs/checks/") || pages.contains_key(&path),
            "{path} describes no family any more: remove it"
        );
    }
}

#[test]
fn the_readme_shows_a_real_run() {
    let readme = read("README.md");
    assert!(readme.lines().count() <= 150, "the README is to be read in one go");
    is_real(&blocks(&readme, "console")[0]);
}

/// The picture is a recording; what it shows of the finding is what the same subject gives today.
#[test]
fn the_picture_of_the_readme_shows_a_real_run() {
    assert!(read("README.md").contains("](docs/demo.svg)"));
    let picture = read("docs/demo.svg");
    let (_, words) = picture.split_once("<desc id=\"words\">").unwrap();
    let words = words.split("</desc>").next().unwrap().replace("&gt;", ">").replace("&lt;", "<");
    assert!(words.contains("\n✔ scenarios on 1.36 after ") && words.contains("\n✗ failed: "), "{words}");
    let mut finding =
        words.lines().skip_while(|line| !line.starts_with("error[")).take_while(|line| !line.contains("= also"));
    let folder = tempfile::tempdir().unwrap();
    // Without a server the same is found in the converter.
    let demo = ["demo", "--defect", "--offline", "--kubernetes", "1.99"];
    let said = crdproof(folder.path(), &demo).says(1, &[]).stderr;
    assert!(finding.clone().count() > 10, "{words}");
    assert!(finding.all(|line| said.contains(line)), "{words}\n{said}");
    assert!(!picture.contains("<script") && !picture.contains("href"), "a picture loads nothing");
}

#[test]
fn the_page_about_converters_shows_a_real_run_and_stays_short() {
    let page = read("docs/converters.md");
    assert!(page.lines().count() <= 150, "the page is to be read in one go");
    is_real(&blocks(&page, "console")[0]);
    has_real_flags(&page);
}

#[test]
fn the_page_about_diff_shows_a_real_run() {
    let page = read("docs/diff.md");
    is_real(&blocks(&page, "console")[0]);
    has_real_flags(&page);
}

/// Asserts that every command that a page names has the flags that it shows.
#[track_caller]
fn has_real_flags(page: &str) {
    for line in blocks(page, "sh").concat().lines() {
        let words: Vec<&str> = line.split('#').next().unwrap().split_whitespace().skip(1).collect();
        let help = crdproof(repository(), &[words[0], "--help"]).says(0, &[]).stdout;
        for flag in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(flag), "{line}: {} has no {flag}", words[0]);
        }
    }
}

/// Asserts that a run says the lines of an excerpt, in their order.
#[track_caller]
fn is_real(excerpt: &str) {
    let mut lines = excerpt.lines();
    let command = lines.next().unwrap().strip_prefix("$ crdproof ").unwrap();
    let arguments: Vec<&str> = command.split(' ').collect();
    let ended = crdproof(repository(), &arguments).says(1, &[]);
    let mut said = ended.stderr.lines();
    for line in lines.filter(|line| *line != "…") {
        assert!(said.any(|real| real.starts_with(line)), "the run does not say, in this order: {line}");
    }
}

#[test]
fn the_library_example_of_the_readme_is_the_one_that_runs() {
    let shown = blocks(&read("README.md"), "rust").concat();
    let run: String = read("src/lib.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .filter(|line| !line.starts_with("# "))
        .collect();
    assert!(!shown.is_empty() && run.contains(&shown), "src/lib.rs does not have this example:\n{shown}");
}

#[test]
fn subject_files_in_documents_are_valid() {
    let mut seen = 0;
    for path in ["README.md", "docs/subject-file.md", "docs/ci.md", "docs/conformance.md"] {
        for block in blocks(&read(path), "yaml") {
            // Parts of a subject file get the head that every subject file has; workflows are no subjects.
            if block.contains("script:") || block.contains("uses:") || block.contains("run:") {
                continue;
            }
            let head = "apiVersion: crdproof/v1alpha1\nkind: Subject\n";
            let text = if block.contains("kind: Subject") { block.clone() } else { format!("{head}{block}") };
            let mut sources = Sources::default();
            let id = sources.add(path, text.as_str());
            let documents = parse(&sources, id).unwrap_or_else(|error| panic!("{path}: {error}\n{text}"));
            let file: SubjectFile = decode(&documents[0]).unwrap_or_else(|error| panic!("{path}: {error}\n{text}"));
            assert_eq!(file.problem(), None, "{path}:\n{text}");
            seen += 1;
        }
    }
    assert!(seen > 8, "only {seen} examples were found");
}

#[test]
fn links_lead_somewhere() {
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link} leads nowhere", document.display());
            assert!(
                anchor.is_empty() || anchors(&target).contains(&anchor.to_owned()),
                "{}: {link}",
                document.display()
            );
        }
    }
}

/// Says why a reader cannot open a source: it is neither an `https://` URL nor a heading of a page in `docs`.
pub(crate) fn source_problem(source: &str) -> Option<&'static str> {
    if source.contains(char::is_whitespace) {
        return Some("contains white space");
    }
    if source.strip_prefix("https://").is_some_and(|rest| rest.contains('/')) {
        return None;
    }
    if !source.starts_with("docs/") {
        return Some("is neither an https:// URL nor a page in docs/");
    }
    let (file, anchor) = source.split_once('#').unwrap_or((source, ""));
    let page = repository().join(file);
    if !page.is_file() {
        return Some("names a page that does not exist");
    }
    let known = anchor.is_empty() || anchors(&page).contains(&anchor.to_owned());
    (!known).then_some("names a heading that does not exist")
}

/// The anchors that headings of a document give.
fn anchors(document: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(document).unwrap();
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    headings
        .map(|heading| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            heading
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'))
                .collect::<String>()
                .replace(' ', "-")
        })
        .collect()
}
