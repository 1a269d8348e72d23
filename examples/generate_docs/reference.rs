//! Pages on commands and suites.

use std::fmt::Write as _;

use crdproof::run::{SUITES, load_suite};

use super::{cell, replace_between};

const BEGIN: &str = "<!-- The suites are written by scripts/generate-docs. -->\n";
const END: &str = "<!-- End of the suites. -->\n";

/// Returns the page with its table of built-in suites replaced.
pub(super) fn with_suites(page: &str) -> String {
    let mut table = "| suite | checks | objects | time | what for |\n| --- | --- | --- | --- | --- |".to_owned();
    for (name, text) in SUITES {
        let Ok(suite) = load_suite(name, name, text) else { continue };
        let checks: Vec<String> = suite.file.checks.iter().map(|check| format!("`{check}`")).collect();
        let objects = suite.file.objects.map_or("–".to_owned(), |count| count.to_string());
        let time = suite.file.time.map_or("2m".to_owned(), |time| time.to_string());
        let what = cell(&suite.file.description);
        let _ = write!(table, "\n| `{name}` | {} | {objects} | {time} | {what} |", checks.join(", "));
    }
    replace_between(page, BEGIN, END, &table)
}

/// Returns the page with the help of every command.
pub(super) fn commands(help: &dyn Fn(&[&str]) -> String) -> String {
    let mut text =
        "# Commands\n\nWritten by `scripts/generate-docs` from what `crdproof COMMAND --help` prints.\n".to_owned();
    describe(&[], help, &mut text);
    text
}

/// Adds the help of a command, and of those below it.
fn describe(command: &[&str], help: &dyn Fn(&[&str]) -> String, text: &mut String) {
    let said = help(command);
    let lines: Vec<String> = said.lines().map(without_value).collect();
    let name = [&["crdproof"], command].concat().join(" ");
    let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
    let listed = lines.iter().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Descriptions of several lines continue with a deeper indentation.
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    for below in names {
        describe(&[command, &[below]].concat(), help, text);
    }
}

/// Returns a line of the help without the current value of an environment variable.
fn without_value(line: &str) -> String {
    match line.split_once('=') {
        Some((variable, _)) if variable.trim_start().starts_with("[env: ") => format!("{variable}]"),
        _ => line.trim_end().to_owned(),
    }
}
