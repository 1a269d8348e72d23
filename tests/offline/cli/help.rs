//! Every command has an example in its help, and every example runs.

use std::path::Path;
use std::process::Command;

use super::{BINARY, commit_all, crdproof, folder, git, sound_crd};

/// All commands with their subcommands, as the help lists them.
fn commands(prefix: &[String]) -> Vec<Vec<String>> {
    let mut arguments: Vec<&str> = prefix.iter().map(String::as_str).collect();
    arguments.push("--help");
    let help = crdproof(Path::new("."), &arguments).says(0, &[]).stdout;
    let mut found = vec![prefix.to_vec()];
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Descriptions of several lines continue with a deeper indentation.
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    for name in names {
        found.extend(commands(&[prefix, &[name.to_owned()]].concat()));
    }
    found
}

/// The lines of the `Example:` block at the end of a help text.
fn examples(command: &[String]) -> Vec<String> {
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.push("--help");
    let help = crdproof(Path::new("."), &arguments).stdout;
    let block = help.lines().skip_while(|line| !matches!(*line, "Example:" | "Examples:")).skip(1);
    block.take_while(|line| !line.is_empty()).map(|line| line.trim().to_owned()).collect()
}

/// A folder with the files that examples name.
fn workplace() -> tempfile::TempDir {
    let crd = sound_crd();
    let subject = "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {paths: [config/crd]}\n";
    let sample = "apiVersion: example.com/v1\nkind: App\nmetadata: {name: shop}\n";
    let folder = folder(&[
        ("config/crd/apps.yaml", &crd),
        ("crdproof.yaml", subject),
        ("sample.yaml", sample),
        ("old.yaml", &crd),
        ("new.yaml", &crd),
        ("crds.json", &crd),
        ("widgets.json", sample),
    ]);
    for name in ["crdproof.json", "a.json", "b.json"] {
        crdproof(folder.path(), &["run", "-q", "--report", &format!("json={name}")]).says(0, &[]);
    }
    crdproof(folder.path(), &["run", "-q", "--record", "recording"]).says(0, &[]);
    commit_all(folder.path());
    git(folder.path(), &["tag", "v1.4.0"]);
    folder
}

/// Examples that would download, build or run forever are not run; the commands that they name must exist.
fn names_a_command(example: &str, words: usize) {
    for part in example.split("crdproof ").skip(1) {
        let words: Vec<&str> = part.split([' ', ')']).take(words).chain(["--help"]).collect();
        crdproof(Path::new("."), &words).says(0, &[]);
    }
}

#[test]
fn every_example_of_the_help_runs() {
    let commands = commands(&[]);
    assert!(commands.len() > 10, "{commands:?}");
    let binaries = Path::new(BINARY).parent().unwrap().display();
    let path = format!("{binaries}:{}", std::env::var("PATH").unwrap_or_default());
    for command in commands {
        let examples = examples(&command);
        assert!(!examples.is_empty(), "`crdproof {} --help` has no Example: block", command.join(" "));
        for example in examples {
            assert!(example.contains("crdproof "), "{example}");
            let named = command.first().map(String::as_str);
            let elsewhere = match named {
                Some("demo" | "serve" | "migrate" | "retire") => true,
                Some("env") => !example.contains(" list"),
                Some("preflight") => !example.contains(" --explain"),
                Some("minimum") => !example.contains(" --derive-only"),
                Some("audit") => !example.contains(" --dump"),
                Some("run") => example.contains(" --kubernetes"),
                _ => false,
            };
            if elsewhere {
                names_a_command(&example, command.len());
                continue;
            }
            let folder = workplace();
            let output = Command::new("bash")
                .args(["-c", &example])
                .current_dir(folder.path())
                .env("PATH", &path)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{example}: {:?}\n{said}", output.status);
        }
    }
}
