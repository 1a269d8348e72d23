//! `cargo xtask check-links`: follows the links of a site within itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use regex::Regex;

/// Check that every link of a built site to its own pages and headings resolves
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of the site.
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let pages = pages(&args.folder)?;
    let wrong = broken(&args.folder, &pages)?;
    for link in &wrong {
        eprintln!("✗ {link}");
    }
    println!("{} pages, {} broken links", pages.len(), wrong.len());
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The pages below a folder, by path, without the page for printing, which repeats all others, and the page for errors.
fn pages(folder: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let mut pages = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html")
                && name != "print.html"
                && name != "404.html"
            {
                pages.insert(path.clone(), fs::read_to_string(&path)?);
            }
        }
    }
    anyhow::ensure!(!pages.is_empty(), "{} has no pages", folder.display());
    Ok(pages)
}

/// The links that do not resolve.
fn broken(root: &Path, pages: &BTreeMap<PathBuf, String>) -> Result<Vec<String>> {
    let (id, link) = (Regex::new(r#"\sid="([^"]*)""#)?, Regex::new(r#"\s(?:href|src)="([^"]*)""#)?);
    let ids = |text: &str| -> BTreeSet<String> { id.captures_iter(text).map(|found| found[1].to_owned()).collect() };
    let anchors: BTreeMap<PathBuf, BTreeSet<String>> =
        pages.iter().map(|(path, text)| Ok((path.canonicalize()?, ids(text)))).collect::<Result<_>>()?;
    let mut wrong = Vec::new();
    for (path, text) in pages {
        for found in link.captures_iter(text) {
            let link = &found[1];
            if link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.with_file_name("").join(file) };
            let known = target.canonicalize().is_ok_and(|target| {
                anchor.is_empty() || anchors.get(&target).is_some_and(|anchors| anchors.contains(anchor))
            });
            if !known {
                wrong.push(format!("{}: {link}", path.strip_prefix(root).unwrap_or(path).display()));
            }
        }
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_missing_pages_and_headings_are_broken() {
        let folder = tempfile::tempdir().unwrap();
        let page = r##"<a href="b.html#there"> <a href="b.html#not"> <a href="c.html"> <a href="#own"> <h1 id="own">"##;
        fs::write(folder.path().join("a.html"), page).unwrap();
        fs::write(folder.path().join("b.html"), r#"<h2 id="there"> <a href="https://example.com/x">"#).unwrap();
        let wrong = broken(folder.path(), &pages(folder.path()).unwrap()).unwrap();
        assert_eq!(wrong, ["a.html: b.html#not", "a.html: c.html"]);
    }
}
