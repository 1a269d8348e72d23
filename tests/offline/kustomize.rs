//! Folders as people keep them: kustomizations, patches beside CRDs, and messages about patches that are not applied.

use std::path::Path;
use std::process::{Command, Stdio};

use rstest::rstest;

use crate::cli::{BINARY, Ended, commit_all, copy, crdproof, folder, git, repository, sound_crd};

const MANIFEST: [&str; 2] = ["--suite", "manifest"];

/// The check that reads a field which patches add.
const REVIEWS: &str = "manifest/review-versions-known";

/// The layout of kubebuilder, in a temporary folder.
fn project() -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    copy(&repository().join("fixtures/kustomize/default"), &project.path().join("config"));
    std::fs::remove_file(project.path().join("config/expected.yaml")).unwrap();
    project
}

fn edit(project: &Path, file: &str, from: &str, to: &str) {
    let path = project.join("config").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from:?}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

fn run(folder: &Path, source: &str) -> Ended {
    crdproof(folder, &[&["run", source], &MANIFEST[..]].concat())
}

fn run_only(folder: &Path, source: &str, check: &str) -> Ended {
    crdproof(folder, &[&["run", source, "--only", check], &MANIFEST[..]].concat())
}

/// Runs the binary with only these programs on `PATH`, and asserts that it leaves no folder.
fn run_with(programs: &Path, folder: &Path, source: &str) -> Ended {
    let child = Command::new(BINARY)
        .args(["run", source, "--only", REVIEWS])
        .args(MANIFEST)
        .current_dir(folder)
        .env("PATH", programs)
        .env("NO_COLOR", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let owner = format!("-{}-", child.id());
    let output = child.wait_with_output().unwrap();
    for parent in [Path::new("/dev/shm"), &std::env::temp_dir()] {
        let names = std::fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let left: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        let left = left.iter().find(|name| name.starts_with("crdproof-") && name.contains(&owner));
        assert_eq!(left, None, "in {}", parent.display());
    }
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[cfg(unix)]
fn program(folder: &Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn fields_that_a_patch_adds_point_into_the_patch() {
    let project = project();
    edit(project.path(), "crd/patches/webhook.yaml", "[v1]", "[v9]");
    for source in ["config/crd", "config/crd/kustomization.yaml", "config/default", "./config/../config/crd"] {
        run_only(project.path(), source, REVIEWS).says(1, &["--> config/crd/patches/webhook.yaml:14:33", "2 CRDs"]);
    }
}

#[test]
fn fields_that_an_inline_patch_adds_point_into_the_kustomization() {
    let project = project();
    let inline = "resources: [bases/widgets.yaml]\npatches:\n- target: {kind: CustomResourceDefinition}\n  patch: |-\n    \
                  - op: add\n      path: /spec/conversion\n      value:\n        strategy: Webhook\n        webhook:\n          \
                  conversionReviewVersions: [v9]\n          clientConfig: {url: \"https://example.com/convert\"}\n";
    std::fs::write(project.path().join("config/crd/kustomization.yaml"), inline).unwrap();
    let ended = run_only(project.path(), "config/crd", REVIEWS);
    ended.says(1, &["--> config/crd/kustomization.yaml:10:37", "10 |           conversionReviewVersions: [v9]"]);
}

#[test]
fn bases_are_read_with_the_conversion_that_their_kustomization_adds() {
    let project = project();
    edit(project.path(), "crd/patches/webhook.yaml", "[v1]", "[v9]");
    run_only(project.path(), "config/crd/bases", REVIEWS).says(1, &["--> config/crd/patches/webhook.yaml:14:33"]);
    run_only(project.path(), "config", REVIEWS).says(1, &["--> config/crd/patches/webhook.yaml:14:33"]);
    // A patch that no kustomization applies is only mentioned.
    edit(project.path(), "crd/kustomization.yaml", "patches: [{path: patches/webhook.yaml}]\n", "");
    edit(
        project.path(),
        "crd/bases/widgets.yaml",
        "mode: {type: string, enum: [\"yes\", \"no\"]}",
        "mode: {type: string}",
    );
    edit(project.path(), "crd/bases/widgets.yaml", "        x-kubernetes-preserve-unknown-fields: true\n", "");
    let ended = run_only(project.path(), "config/crd/bases/widgets.yaml", "manifest/none-strategy-lossless");
    ended.says(
        0,
        &["warning", "manifest/none-strategy-lossless", "no kustomization applies it", "patches/webhook.yaml"],
    );
}

#[test]
fn files_that_are_not_whole_crds_are_skipped_and_counted() {
    let folder = folder(&[
        ("crd.yaml", &sound_crd()),
        (
            "patch.yaml",
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b.c}\nspec: {preserveUnknownFields: false}\n",
        ),
        (
            "old.yaml",
            "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: a.b.c}\n",
        ),
        ("nameless.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"),
        ("json.yaml", "- {op: remove, path: /spec}\n"),
        ("template.yaml", "{{ if .x }}\nkind: Deployment\na: [\n"),
        ("other.yaml", "kind: Deployment\n"),
    ]);
    let words =
        ["6 documents passed over: 1 (no YAML), 1 (no kind), 1 Deployment, 3 incomplete CustomResourceDefinition"];
    run(folder.path(), ".").says(0, &words);
}

#[test]
fn a_broken_crd_is_an_error() {
    let nameless = sound_crd().replacen("  name: apps.example.com\n", "  labels: {}\n", 1);
    let broken = folder(&[("crd.yaml", &sound_crd()), ("nameless.yaml", &nameless)]);
    run(broken.path(), ".").says(2, &["nameless.yaml", "metadata.name is missing"]);
    let old = sound_crd().replace("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1");
    let old = folder(&[("old.yaml", &old)]);
    run(old.path(), ".").says(2, &["v1beta1"]);
    let template = folder(&[("crd.yaml", "kind: CustomResourceDefinition\n{{- with .x }}\na: [\n")]);
    run(template.path(), ".").says(2, &["crd.yaml", "looks like a template", "helm, template"]);
}

#[rstest]
#[case("resources: [crd.yaml, nowhere.yaml]\n", &["kustomization.yaml:1:23: cannot read nowhere.yaml", "relative to it"])]
#[case("resources: [crd.yaml, empty]\n", &["kustomization.yaml:1:23", "it has no kustomization.yaml"])]
#[case("resources: [.]\n", &["the kustomization contains itself"])]
#[case("resources: [crd.yaml]\npatches: [{path: other.yaml}]\n", &["other.yaml:1:1: the patch matches no CRD"])]
#[case("resources: [crd.yaml]\npatches: [{path: json.yaml}]\n", &["kustomization.yaml:2:11: a JSON patch needs a target"])]
#[case("resources: [crd.yaml]\npatches: [{path: json.yaml, target: {kind: Custom.*}}]\n",
       &["json.yaml:1:22: cannot apply the patch to apps.example.com: the document has nothing at /spec/nothing"])]
