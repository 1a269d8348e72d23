//! Claims of the documents: generated pages are current, excerpts are real, examples load, links resolve.

#[path = "../../examples/generate_docs/pages.rs"]
mod pages;

use std::path::{Path, PathBuf};

use crdproof::subject::SubjectFile;
use crdproof_schema::document::{Sources, decode, parse};

use crate::cli::{crdproof, repository};
use crate::console::{ON_SERVERS, Page};

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The Markdown files that are written for people: those in the root folder, and all below `docs`.
fn documents() -> Vec<PathBuf> {
    let is_page = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries(repository()).filter(is_page).collect();
    let mut pending = vec![repository().join("docs")];
    while let Some(folder) = pending.pop() {
        found.extend(entries(&folder).filter(is_page));
        pending.extend(entries(&folder).filter(|path| path.is_dir()));
    }
    assert!(found.len() > 30);
    found
}

/// The path of a document below the repository.
fn name(document: &Path) -> String {
    document.strip_prefix(repository()).unwrap().display().to_string()
}

/// The fenced blocks of a language, with their content.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block.to_owned()).collect()
}

#[test]
fn generated_pages_are_current() {
    let help = |command: &[&str]| crdproof(repository(), &[command, &["--help"]].concat()).stdout;
    let pages = pages::pages(read, &help);
    for (path, text) in &pages {
        let written = std::fs::read_to_string(repository().join(path)).unwrap_or_default();
        let differs = written.lines().zip(text.lines()).find(|(old, new)| old != new);
        assert!(written == *text, "{path} is stale, see {differs:?}: run scripts/generate-docs");
    }
    for path in documents() {
        let path = name(&path);
        assert!(
            !path.starts_with("docs/checks/") || pages.contains_key(&path),
            "{path} describes no check or family any more: remove it"
        );
    }
}

#[test]
fn how_to_pages_stay_short() {
    for path in ["README.md", "docs/converters.md"] {
        assert!(read(path).lines().count() <= 150, "{path} is to be read in one go");
    }
}

/// The tests on servers run pages that need a server.
#[test]
fn console_blocks_show_real_runs() {
    let pages: Vec<Page> = documents().iter().map(|document| Page::read(&name(document)).unwrap()).collect();
    let (on_servers, here): (Vec<&Page>, Vec<&Page>) =
        pages.iter().filter(|page| !page.steps.is_empty()).partition(|page| page.needs_server);
    let mut on_servers: Vec<&str> = on_servers.iter().map(|page| page.path.as_str()).collect();
    on_servers.sort_unstable();
    assert_eq!(on_servers, ON_SERVERS);
    assert!(here.len() > 6, "only {} pages have commands", here.len());
    for page in here {
        page.run().unwrap_or_else(|why| panic!("{why}"));
    }
}

/// The picture is a recording. The finding that it shows must be the one that the same subject gives today.
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
    // Without a server, the converter checks report the same finding.
    let demo = ["demo", "--defect", "--offline", "--kubernetes", "1.99"];
    let said = crdproof(folder.path(), &demo).says(1, &[]).stderr;
    assert!(finding.clone().count() > 10, "{words}");
    assert!(finding.all(|line| said.contains(line)), "{words}\n{said}");
    assert!(!picture.contains("<script") && !picture.contains("href"), "a picture loads nothing");
}

/// Commands that a test cannot run, for example on a cluster, must name commands and flags that exist.
#[test]
fn commands_in_documents_have_real_flags() {
    let mut seen = 0;
    for document in documents().iter().filter(|document| !name(document).starts_with("CHANGELOG")) {
        for line in blocks(&std::fs::read_to_string(document).unwrap(), "sh").concat().lines() {
            let line = line.split(" # ").next().unwrap().split(" -- ").next().unwrap();
            for command in line.split("crdproof ").skip(1).filter(|_| !line.contains("cargo ")) {
                has_real_flags(&name(document), command);
                seen += 1;
            }
        }
    }
    assert!(seen > 40, "only {seen} commands were found");
}

#[track_caller]
fn has_real_flags(page: &str, command: &str) {
    let words: Vec<&str> =
        command.split_whitespace().take_while(|word| !matches!(*word, "|" | "||" | "&&" | ">")).collect();
    let depth = if matches!(words[0], "env" | "report") || words.starts_with(&["job", "matrix"]) { 2 } else { 1 };
    let help = crdproof(repository(), &[&words[..depth], &["--help"]].concat()).says(0, &[]).stdout;
    for flag in words.iter().filter(|word| word.starts_with("--")) {
        let flag = flag.split('=').next().unwrap().trim_end_matches(')');
        assert!(help.contains(flag), "{page}: crdproof {command}: there is no {flag}");
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
    for path in [
        "README.md",
        "docs/subject-file.md",
        "docs/conformance.md",
        "docs/how-to/accept-what-exists.md",
        "docs/how-to/find-the-minimum.md",
        "docs/how-to/gate-a-pull-request.md",
        "docs/how-to/validate-a-webhook.md",
    ] {
        for block in blocks(&read(path), "yaml") {
            // Fragments of a subject file get the header that every subject file has. Workflows are not subject files.
            if ["include:", "uses:"].iter().any(|key| block.contains(key)) {
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

/// Address of this repository on GitHub. The site contains only `docs`, so pages link everything else by this address.
const REPOSITORY: [&str; 2] =
    ["https://github.com/crdproof/crdproof/blob/main/", "https://github.com/crdproof/crdproof/tree/main/"];

#[test]
fn links_lead_somewhere() {
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let ours = REPOSITORY.iter().find_map(|address| link.strip_prefix(address));
            if link.starts_with("https://") && ours.is_none() {
                continue;
            }
            let (file, anchor) = ours.unwrap_or(link).split_once('#').unwrap_or((ours.unwrap_or(link), ""));
            let folder = if ours.is_some() { repository() } else { document.parent().unwrap() };
            let target = if file.is_empty() { document.clone() } else { folder.join(file) };
            let place = format!("{}: {link}", document.display());
            assert!(target.exists(), "{place} leads nowhere");
            assert!(anchor.is_empty() || anchors(&target).contains(&anchor.to_owned()), "{place}: no such heading");
            if ours.is_none() && name(&document).starts_with("docs/") {
                let docs = repository().join("docs").canonicalize().unwrap();
                assert!(target.canonicalize().unwrap().starts_with(docs), "{place} leaves the site; link to GitHub");
            }
        }
    }
}

#[test]
fn every_page_is_in_the_menu_of_the_site() {
    let menu = read("docs/SUMMARY.md");
    for document in documents() {
        if let Some(page) = name(&document).strip_prefix("docs/").filter(|page| *page != "SUMMARY.md") {
            assert!(menu.contains(&format!("]({page})")), "add {page} to docs/SUMMARY.md");
        }
    }
}

/// Returns why a reader cannot open a source: it is neither an `https://` URL nor a heading of a page in `docs`.
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

/// The anchors of a document's headings.
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
