//! Promises and invariants in documents: each names what keeps it, and that is there.

use std::path::Path;

use crate::house::{File, files};

/// The rows of the tables in a part of a document, without their heads.
fn rows<'t>(text: &'t str, head: &str) -> Vec<&'t str> {
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    rows.filter(|line| *line != head).collect()
}

/// The part of a document below a heading, up to the next one of its level.
fn part<'t>(text: &'t str, heading: &str) -> &'t str {
    let (_, rest) = text.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no part {heading}"));
    rest.split("\n## ").next().unwrap_or(rest)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// Asserts that tests (`module::test`, `module::*`) and scripts that the last cell of a row names exist, and returns how many it names.
fn keepers(row: &str, sources: &[File]) -> usize {
    let mut count = 0;
    let cell = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
    for word in cell.split('`').skip(1).step_by(2).filter(|word| !word.contains(' ')) {
        if word.starts_with("scripts/") {
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(word).is_file(), "{word} is not there: {row}");
        } else if let Some((modules, test)) = word.rsplit_once("::") {
            // Unit tests live in `tests` of a module, or in a file of that name.
            let module = modules.trim_end_matches("::tests").rsplit("::").next().unwrap_or_default();
            let of_module = |file: &&File| {
                let parts: Vec<&str> = file.path.trim_end_matches(".rs").split('/').collect();
                parts.contains(&module)
            };
            let beginning = test.trim_end_matches('…');
            let is_there = sources.iter().filter(of_module).any(|file| match test {
                "*" => file.text.contains("fn "),
                _ if beginning != test => file.text.contains(&format!("fn {beginning}")),
                _ => file.text.contains(&format!("fn {test}(")),
            });
            // Tests that are made while they run are named by a text.
            let is_text = sources.iter().any(|file| file.text.contains(&format!("\"{word}\"")));
            assert!(is_there || is_text, "{word} is not there: {row}");
        } else {
            continue;
        }
        count += 1;
    }
    count
}

#[test]
fn every_promise_of_security_md_has_its_test() {
    let (text, sources) = (read("SECURITY.md"), files(&["tests", "src", "crates"]));
    let promises = part(&text, "What crdproof promises");
    let rows = rows(promises, "| promise | test |");
    assert!(rows.len() > 30, "{rows:?}");
    for row in rows {
        assert!(keepers(row, &sources) > 0, "no test: {row}");
    }
    // What stands outside of tables promises nothing: it introduces a table, gives advice, or says what is not promised.
    for paragraph in
        promises.split("\n\n").map(str::trim).filter(|text| !text.starts_with(['#', '|']) && !text.is_empty())
    {
        let is_marked = ["**Advice:**", "**Not promised:**"].iter().any(|mark| paragraph.starts_with(mark));
        let introduces = ["Each promise has a test", "Samples may hold secrets"];
        let introduces = introduces.iter().any(|begin| paragraph.starts_with(begin));
        assert!(is_marked || introduces, "a promise without a test: {paragraph}");
    }
}

#[test]
fn every_invariant_of_architecture_md_is_kept() {
    /// Keepers of invariants other than our tests and scripts: the compiler, a build, the tests of fixtures.
    const OTHERS: [&str; 4] = ["Cargo", "clippy", "cargo check", "the test `fixtures`"];
    let (text, sources) = (read("ARCHITECTURE.md"), files(&["tests", "src", "crates"]));
    let rows = rows(part(&text, "Invariants"), "| invariant | kept by |");
    assert!(rows.len() > 25, "{rows:?}");
    for row in rows {
        let named = keepers(row, &sources) > 0;
        assert!(named || OTHERS.iter().any(|other| row.contains(other)), "nothing keeps it: {row}");
    }
}
