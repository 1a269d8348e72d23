//! `init` in repositories as people keep them: the file that it writes runs unchanged.

use std::path::Path;

use super::{Ended, crdproof, folder, sound_crd};

const SAMPLE: &str = "apiVersion: example.com/v1\nkind: App\nmetadata: {name: a, namespace: b}\nspec: {}\n";

/// The CRD of another kind.
fn other_crd() -> String {
    sound_crd().replace("apps", "jobs").replace("App", "Job")
}

/// Runs `init` and then the quick suite on what it wrote; returns the subject file.
fn init_and_run(folder: &Path, crds: usize) -> String {
    let plan = format!("found {crds} CRD");
    crdproof(folder, &["init"]).says(0, &[&plan, "✔ plan: ", "next: crdproof run -f ./crdproof.yaml"]);
    let ended = crdproof(folder, &["run", "--suite", "quick"]);
    assert!([0, 1].contains(&ended.code), "exit {}:\n{}", ended.code, ended.stderr);
    std::fs::read_to_string(folder.join("crdproof.yaml")).unwrap()
}

#[track_caller]
fn has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|own| own.trim() == *line), "no line {line:?} in\n{text}");
    }
}

#[test]
fn init_reads_crds_of_charts_and_no_templates() {
    let folder = folder(&[
        ("charts/app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 0.1.0\n"),
        ("charts/app/values.yaml", "a: 1\n"),
        ("charts/app/crds/app.yaml", &sound_crd()),
        ("charts/app/templates/deployment.yaml", "{{- if .Values.a }}\nkind: Deployment\n{{- end }}\n"),
        ("charts/app/templates/crd.yaml", &other_crd()),
        ("charts/app/templates/sample.yaml", SAMPLE),
    ]);
    let text = init_and_run(folder.path(), 1);
    has(&text, &["paths: [charts/app/crds]", "# samples: [config/samples]"]);
}

#[test]
fn plain_folders_list_each_crd_once() {
    let bundle = format!("kind: Namespace\napiVersion: v1\nmetadata: {{name: x}}\n---\n{}", sound_crd());
    let folder = folder(&[
        ("deploy/crds/app.yaml", &sound_crd()),
        ("deploy/crds/job.yaml", &other_crd()),
        ("deploy/examples/app.yaml", SAMPLE),
        ("test/e2e/bad.yaml", SAMPLE),
        ("dist/install.yaml", &bundle),
        ("vendor/x/crd.yaml", &sound_crd()),
        ("broken.yaml", "{{ x\na: ["),
    ]);
    let text = init_and_run(folder.path(), 2);
    has(
        &text,
        &["paths: [deploy/crds]", "samples: [deploy/examples]", "minimumCount: 2   # an empty render must not pass"],
    );
    assert!(text.starts_with("# yaml-language-server: $schema=https://"), "{text}");
    assert!(!text.contains("converter:"), "no webhook, no converter:\n{text}");
}

#[test]
fn a_bundle_alone_is_read_as_a_file() {
    let bundle = format!("kind: Namespace\napiVersion: v1\nmetadata: {{name: x}}\n---\n{}", sound_crd());
    let folder = folder(&[("dist/install.yaml", &bundle)]);
    has(&init_and_run(folder.path(), 1), &["paths: [dist]"]);
    let beside = self::folder(&[("install.yaml", &bundle), ("sample.yaml", SAMPLE)]);
    has(&init_and_run(beside.path(), 1), &["paths: [install.yaml]", "samples: [sample.yaml]"]);
}

/// Two kubebuilder operators in one repository, one with a conversion webhook.
fn monorepo() -> tempfile::TempDir {
    let crd = sound_crd();
    let patch = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: apps.example.com}\nspec:\n  \
                 conversion:\n    strategy: Webhook\n    webhook:\n      conversionReviewVersions: [v1]\n      clientConfig:\n        \
                 service: {name: webhook-service, namespace: system, path: /hook}\n";
    let main = "package main\n\nfunc main() {\n\tflag.StringVar(&path, \"webhook-cert-path\", \"\", \"\")\n\tflag.StringVar(&address, \
                \"metrics-bind-address\", \"0\", \"\")\n}\n";
    folder(&[
        ("operators/a/PROJECT", "domain: example.com\n"),
        ("operators/a/cmd/main.go", main),
        (
            "operators/a/config/crd/kustomization.yaml",
            "resources: [bases/app.yaml]\npatches: [{path: patches/webhook.yaml}]\n",
        ),
        ("operators/a/config/crd/bases/app.yaml", &crd),
        ("operators/a/config/crd/patches/webhook.yaml", patch),
        ("operators/a/config/default/kustomization.yaml", "namespace: a-system\nresources: [../crd]\n"),
        ("operators/a/config/samples/kustomization.yaml", "resources: [app.yaml]\n"),
        ("operators/a/config/samples/app.yaml", SAMPLE),
        ("operators/b/PROJECT", "domain: example.com\n"),
        ("operators/b/config/crd/kustomization.yaml", "resources:\n- bases/job.yaml\n"),
        ("operators/b/config/crd/bases/job.yaml", &other_crd()),
    ])
}

