//! Text of others in our output: shown, never interpreted; and secrets outside of reports.

use crate::cli::{crdproof, folder, sound_crd};

/// Characters that a terminal, a CI runner or an XML parser would interpret.
const HOSTILE: &str = "\u{1b}[2J\u{202e}\u{9b}31m\u{fffe}";

const FORMATS: [&str; 6] = ["terminal", "junit", "sarif", "html", "markdown", "github"];

#[track_caller]
fn is_harmless(what: &str, text: &str) {
    for letter in ['\u{1b}', '\u{202e}', '\u{9b}', '\u{fffe}'] {
        assert!(!text.contains(letter), "{what} has {letter:?}: {text}");
    }
    // Only the format for GitHub writes commands of our own.
    let command = text.lines().find(|line| line.trim_start().starts_with("::stop-commands"));
    assert!(command.is_none(), "{what}: {command:?}");
}

#[test]
fn writers_escape_hostile_text() {
    let name = format!("evil{HOSTILE}\\n::stop-commands::x\\n✔ passed");
    // Double quotes, so that YAML reads the escapes.
    let name = name.replace('\u{1b}', "\\e").replace('\u{202e}', "\\u202e").replace('\u{9b}', "\\x9b");
    let name = name.replace('\u{fffe}', "\\ufffe");
    let crd = sound_crd();
    let version = format!("  versions:\n  - {{name: \"{name}\", served: true, storage: false}}\n");
    let broken = crd.replacen("  versions:\n", &version, 1);
    assert_ne!(crd, broken);
    let files = [("crd.yaml", broken.as_str())];
    let folder = folder(&files);
    let reports: Vec<String> =
        FORMATS.iter().flat_map(|format| ["--report".into(), format!("{format}=out/{format}")]).collect();
    let flags: Vec<&str> =
        ["run", "crd.yaml", "--verbose"].into_iter().chain(reports.iter().map(String::as_str)).collect();
    let ended = crdproof(folder.path(), &flags).says(1, &["evil"]);
    is_harmless("stderr", &ended.stderr);
    for format in FORMATS {
        let text = std::fs::read_to_string(folder.path().join("out").join(format)).unwrap();
        assert!(text.contains("evil"), "{format} does not show the name: {text}");
        is_harmless(format, &text);
    }
}

#[test]
fn errors_and_excerpts_escape_hostile_text_and_hide_secrets() {
    let file = "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {paths: [crd.yaml]}\nconverter: {webhook: {password: hunter22, url: [}\n";
    let crd = sound_crd();
    let folder = folder(&[("crdproof.yaml", file), ("crd.yaml", &crd)]);
    let ended = crdproof(folder.path(), &["run"]).says(2, &["password: •••"]);
    assert!(!ended.stderr.contains("hunter22"), "{}", ended.stderr);
    let ended =
        crdproof(folder.path(), &["run", "no\u{1b}[2J\u{202e}such\n::stop-commands::x"]).says(2, &["cannot read"]);
    is_harmless("an error", &ended.stderr);
}
