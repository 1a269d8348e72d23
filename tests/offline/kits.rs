//! The kits: their files are well-formed, the flags that they use exist, and the steps that can run here run.

use std::path::Path;
use std::process::{Command, Output};

use crdproof_schema::document::{Node, Sources, parse};

use crate::cli::{BINARY, commit_all, copy, crdproof, git, repository};

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn documents(path: &str, text: &str) -> Vec<Node> {
    let mut sources = Sources::default();
    let id = sources.add(path, text);
    parse(&sources, id).unwrap_or_else(|error| panic!("{}: {}", sources.place(error.span), error.message))
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const YAML: [&str; 5] = [
    "action.yml",
    ".pre-commit-hooks.yaml",
    "kits/gitlab/templates/crdproof.yml",
    "kits/tekton/crdproof.yaml",
    "kits/krew/crdproof.yaml",
];

#[test]
fn every_kit_is_well_formed() {
    for path in YAML {
        assert!(!documents(path, &read(path)).is_empty(), "{path}");
    }
    let task = &documents(YAML[3], &read(YAML[3]))[0];
    assert_eq!((task.str_at("apiVersion"), task.str_at("kind")), (Some("tekton.dev/v1"), Some("Task")));
    let readme = read("kits/README.md");
    for path in YAML {
        let name = path.rsplit('/').next().unwrap();
        assert!(readme.contains(name), "kits/README.md does not name {path}");
    }
}

/// The commands that kits run, without the parts that a shell or a CI system fills in.
fn commands() -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for path in ["kits/github/steps", "kits/gitlab/templates/crdproof.yml", ".pre-commit-hooks.yaml", "kits/README.md"]
    {
        let text = read(path).replace("\\\n", " ");
        for line in text.lines() {
            for name in ["run", "diff", "audit"] {
                let after = line.split_once(&format!("crdproof {name} ")).map(|(_, after)| after);
                found.extend(after.map(|after| (path, format!("{name} {after}"))));
            }
        }
    }
    let task = read("kits/tekton/crdproof.yaml");
    let arguments: Vec<&str> = task.lines().filter_map(|line| line.trim().strip_prefix("- --")).collect();
    found.push(("kits/tekton/crdproof.yaml", format!("run --{}", arguments.join(" --"))));
    let steps = read("kits/github/steps");
    let flags = steps.split("(--").skip(1).filter_map(|rest| rest.split([' ', ')']).next());
    found.push(("kits/github/steps", format!("run --{}", flags.collect::<Vec<_>>().join(" --"))));
    found
}

#[test]
fn kits_use_flags_that_exist() {
    let commands = commands();
    assert!(commands.len() >= 7, "{commands:?}");
    for (path, command) in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let help = crdproof(repository(), &[words[0], "--help"]).says(0, &[]).stdout;
        for flag in words.iter().filter(|word| word.starts_with("--")) {
            let flag = flag.split('=').next().unwrap().trim_end_matches(['`', '"']);
            assert!(
                help.contains(&format!("{flag} ")) || help.contains(&format!("{flag}\n")),
                "{path}: no {flag} in {help}"
            );
        }
    }
}

/// A folder with one release in it, whose program is the one under test.
fn release(folder: &Path) {
    let script = r#"
        set -eu
        name="crdproof-v9.9.9-$(uname -m | sed s/arm64/aarch64/)-$([ "$(uname -s)" = Darwin ] && echo apple-darwin || echo unknown-linux-musl)"
        mkdir -p "v9.9.9/$name"
        ln "$BINARY" "v9.9.9/$name/crdproof" 2>/dev/null || cp "$BINARY" "v9.9.9/$name/crdproof"
        tar -C v9.9.9 -cf - "$name" | gzip -1 > "v9.9.9/$name.tar.gz"
        (cd v9.9.9 && { sha256sum "$name.tar.gz" 2>/dev/null || shasum -a 256 "$name.tar.gz"; } > SHA256SUMS)
    "#;
    let status = Command::new("bash").args(["-c", script]).env("BINARY", BINARY).current_dir(folder).status().unwrap();
    assert!(status.success());
}

/// Runs the install step of the action. The folder serves the releases and is the runner's folder.
fn install(releases: &Path) -> Output {
    Command::new(repository().join("kits/github/steps"))
        .arg("install")
        .env("CRDPROOF_RELEASES", format!("file://{}", releases.display()))
        .env("CRDPROOF_VERSION", "v9.9.9")
        .env("RUNNER_TEMP", releases)
        .env("GITHUB_PATH", releases.join("path"))
        .output()
        .unwrap()
}

#[test]
fn a_release_is_installed_only_if_its_checksum_matches() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("○ no curl: nothing was installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    release(folder.path());
    let output = install(folder.path());
    assert!(output.status.success() && said(&output).contains("✔ crdproof "), "{}", said(&output));
    let path = std::fs::read_to_string(folder.path().join("path")).unwrap();
    assert!(Path::new(path.trim()).join("crdproof").is_file(), "{path}");
    let sums = folder.path().join("v9.9.9/SHA256SUMS");
    let text = std::fs::read_to_string(&sums).unwrap();
    std::fs::write(&sums, format!("{}{}", "0".repeat(64), &text[64..])).unwrap();
    let output = install(folder.path());
    assert!(!output.status.success() && said(&output).contains("does not have the checksum"), "{}", said(&output));
}