#[test]
fn repositories_with_several_operators_are_one_subject() {
    let folder = monorepo();
    let text = init_and_run(folder.path(), 2);
    let paths = "paths: [operators/a/config/crd, operators/b/config/crd]";
    has(&text, &[paths, "samples: [operators/a/config/samples]"]);
    let run = "#     run: [go, run, \"-C\", operators/a, ./cmd, \"--webhook-cert-path=$CERT_DIR\", \"--metrics-bind-address=0\"]";
    has(&text, &[run, "#     path: /hook", "#     needsCluster: true"]);
    has(&text, &["#     service: {name: webhook-service, namespace: a-system, path: /hook}"]);
}

#[test]
fn each_proposed_converter_can_be_used_unchanged() {
    let folder = monorepo();
    crdproof(folder.path(), &["init"]).says(0, &["1 converted by a webhook"]);
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let proposals = text.matches("# converter:").count();
    assert_eq!(proposals, 3);
    for chosen in 0..proposals {
        let mut index = 0;
        let mut is_open = false;
        let lines = text.lines().map(|line| {
            if line.starts_with("# converter:") {
                is_open = index == chosen;
                index += 1;
            } else if !line.starts_with("#  ") && !line.starts_with("# fieldMaps") && !line.starts_with("# - crd") {
                is_open = false;
            }
            line.strip_prefix("# ").filter(|_| is_open).unwrap_or(line)
        });
        let lines: Vec<&str> = lines.collect();
        std::fs::write(&file, lines.join("\n")).unwrap();
        let ended: Ended = crdproof(folder.path(), &["plan"]);
        // The field map is an example: its fields are not those of the CRD.
        assert!(ended.code == 0 || chosen == 2, "proposal {chosen}:\n{}\n{}", ended.stderr, lines.join("\n"));
    }
}

#[cfg(unix)]
#[test]
fn templates_of_charts_are_rendered_if_helm_is_installed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder(&[
        ("chart/Chart.yaml", "apiVersion: v2\nname: app\nversion: 0.1.0\n"),
        ("chart/templates/crd.yaml", "{{- if .Values.crds }}\nkind: CustomResourceDefinition\n{{- end }}\n"),
        ("rendered.txt", &sound_crd()),
        ("bin/helm", "#!/bin/sh\n[ \"$1\" = version ] || /bin/cat rendered.txt\n"),
    ]);
    let init = |path: &Path| {
        let mut command = std::process::Command::new(super::BINARY);
        command.args(["init", "--force"]).current_dir(folder.path()).env("PATH", path).output().unwrap()
    };
    let without = init(Path::new("/nowhere"));
    assert_eq!(without.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&without.stderr).contains("install helm"), "{without:?}");
    let helm = folder.path().join("bin/helm");
    std::fs::set_permissions(&helm, std::fs::Permissions::from_mode(0o755)).unwrap();
    let with = init(&folder.path().join("bin"));
    assert_eq!(with.status.code(), Some(0), "{with:?}");
    let text = std::fs::read_to_string(folder.path().join("crdproof.yaml")).unwrap();
    has(&text, &["command: [helm, template, --include-crds, chart]"]);
}

#[test]
fn without_crds_the_next_command_is_named() {
    let project = folder(&[("PROJECT", "domain: example.com\n"), ("config/crd/kustomization.yaml", "resources: []\n")]);
    crdproof(project.path(), &["init"]).says(4, &["no CRD was found below .", "make manifests"]);
    let other = folder(&[("deployment.yaml", "kind: Deployment\n")]);
    crdproof(other.path(), &["init"]).says(4, &["no CRD was found below .", "crdproof init FOLDER", "helm template"]);
}