#[case("resources: [crd.yaml]\npatches: [{path: kind.yaml, target: {kind: Custom.*}}]\n",
       &["kind.yaml:3:7: cannot apply the patch", "string where the document has object"])]
#[case("resources: [crd.yaml]\npatches: [{path: json.yaml, target: {name: \"a(\"}}]\n", &["is not a regular expression"])]
#[case("resources: [crd.yaml]\npatches: [{target: {kind: A}}]\n", &["exactly one of `path` and `patch`"])]
#[case("resources: [crd.yaml, crd.yaml]\n", &["is duplicated here"])]
fn a_kustomization_that_cannot_be_built_is_refused_with_its_location(#[case] text: &str, #[case] words: &[&str]) {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n";
    let folder = folder(&[
        ("kustomization.yaml", text),
        ("crd.yaml", &sound_crd()),
        ("empty/readme.txt", ""),
        ("other.yaml", &format!("{crd}metadata: {{name: other.example.com}}\n")),
        ("json.yaml", "- {op: remove, path: /spec/nothing}\n"),
        ("kind.yaml", &format!("{crd}spec: \"x\"\n")),
    ]);
    run(folder.path(), ".").says(2, words);
}

#[cfg(unix)]
#[rstest]
#[case("helmCharts: [{name: x}]\n", "`helmCharts` of kustomization.yaml:2")]
#[case("generators: [x.yaml]\n", "`generators` of kustomization.yaml:2")]
#[case("transformers: [x.yaml]\n", "`transformers` of kustomization.yaml:2")]
#[case("buildMetadata: [managedByLabel]\n", "`buildMetadata` of kustomization.yaml:2")]
#[case(
    "components: [\"https://example.com/x?ref=v1\"]\n",
    "the remote resource https://example.com/x?ref=v1 of kustomization.yaml:2"
)]
#[case(
    "replacements: [{source: {kind: Nothing}, targets: [{select: {kind: CustomResourceDefinition}, fieldPaths: [spec.group]}]}]\n",
    "a replacement of kustomization.yaml:2"
)]
fn unsupported_features_are_reported_unless_a_program_builds_them(#[case] more: &str, #[case] what: &str) {
    let (text, crd) = (format!("resources: [crd.yaml]\n{more}"), sound_crd());
    let folder = folder(&[("kustomization.yaml", &text), ("crd.yaml", &crd)]);
    let programs = tempfile::tempdir().unwrap();
    let told = format!("{what} (not applied: neither kustomize nor kubectl is installed)");
    run_with(programs.path(), folder.path(), ".").says(0, &[&told]);
    program(programs.path(), "kubectl", "echo 'Error: no such chart' >&2; exit 1");
    run_with(programs.path(), folder.path(), ".").says(0, &["(not applied: kubectl failed: Error: no such chart)"]);
    program(programs.path(), "kustomize", "[ \"$1\" = build ] && exec /bin/cat \"$2/crd.yaml\"");
    let built = run_with(programs.path(), folder.path(), ".").says(0, &["apps.example.com"]);
    assert!(!built.stderr.contains("not applied"), "{}", built.stderr);
}

