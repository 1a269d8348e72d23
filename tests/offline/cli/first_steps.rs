//! The first ten minutes: the demo, understanding and fixing a finding, and typical first mistakes.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{BINARY, Ended, crdproof, folder, sound_crd, subject};
use crate::webhook;

/// Runs the binary where no API server can be installed: nothing is in the cache, and there is neither network nor Go.
fn without_servers(folder: &Path, arguments: &[&str]) -> Ended {
    let output = Command::new(BINARY)
        .args(arguments)
        .current_dir(folder)
        .env("CRDPROOF_CACHE", folder.join("cache"))
        .env("PATH", "/nowhere")
        .env_remove("KUBEBUILDER_ASSETS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn the_demo_runs_offline_if_no_server_can_be_installed() {
    let folder = tempfile::tempdir().unwrap();
    let ended = without_servers(folder.path(), &["demo", "--offline"]);
    let ended = ended.says(5, &["no API server for Kubernetes 1.36", "`crdproof env use 1.36`"]);
    let words = [
        "checks passed",
        "✔ passed: no findings",
        "were not tested: needs an API server",
        "nothing ran on an API server",
    ];
    ended.says(5, &words);
    let report = std::fs::read_to_string(folder.path().join("crdproof-demo/report.html")).unwrap();
    assert!(report.contains("databases.example.com"));
}

/// Commands of a new user after cloning, with a demo that needs no server here; a test on servers does the same with
/// one.
#[test]
fn a_finding_is_understood_and_fixed_in_a_few_commands() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let finding = ".spec.password (•••) is lost on the way v2→v1→v2";
    let help = "keep the field on the way through the other version: add it there, or stash it in an annotation";
    // 1: the clone. 2: the first command.
    without_servers(here, &["demo", "--defect", "--offline"])
        .says(1, &["error[converter/round-trip-lossless]", finding, help, "✗ failed: 1 error", "report.html"]);
    // 3: what does it mean?
    let explained = crdproof(here, &["explain", "converter/round-trip-lossless"]).says(0, &[]);
    assert!(explained.stdout.contains("API servers convert on every read and write"), "{}", explained.stdout);
    // 4: the fix, in an editor.
    let file = here.join("crdproof-demo-defect/crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("To fix it, turn these two comments into YAML."));
    std::fs::write(&file, text.replace("# stash:", "stash:").replace("# - {from", "- {from")).unwrap();
    // 5: the same again, and the counterexample that was found.
    crdproof(here, &["replay", "-f", "crdproof-demo-defect/crdproof.yaml"]).says(0, &[]);
    crdproof(here, &["run", "-f", "crdproof-demo-defect/crdproof.yaml"]).says(0, &["✔ passed: no findings"]);
}

/// Compares the output with a snapshot, without the parts that differ between machines and runs.
macro_rules! assert_output {
    ($name:literal, $ended:expr) => {{
        let ended: Ended = $ended;
        insta::with_settings!({filters => vec![
            (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
            (r"1\.36\.\d+", "1.36.PATCH"),
            (r"os error \d+", "os error N"),
            (r"\d{4}-\d\d-\d\d", "DATE"),
        ]}, {
            insta::assert_snapshot!($name, format!("{}exit code {}", ended.stderr, ended.code));
        });
    }};
}

#[test]
fn a_folder_without_crds_is_reported() {
    let empty = folder(&[("README.md", "# an operator\n")]);
    assert_output!("no_crds_init", crdproof(empty.path(), &["init"]));
    assert_output!("no_crds_run", crdproof(empty.path(), &["run"]));
    assert_output!("no_crds_run_here", crdproof(empty.path(), &["run", "."]));
}

#[test]
fn a_missing_path_is_reported() {
    let operator = folder(&[("config/crd/apps.yaml", &sound_crd())]);
    assert_output!("wrong_path", crdproof(operator.path(), &["run", "config/crds"]));
    assert_output!("wrong_file", crdproof(operator.path(), &["run", "-f", "crdprof.yaml"]));
}

#[test]
fn a_webhook_that_does_not_run_is_reported() {
    // Nothing listens on port 9, so connections are refused at once.
    let folder = webhook::subject("https://127.0.0.1:9/convert", None);
    assert_output!("webhook_not_running", crdproof(folder.path(), &["run", "--suite", "quick"]));
}

#[test]
fn an_untrusted_certificate_is_reported() {
    let ended = crate::certificates::not_trusted();
    let text: String =
        ended.stderr.lines().take_while(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect();
    let ended = Ended { stderr: text, ..ended };
    assert_output!("certificate_not_trusted", ended);
}

#[test]
fn a_server_that_cannot_be_installed_is_reported() {
    let folder = subject("databases");
    let arguments = ["run", "--suite", "storage", "--kubernetes", "1.36", "--offline"];
    assert_output!("server_not_installable", without_servers(folder.path(), &arguments));
}

#[test]
fn a_typo_in_the_subject_file_is_reported() {
    let folder = subject("databases");
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("samples:", "sampels:")).unwrap();
    assert_output!("typo", crdproof(folder.path(), &["run"]));
}
