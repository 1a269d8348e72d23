//! Progress of long runs, and Ctrl-C.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{BINARY, crdproof, repository, subject};

/// A subject whose converter waits this long for each review, and returns the objects unchanged.
fn subject_with_slow_converter(seconds: &str) -> tempfile::TempDir {
    let folder = subject("databases");
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let (head, _) = text.split_once("converter:").unwrap();
    let script = repository().join("tests/offline/cli/slow_converter.sh");
    let run = format!("converter: {{exec: {{command: [/bin/sh, '{}', '{seconds}']}}}}\n", script.display());
    std::fs::write(&file, format!("{head}{run}")).unwrap();
    folder
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(BINARY);
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap().success());
}

/// Waits for the end, and returns the exit code and the output.
fn wait_for_end(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn without_a_terminal_progress_is_printed_every_few_seconds() {
    let folder = subject_with_slow_converter("0.2");
    let arguments = ["run", "--suite", "converter", "--objects", "300", "--time", "7s", "--jobs", "1"];
    let (_, said) = wait_for_end(start(folder.path(), &arguments));
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("  judged ")).collect();
    assert!(lines.iter().any(|line| line.contains("databases.example.com: ") && line.ends_with(" s")), "{said}");
    assert!(!said.contains('\r') && !said.contains('\u{1b}'), "{said:?}");
    // The limit is mentioned if it was reached.
    assert!(said.contains("not tried: ") && said.contains("--time sets its limit"), "{said}");
    // Short runs print no progress, and quiet ones nothing at all.
    let quick = crdproof(folder.path(), &["run", "--suite", "manifest"]).says(0, &[]);
    assert!(!quick.stderr.contains("judged "), "{}", quick.stderr);
    let arguments = ["run", "--suite", "converter", "--objects", "100", "--time", "6s", "--jobs", "1", "--quiet"];
    assert_eq!(wait_for_end(start(folder.path(), &arguments)).1, "");
}

#[test]
fn the_first_interruption_reports_partial_results() {
    let folder = subject_with_slow_converter("0.2");
    let arguments = ["run", "--suite", "quick", "--objects", "5000", "--jobs", "1", "--report", "json=report.json"];
    let started = Instant::now();
    let child = start(folder.path(), &arguments);
    std::thread::sleep(Duration::from_secs(2));
    interrupt(&child);
    let (code, said) = wait_for_end(child);
    assert_eq!(code, Some(6), "{said}");
    assert!(started.elapsed() < Duration::from_secs(60), "{said}");
    for words in ["interrupted: reporting what is known", "the run was interrupted", "checks passed"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert!(report["problems"][0]["message"].as_str().unwrap().contains("interrupted"));
    assert!(report["results"].as_array().unwrap().len() > 20);
}

#[test]
fn the_second_interruption_ends_the_process() {
    let folder = subject_with_slow_converter("30");
    let started = Instant::now();
    let child = start(folder.path(), &["run", "--suite", "converter", "--jobs", "1"]);
    std::thread::sleep(Duration::from_secs(2));
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&child);
    let (code, said) = wait_for_end(child);
    assert_eq!(code, Some(6), "{said}");
    assert!(started.elapsed() < Duration::from_secs(15), "{said}");
    assert!(said.contains("nothing is left behind"), "{said}");
}

/// Runs a command on a pseudo-terminal with this input, and returns the output of the terminal.
#[cfg(target_os = "linux")]
fn on_a_terminal(folder: &Path, command: &str, typed: &str) -> String {
    use std::io::Write as _;

    let mut script = Command::new("script")
        .args(["--quiet", "--return", "--command", &format!("stty cols 120; {BINARY} {command}"), "/dev/null"])
        .current_dir(folder)
        .env("TERM", "xterm-256color")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = script.stdin.take().unwrap();
    stdin.write_all(typed.as_bytes()).unwrap();
    let shown = script.wait_with_output().unwrap().stdout;
    String::from_utf8(shown).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_one_progress_line_is_updated_and_erased() {
    let folder = subject_with_slow_converter("0.2");
    let run = "run --suite converter --objects 60 --time 3s --jobs 1";
    let shown = on_a_terminal(folder.path(), run, "");
    assert!(shown.contains("judged 0 of ") && shown.contains("\r\u{1b}[2K"), "{shown:?}");
    // Lines that stay start after the progress line was erased.
    let last = shown.rsplit("\r\u{1b}[2K").next().unwrap();
    assert!(last.contains('►') && !last.contains("judged 0 of "), "{last:?}");
    let quiet = on_a_terminal(folder.path(), &format!("{run} --quiet"), "");
    assert_eq!(quiet, "");
}

#[cfg(target_os = "linux")]
#[test]
fn init_asks_on_a_terminal() {
    let folder = subject("databases");
    let file = folder.path().join("crdproof.yaml");
    std::fs::remove_file(&file).unwrap();
    let refused = on_a_terminal(folder.path(), "init", "n\n");
    assert!(refused.contains("found samples in samples") && refused.contains("nothing was written"), "{refused}");
    assert!(!file.exists());
    // Answers: yes, then the webhook that is deployed in a cluster.
    let written = on_a_terminal(folder.path(), "init", "\n1\n");
    assert!(written.contains("which webhook converts in a run?"), "{written}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\nconverter:\n  webhook:\n    service: {name: databases-webhook"), "{text}");
    // Without questions, the same answer is written as a comment.
    on_a_terminal(folder.path(), "init --force --yes", "");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\n# converter:\n#   webhook:\n#     service: {name: databases-webhook"), "{text}");
}