/// Runs a step of the action on a subject, as a runner does.
fn step(name: &str, folder: &Path, crds: &str) -> Output {
    let tools = folder.join(".tools");
    std::fs::create_dir_all(&tools).unwrap();
    // A stand-in for GitHub's command line that keeps the comment it is given.
    let stand_in = "#!/bin/sh\nwhile [ \"$1\" != --body-file ]; do shift; done\ncp \"$2\" comment.md\n";
    std::fs::write(tools.join("gh"), stand_in).unwrap();
    Command::new("chmod").arg("+x").arg(tools.join("gh")).status().unwrap();
    let binaries = Path::new(BINARY).parent().unwrap();
    let path = format!("{}:{}:{}", tools.display(), binaries.display(), std::env::var("PATH").unwrap());
    let values = [
        ("FILE", "crdproof.yaml"),
        ("SUITES", "manifest upgrade"),
        ("KUBERNETES", ""),
        ("CRDS", crds),
        ("FAIL_ON", "error"),
    ];
    let mut command = Command::new(repository().join("kits/github/steps"));
    command.arg(name).current_dir(folder).env("PATH", path).envs(values).env("RUNNER_TEMP", &tools).env("NUMBER", "7");
    command.env("GITHUB_OUTPUT", tools.join("output")).env("GITHUB_STEP_SUMMARY", tools.join("summary.md"));
    command.env("GITHUB_BASE_REF", "main").env("REPORTS", tools.join("crdproof-reports")).output().unwrap()
}

fn operator(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&repository().join("fixtures/crds").join(name), folder.path());
    commit_all(folder.path());
    git(folder.path(), &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    folder
}

#[test]
fn the_action_passes_a_sound_change_and_stops_a_loss() {
    let sound = operator("three-versions");
    let output = step("judge", sound.path(), "crds");
    assert!(output.status.success(), "{}", said(&output));
    let reports = sound.path().join(".tools/crdproof-reports");
    for name in [
        "crdproof.json",
        "crdproof.sarif",
        "crdproof.xml",
        "crdproof.html",
        "crdproof.md",
        "upgrade.md",
        "upgrade.sarif",
    ] {
        assert!(reports.join(name).is_file(), "{name}");
    }
    let outputs = std::fs::read_to_string(sound.path().join(".tools/output")).unwrap();
    assert!(outputs.contains("\ncompared=true\n"), "{outputs}");
    let lossy = operator("databases-none");
    let output = step("judge", lossy.path(), "");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("::error "), "{}", said(&output));
    let outputs = std::fs::read_to_string(lossy.path().join(".tools/output")).unwrap();
    assert!(outputs.ends_with("\njudged=true\n") && !outputs.contains("compared"), "{outputs}");
    assert!(step("comment", lossy.path(), "").status.success());
    for file in ["comment.md", ".tools/summary.md"] {
        assert!(std::fs::read_to_string(lossy.path().join(file)).unwrap().contains(".spec.password"), "{file}");
    }
}

/// Expressions in scripts allow injection, so values are passed by environment. Every input must be used.
#[test]
fn the_action_passes_values_by_environment() {
    let action = &documents("action.yml", &read("action.yml"))[0];
    let text = read("action.yml");
    for entry in action.get("inputs").unwrap().entries() {
        assert!(text.contains(&format!("inputs.{}", entry.key)), "nothing uses the input {}", entry.key);
    }
    for step in action.at(&["runs", "steps"]).unwrap().items() {
        match (step.str_at("run"), step.str_at("uses")) {
            (Some(run), None) => {
                assert!(!run.contains("${{"), "{run}");
                assert_eq!(step.str_at("shell"), Some("bash"), "{run}");
            }
            (None, Some(action)) => {
                let version = action.split_once("@v").map(|(_, version)| version).unwrap_or_default();
                assert!(version.parse::<u32>().is_ok(), "{action}: pin the major version");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn krew_and_homebrew_get_the_checksums_of_a_release() {
    let folder = tempfile::tempdir().unwrap();
    let targets =
        ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl", "x86_64-apple-darwin", "aarch64-apple-darwin"];
    let digest =
        |index: usize| char::from_digit(u32::try_from(index).unwrap() + 10, 16).unwrap().to_string().repeat(64);
    let sums: String = targets
        .iter()
        .enumerate()
        .map(|(index, target)| format!("{}  crdproof-v1.2.3-{target}.tar.gz\n", digest(index)))
        .collect();
    let file = folder.path().join("SHA256SUMS");
    std::fs::write(&file, sums).unwrap();
    let filled =
        Command::new(repository().join("kits/fill")).arg("v1.2.3").arg(&file).arg(folder.path()).output().unwrap();
    assert!(filled.status.success(), "{}", said(&filled));
    let krew = std::fs::read_to_string(folder.path().join("crdproof-krew.yaml")).unwrap();
    let formula = std::fs::read_to_string(folder.path().join("crdproof.rb")).unwrap();
    for (index, target) in targets.iter().enumerate() {
        for text in [&krew, &formula] {
            let (_, after) = text.split_once(&format!("crdproof-v1.2.3-{target}.tar.gz")).unwrap();
            assert!(after.lines().nth(1).unwrap().contains(&digest(index)), "{target}: {text}");
            assert!(!text.contains("@VERSION@"), "{text}");
        }
    }
    let plugin = &documents("krew", &krew)[0];
    assert_eq!(plugin.at(&["spec", "platforms"]).unwrap().items().len(), 4);
}

/// `kubectl` finds a plugin by the name of its file.
#[test]
fn kubectl_calls_the_plugin_by_name() {
    if Command::new("kubectl").args(["version", "--client"]).output().is_err() {
        eprintln!("○ no kubectl: the plugin was not called");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(BINARY, folder.path().join("kubectl-crdproof")).unwrap();
    let crd = repository().join("fixtures/crds/three-versions/crds/apps.yaml");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let mut kubectl = Command::new("kubectl");
    let output = kubectl.args(["crdproof", "audit", "--all", "--dump"]).arg(crd).env("PATH", path).output().unwrap();
    assert!(said(&output).contains("apps.example.com"), "{}", said(&output));
}