#[test]
fn revisions_are_built_like_folders() {
    let project = project();
    commit_all(project.path());
    git(project.path(), &["tag", "v1"]);
    let same = crdproof(project.path(), &["diff", "git:v1:config/crd", "git:v1:config/crd"]);
    same.says(0, &[]);
    edit(project.path(), "crd/bases/widgets.yaml", "required: [size]", "required: [size, mode]");
    edit(project.path(), "crd/patches/webhook.yaml", "/convert", "/other");
    git(project.path(), &["add", "-A"]);
    git(project.path(), &["commit", "-q", "-m", "second"]);
    git(project.path(), &["tag", "v2"]);
    for (old, new) in [("git:v1:config/crd", "git:v2:config/crd"), ("git:v1:config/default", "config/default")] {
        let ended = crdproof(project.path(), &["diff", old, new]);
        let ended = ended.says(1, &[".spec.mode", "config/crd/bases/widgets.yaml"]);
        assert!(!ended.stderr.contains("upgrade/strategy"), "the stanza of the patch is in both:\n{}", ended.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_program_builds_revisions_too_without_touching_the_repository() {
    let project = project();
    edit(project.path(), "crd/kustomization.yaml", "patches:", "generators: [x.yaml]\npatches:");
    commit_all(project.path());
    let programs = tempfile::tempdir().unwrap();
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap()).find(|folder| folder.join("git").is_file());
    program(programs.path(), "git", &format!("exec {}/git \"$@\"", real.unwrap().display()));
    program(programs.path(), "kustomize", "exec /bin/cat \"$2/bases/widgets.yaml\"");
    std::fs::remove_dir_all(project.path().join("config/crd")).unwrap();
    let ended = run_with(programs.path(), project.path(), "git:HEAD:config/crd");
    ended.says(0, &["widgets.example.com"]);
    assert!(!project.path().join("config/crd").exists());
}
