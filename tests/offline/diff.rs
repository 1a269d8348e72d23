//! `crdproof diff`: sources, new findings, the upgrade guide, exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::fixture::root;

pub(crate) fn crdproof(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_crdproof")).args(arguments).current_dir(folder).output().unwrap()
}

/// Runs `diff` in a folder, and returns exit code, stdout and stderr.
pub(crate) fn diff(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = crdproof(folder, &[&["diff"], arguments].concat());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

pub(crate) fn crd(plural: &str, spec: &str) -> String {
    let kind = plural[..1].to_uppercase() + &plural[1..plural.len() - 1];
    let singular = kind.to_lowercase();
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {plural}.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {{kind: {kind}, listKind: {kind}List, plural: {plural}, singular: {singular}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {{{spec}}}
"
    )
}

pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let output = Command::new("git").args(identity).args(arguments).current_dir(self.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn two_git_revisions_of_a_folder_are_compared() {
    let folder = Folder::new();
    folder.git(&["init", "-q"]);
    folder.write("config/crd/widgets.yaml", &crd("widgets", "size: {type: integer}"));
    folder.git(&["add", "."]);
    folder.git(&["commit", "-qm", "first"]);
    folder.git(&["tag", "v1"]);
    folder.write("config/crd/widgets.yaml", &crd("widgets", "color: {type: string}"));
    folder.git(&["commit", "-qam", "second"]);
    let (code, _, said) = diff(folder.path(), &["git:v1:config/crd", "git:HEAD:config/crd"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("error[upgrade/field-kept]: v1 .spec.size: field removed"), "{said}");
    assert!(said.contains("git:HEAD:config/crd/widgets.yaml:"), "{said}");
    let (code, _, said) = diff(folder.path(), &["git:v1:config/crd", "git:v1:config/crd"]);
    assert_eq!(code, Some(0), "{said}");
    let guide = |folder: &Folder| {
        diff(folder.path(), &["git:v1:config/crd", "git:HEAD:config/crd", "--format", "markdown", "--quiet"]).1
    };
    assert!(guide(&folder).starts_with("# Upgrading widgets.example.com from v1 to HEAD\n"));
    let named = "apiVersion: crdproof/v1alpha1\nkind: Subject\nmetadata: {name: widget-operator}\n";
    folder.write("crdproof.yaml", named);
    assert!(guide(&folder).starts_with("# Upgrading widget-operator from v1 to HEAD\n"));
    let (code, _, said) = diff(folder.path(), &["git:v9:config/crd", "config/crd"]);
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn a_file_is_compared_with_a_folder() {
    let folder = Folder::new();
    let (widgets, gadgets) = (crd("widgets", "a: {type: string}"), crd("gadgets", ""));
    folder.write("old.yaml", &format!("{widgets}---\n{gadgets}"));
    folder.write("new/widgets.yaml", &crd("widgets", "a: {type: string}, b: {type: string}"));
    folder.write("new/gizmos.yaml", &crd("gizmos", ""));
    let (code, out, said) = diff(folder.path(), &["old.yaml", "new", "--format", "markdown"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("error[upgrade/crd-kept]: the CRD gadgets.example.com is gone"), "{said}");
    assert!(out.contains("3 kinds: 1 new, 1 changed, 1 gone."), "{out}");
    assert!(out.contains("- [ ] Gadget: Save what you need"), "{out}");
    assert!(out.contains("`kubectl get gadgets.example.com -A -o yaml`"), "{out}");
    assert!(out.contains("- the kind Gizmo (`gizmos.example.com`, `v1`)"), "{out}");
    assert!(out.contains("- Widget: `.spec.b`"), "{out}");
}

#[test]
fn findings_of_the_old_state_are_not_reported_as_new() {
    let folder = Folder::new();
    let unstored = |spec: &str| crd("widgets", spec).replace("storage: true", "storage: false");
    folder.write("old.yaml", &unstored("a: {type: string}"));
    folder.write("new.yaml", &unstored("a: {type: string}, b: {type: string}"));
    let only = ["--only", "manifest/one-storage-version"];
    let (code, _, said) = diff(folder.path(), &[&["old.yaml", "new.yaml"], &only[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("findings that OLD has, too, and are not reported: 1"), "{said}");
    folder.write("old.yaml", &crd("widgets", "a: {type: string}"));
    let (code, _, said) = diff(folder.path(), &[&["old.yaml", "new.yaml"], &only[..]].concat());
    assert_eq!(code, Some(1), "{said}");
    assert!(!said.contains("that OLD has, too"), "{said}");
}

#[test]
fn the_upgrade_guide_is_as_reviewed() {
    let folder = root().join("diff/databases");
    let arguments = ["old.yaml", "new.yaml", "--format", "markdown", "--quiet", "--only", "upgrade"];
    let (code, guide, _) = diff(&folder, &arguments);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(guide);
}

#[test]
fn kinds_with_the_same_change_are_listed_once() {
    let folder = Folder::new();
    let state = |spec: &str| [crd("widgets", spec), crd("gadgets", spec)].join("---\n");
    folder.write("old.yaml", &state("a: {type: integer}"));
    folder.write("new.yaml", &state("a: {type: integer, maximum: 5}"));
    let (_, guide, _) = diff(folder.path(), &["old.yaml", "new.yaml", "--format", "markdown", "--quiet"]);
    assert!(guide.contains("\n- **Gadget, Widget**: `.spec.a`: maximum 5 added\n"), "{guide}");
    assert_eq!(guide.matches("maximum 5 added").count(), 1, "{guide}");
    assert!(guide.contains("- [ ] Gadget, Widget: Correct objects"), "{guide}");
    assert!(!guide.contains("keep the old limit"), "no advice for maintainers: {guide}");
}

#[test]
fn a_guide_stays_below_its_limit_and_counts_what_it_omits() {
    let folder = Folder::new();
    let state = |limit: &str| {
        let kind =
            |at: usize| crd(&format!("widget{at}s"), &format!("{}{at}: {{type: integer{limit}}}", "a".repeat(400)));
        (0..200).map(kind).collect::<Vec<_>>().join("---\n")
    };
    folder.write("old.yaml", &state(""));
    folder.write("new.yaml", &state(", maximum: 5"));
    let (_, guide, _) = diff(folder.path(), &["old.yaml", "new.yaml", "--format", "markdown", "--quiet"]);
    assert!(guide.len() <= 60_000 && guide.len() > 20_000, "{}", guide.len());
    assert!(guide.contains("more; `crdproof diff` lists them all."), "{guide}");
}

#[test]
fn exit_codes_are_those_of_run() {
    let folder = Folder::new();
    folder.write("old.yaml", &crd("widgets", "a: {type: integer}"));
    folder.write("new.yaml", &crd("widgets", "a: {type: integer, maximum: 5}"));
    folder.write("empty.yaml", "kind: ConfigMap\n");
    let code = |arguments: &[&str]| diff(folder.path(), arguments).0;
    assert_eq!(code(&["old.yaml", "old.yaml"]), Some(0));
    assert_eq!(code(&["old.yaml", "new.yaml"]), Some(1));
    assert_eq!(code(&["old.yaml", "new.yaml", "--fail-on", "never"]), Some(0));
    assert_eq!(code(&["old.yaml", "new.yaml", "--minimum", "1.30"]), Some(0));
    let strict = ["old.yaml", "new.yaml", "--minimum", "1.30", "--fail-on", "warning"];
    assert_eq!(code(&strict), Some(1));
    assert_eq!(code(&["old.yaml", "new.yaml", "--except", "upgrade"]), Some(0));
    assert_eq!(code(&["old.yaml"]), Some(2));
    assert_eq!(code(&["old.yaml", "missing.yaml"]), Some(2));
    assert_eq!(code(&["old.yaml", "new.yaml", "--only", "upgrade/no-such"]), Some(2));
    assert_eq!(code(&["-", "-"]), Some(2));
    assert_eq!(code(&["empty.yaml", "empty.yaml"]), Some(4));
    assert_eq!(code(&["old.yaml", "empty.yaml"]), Some(1));
}

#[test]
fn waivers_of_the_subject_file_apply() {
    let folder = Folder::new();
    folder.write("old.yaml", &crd("widgets", "a: {type: integer}, b: {type: integer}"));
    folder.write("new.yaml", &crd("widgets", "a: {type: integer, maximum: 5}, b: {type: integer}"));
    let states = ["old.yaml", "new.yaml"];
    let waiver = |path: &str, day: &str| {
        format!(
            "apiVersion: crdproof/v1alpha1\nkind: Subject\nwaivers:\n- {{check: 'upgrade/*', path: {path}, reason: known, expires: {day}}}\n"
        )
    };
    folder.write("crdproof.yaml", &waiver(".spec.a", "9999-12-31"));
    let (code, _, said) = diff(folder.path(), &states);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 waived"), "{said}");
    // A waiver that this change does not need may be needed elsewhere.
    folder.write("crdproof.yaml", &waiver(".spec.b", "9999-12-31"));
    let (code, _, said) = diff(folder.path(), &states);
    assert_eq!(code, Some(1), "{said}");
    assert!(!said.contains("no finding matches"), "{said}");
    folder.write("crdproof.yaml", &waiver(".spec.a", "2020-01-31"));
    let (code, _, said) = diff(folder.path(), &states);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("expired on 2020-01-31"), "{said}");
    folder.write("other.yaml", &waiver(".spec.a", "9999-12-31"));
    assert_eq!(diff(folder.path(), &[&states[..], &["--file", "other.yaml"]].concat()).0, Some(0));
    folder.write("crdproof.yaml", "kind: Subject\nkubernetes: {minimum: '1.30'}\napiVersion: crdproof/v1alpha1\n");
    assert_eq!(diff(folder.path(), &states).0, Some(0));
    folder.write("crdproof.yaml", "kind: Subjekt\n");
    assert_eq!(diff(folder.path(), &states).0, Some(2));
}

#[test]
fn inconclusive_checks_unrelated_to_the_change_are_not_reported() {
    let folder = Folder::new();
    folder.write("old.yaml", &crd("widgets", "a: {type: integer, x-kubernetes-validations: [{rule: self > 0}]}"));
    folder.write("new.yaml", &crd("widgets", "a: {type: integer, x-kubernetes-validations: [{rule: self >= 0}]}"));
    let (code, out, said) = diff(folder.path(), &["old.yaml", "new.yaml", "--format", "json"]);
    assert_eq!(code, Some(0), "{said}");
    let report: crdproof::report::Report = serde_json::from_str(&out).unwrap();
    assert_eq!((report.summary.inconclusive, report.skipped.len()), (0, 0), "{said}");
    assert!(!said.contains("inconclusive"), "{said}");
}

#[test]
fn json_holds_locations_in_both_states() {
    let folder = Folder::new();
    folder.write("old.yaml", &crd("widgets", "a: {type: integer, maximum: 10}"));
    folder.write("new.yaml", &crd("widgets", "a: {type: integer, maximum: 5}"));
    let arguments = ["old.yaml", "new.yaml", "--format", "json", "--only", "upgrade"];
    let (_, out, _) = diff(folder.path(), &arguments);
    let report: crdproof::report::Report = serde_json::from_str(&out).unwrap();
    let [finding] = report.findings.as_slice() else { panic!("{out}") };
    assert_eq!(finding.message, "v1 .spec.a: maximum lowered from 10 to 5");
    let location = finding.location.as_ref().unwrap();
    let excerpt = &location.excerpt;
    assert_eq!(location.file, "new.yaml");
    assert_eq!(&excerpt.text[excerpt.start..excerpt.end], "maximum: 5");
    assert_eq!(finding.related[0].location.file, "old.yaml");
}
