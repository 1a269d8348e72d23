//! `minimum` without servers: requirements of manifests, and wrong arguments.

use std::process::Command;

use rstest::rstest;

use super::{BINARY, crdproof, repository};

fn subject(name: &str) -> String {
    format!("fixtures/minimum/{name}/crdproof.yaml")
}

#[rstest]
#[case("plain", "1.16", None)]
#[case("rule", "1.25", Some("x-kubernetes-validations"))]
#[case("selectable", "1.31", Some("selectableFields"))]
#[case("short-name", "1.35", Some("format k8s-short-name"))]
#[case("review-v1", "1.17", Some("conversionReviewVersions without v1beta1"))]
fn manifests_determine_a_minimum(#[case] name: &str, #[case] minimum: &str, #[case] what: Option<&str>) {
    let file = subject(name);
    let arguments = ["minimum", "--derive-only", "-f", &file];
    let text = crdproof(repository(), &arguments).says(0, &[]).stdout;
    assert!(
        text.starts_with(&format!("✔ minimum: {minimum} (required by the manifests; not tested on a server)\n")),
        "{text}"
    );
    assert!(text.contains(&format!("kubernetes:\n  minimum: \"{minimum}\"\n")), "{text}");
    assert!(text.contains(&format!("![Kubernetes {minimum} or later](")), "{text}");
    let answer = crdproof(repository(), &[&arguments[..], &["--format", "json"]].concat()).says(0, &[]).json();
    assert_eq!(
        (&answer["minimum"], &answer["proven"], &answer["servers"]),
        (&minimum.into(), &false.into(), &0.into())
    );
    let because = answer["derived"]["because"].as_array().unwrap();
    assert_eq!(because.first().and_then(|because| because["what"].as_str()), what, "{because:?}");
    if let Some(what) = what {
        assert!(text.contains(&format!("  {what} needs {minimum} ({}", file.replace("crdproof.yaml", "crd.yaml:"))));
    }
}

/// Features that are harmless to lack do not raise the minimum.
#[test]
fn harmless_features_raise_nothing() {
    let text = std::fs::read_to_string(repository().join("fixtures/minimum/plain/crd.yaml")).unwrap();
    let folder = super::folder(&[("crd.yaml", &text.replace("served: true", "served: true\n      deprecated: true"))]);
    let answer = crdproof(folder.path(), &["minimum", "--derive-only", "--format", "json", "crd.yaml"]).json();
    assert_eq!(answer["minimum"], "1.16");
    assert_eq!(answer["derived"]["because"][0]["harmless"], true);
}

#[test]
fn wrong_arguments_are_refused() {
    let file = subject("plain");
    let ask = |more: &[&str]| crdproof(repository(), &[&["minimum", "-f", &file], more].concat());
    ask(&["--kubernetes", "new"]).says(2, &["\"new\" selects no release", "1.36 (every patch in the cache)"]);
    ask(&["--derive-only", "--kubernetes", "1.36"]).says(2, &["cannot be used with"]);
    ask(&["--derive-only", "--", "true"]).says(2, &["cannot be used with"]);
    ask(&["--with", "serving", "--", "true"]).says(2, &["cannot be used with"]);
    ask(&["--with", "storge"]).says(2, &["there is no suite \"storge\"", "did you mean `storage`?"]);
    ask(&["--with", "quick"]).says(2, &["quick has no scenarios", "serving, storage, apply"]);
    ask(&["--with", "manifest/one-storage-version"]).says(2, &["has no scenarios"]);
    ask(&["--format", "xml"]).says(2, &["xml"]);
    ask(&["--timeout", "5s"]).says(2, &["required arguments were not provided", "COMMAND"]);
    ask(&["--timeout", "soon", "--", "true"]).says(2, &["\"soon\" is not a length of time"]);
    let empty = tempfile::tempdir().unwrap();
    crdproof(empty.path(), &["minimum"]).says(2, &["there is no crdproof.yaml here"]);
}

#[test]
fn without_a_release_nothing_is_verified() {
    let cache = tempfile::tempdir().unwrap();
    let ask = |more: &[&str]| {
        let mut command = Command::new(BINARY);
        command.args(["minimum", "-f", &subject("plain")]).args(more).current_dir(repository());
        let output = command.env("CRDPROOF_CACHE", cache.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = ask(&[]);
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("no release is installed") && said.contains("--derive-only"), "{said}");
    let assets = tempfile::tempdir().unwrap();
    let mut command = Command::new(BINARY);
    command.args(["minimum", "-f", &subject("plain")]).current_dir(repository()).env("CRDPROOF_CACHE", cache.path());
    let output = command.env("KUBEBUILDER_ASSETS", assets.path()).output().unwrap();
    // A folder that the user names must be used, as with `run` and `env`.
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains(&assets.path().display().to_string()), "{said}");
    let (code, said) = ask(&["--kubernetes", "1.36"]);
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("the cache has no Kubernetes 1.36") && said.contains("crdproof env use 1.36"), "{said}");
}
