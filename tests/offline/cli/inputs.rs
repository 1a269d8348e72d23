//! Sources of CRDs, and messages about unusable inputs.

use rstest::rstest;

use super::{commit_all, crdproof, crdproof_fed, folder, git, repository, sound_crd};

const SUBJECT: &str = "apiVersion: crdproof/v1alpha1\nkind: Subject\n";

/// Writes `crdproof.yaml` with this body beside `crd.yaml`, and runs it.
fn with_body(body: &str) -> super::Ended {
    let folder = folder(&[("crdproof.yaml", &format!("{SUBJECT}{body}")), ("crd.yaml", &sound_crd())]);
    crdproof(folder.path(), &["run"])
}

#[test]
fn nothing_to_test_is_not_a_pass() {
    let empty = folder(&[]);
    crdproof(empty.path(), &["run", "."]).says(4, &["found 0 CRDs, need at least 1"]);
    let others = folder(&[("a.yaml", "kind: Namespace\n---\nkind: Namespace\n---\nkind: ConfigMap\n")]);
    crdproof(others.path(), &["run", "."]).says(4, &["passed over: 1 ConfigMap, 2 Namespace"]);
    with_body("crds: {paths: [crd.yaml], minimumCount: 2}\n").says(4, &["found 1 CRDs, need at least 2"]);
    with_body("crds: {command: [\"true\"]}\n").says(4, &["found 0 CRDs"]);
}

#[rstest]
#[case("crd: {paths: [crd.yaml]}\n", &["crdproof.yaml:3:1: unknown key \"crd\"", "did you mean `crds`?"])]
#[case("crds: {path: [crd.yaml]}\n", &["crdproof.yaml:3:8: unknown key \"path\"", "did you mean `paths`?"])]
#[case("crds: {paths: crd.yaml}\n", &["crdproof.yaml:3:15: invalid type: string", "3 | crds: {paths: crd.yaml}"])]
#[case("crds: {paths: [crd.yaml]}\nsuites: [quik]\n", &["there is no suite \"quik\"", "did you mean `quick`?"])]
#[case("crds: {paths: [crd.yaml]}\nconverter: {}\n", &["crdproof.yaml:4:12: a converter is exactly one of"])]
#[case("crds: {paths: [crd.yaml]}\ncrds: {}\n", &["crdproof.yaml:4:1: duplicate key \"crds\"; the first one is on line 3"])]
#[case("crds: {paths: [crd.yaml]}\n---\na: 1\n", &["crdproof.yaml:1:1: a subject file is one document; here are 2"])]
#[case("crds: {paths: [crd.yaml]}\nkubernetes: {provider: kindd}\n", &["crdproof.yaml:4:24", "did you mean `kind`?"])]
#[case("crds: {paths: [nowhere]}\n", &["cannot read nowhere: no such file or directory"])]
#[case("crds: {paths: [\"git:HEAD\"]}\n", &["names no revision and path", "write git:REF:PATH"])]
#[case("crds: {paths: [crd.yaml]}\nfieldMaps: [{crd: app.example.com, between: [v1, v2]}]\n",
       &["crdproof.yaml:4:19: the subject has no CRD \"app.example.com\"", "did you mean `apps.example.com`?"])]
fn a_wrong_subject_file_is_refused_with_location_and_remedy(#[case] body: &str, #[case] words: &[&str]) {
    with_body(body).says(2, words);
}

#[test]
fn a_subject_file_of_another_kind_is_refused() {
    let other = folder(&[("crdproof.yaml", "apiVersion: crdproof/v1\nkind: Subject\n")]);
    crdproof(other.path(), &["run"]).says(2, &["crdproof.yaml:1:13: unknown apiVersion \"crdproof/v1\""]);
    let none = folder(&[]);
    crdproof(none.path(), &["run"]).says(2, &["there is no crdproof.yaml here", "crdproof init"]);
    crdproof(none.path(), &["run", "-f", "x.yaml"]).says(2, &["cannot read x.yaml"]);
}

#[test]
fn the_old_form_of_crds_is_refused_with_the_remedy() {
    let text = "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: a.b.c}\n\
                spec: {group: b.c, names: {plural: a}, version: v1}\n";
    let ended = crdproof_fed(repository(), &["run", "-"], text);
    ended.says(2, &["-:1:13: ", "v1beta1", "help:", "apiextensions.k8s.io/v1"]);
}

#[rstest]
#[case(&["--suite", "manifst"], &["there is no suite \"manifst\"", "did you mean `manifest`?"])]
#[case(&["--only", "manifest/one-storage-versio"], &["no check is named", "did you mean `manifest/one-storage-version`?"])]
#[case(&["--except", "zzz"], &["no check is named \"zzz\"", "`crdproof list` shows all checks"])]
#[case(&["--report", "sarf"], &["no report format is called \"sarf\"", "did you mean `sarif`?"])]
#[case(&["--fail-on", "all"], &["invalid value 'all'"])]
#[case(&["--sede", "1"], &["unexpected argument '--sede'"])]
#[case(&["--seed", "x"], &["invalid value 'x'"])]
#[case(&["--jobs", "0"], &["invalid value '0'"])]
#[case(&["-f", "crdproof.yaml"], &["cannot be used with"])]
fn wrong_flags_are_refused(#[case] flags: &[&str], #[case] words: &[&str]) {
    let mut arguments = vec!["run", "fixtures/crds/three-versions/crds"];
    arguments.extend(flags);
    crdproof(repository(), &arguments).says(2, words);
}

#[test]
fn suites_may_be_files() {
    let suite =
        "apiVersion: crdproof/v1alpha1\nkind: Suite\ndescription: mine\nchecks: [manifest/one-storage-version]\n";
    let severity = format!("{suite}severity: {{manifest/one-storage-versio: note}}\n");
    let folder = folder(&[("crd.yaml", &sound_crd()), ("mine.yaml", suite), ("bad.yaml", &severity)]);
    crdproof(folder.path(), &["run", "crd.yaml", "-s", "mine.yaml"]).says(0, &["1 check"]);
    crdproof(folder.path(), &["run", "crd.yaml", "-s", "bad.yaml"]).says(2, &["bad.yaml:5:", "no check matches"]);
}

#[test]
fn standard_input_and_commands_are_sources() {
    crdproof_fed(repository(), &["run", "-"], &sound_crd()).says(0, &["apps.example.com without findings"]);
    with_body("crds: {command: [cat, crd.yaml]}\n").says(0, &["apps.example.com"]);
    with_body("crds: {command: [\"false\"]}\n").says(5, &["`false` failed (exit status: 1)", "help:"]);
    with_body("crds: {command: [no-such-program, build]}\n").says(5, &["cannot run `no-such-program build`"]);
    with_body("crds: {command: [sh, -c, 'echo first >&2; echo the chart is broken >&2; exit 3']}\n")
        .says(5, &["the chart is broken"]);
}

#[test]
fn a_git_revision_is_a_source() {
    let folder = folder(&[("config/crd/apps.yaml", &sound_crd()), ("config/notes.txt", "no manifest")]);
    commit_all(folder.path());
    git(folder.path(), &["tag", "v1.4.0"]);
    std::fs::remove_dir_all(folder.path().join("config")).unwrap();
    let run = |source: &str| crdproof(folder.path(), &["run", source]);
    let verbose = crdproof(folder.path(), &["run", "git:v1.4.0:config/crd", "--verbose"]);
    verbose.says(0, &["git:v1.4.0:config/crd/apps.yaml"]);
    run("git:HEAD:config/crd/apps.yaml").says(0, &[]);
    run("git:HEAD:config/none").says(2, &["revision HEAD has no manifests at config/none"]);
    run("git:v9:config").says(2, &["git ls-tree: ", "v9", "help: fetch the revision"]);
    run("git:--output=x:config").says(2, &["is not a git revision"]);
    crdproof(tempfile::tempdir().unwrap().path(), &["run", "git:HEAD:config"]).says(2, &["not a git repository"]);
}

#[test]
fn lists_json_and_bundles_are_opened() {
    let mut sources = crdproof_schema::document::Sources::default();
    let id = sources.add("crd", sound_crd());
    let crd = crdproof_schema::document::parse(&sources, id).unwrap()[0].to_value();
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [{"kind": "Namespace"}, crd]});
    let folder = folder(&[("list.json", &list.to_string()), ("notes.txt", "not read"), (".hidden.yaml", "{")]);
    let ended = crdproof(folder.path(), &["run", ".", "--report", "json"]).says(0, &["1 CRD"]);
    assert_eq!(ended.json()["passedOver"], serde_json::json!({"Namespace": 1}));
    assert_eq!(ended.json()["crds"][0]["file"], "./list.json");
}

#[test]
fn unreadable_documents_are_refused_with_their_location() {
    let run = |text: &str| crdproof_fed(repository(), &["run", "-"], text);
    run("a: [1\n").says(2, &["error: -:1:4: unclosed bracket"]);
    run("a: 1\nb:\n  c: 2\n  c: 3\n").says(2, &["-:4:3: duplicate key \"c\"; the first one is on line 3"]);
    run(&"[".repeat(10_000)).says(2, &["error: -:1:"]);
    let twice = format!("{0}\n---\n{0}", sound_crd());
    run(&twice).says(2, &["the CRD apps.example.com is duplicated here; first at -:"]);
    let folder = folder(&[]);
    std::fs::write(folder.path().join("a.yaml"), b"a: \xff\n").unwrap();
    crdproof(folder.path(), &["run", "."]).says(2, &["a.yaml is not UTF-8 text (byte 3)"]);
}

#[test]
fn an_invalid_budget_is_refused_with_its_location() {
    let text = "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {paths: [crd.yaml]}\nbudget: {perCall: 50, perObject: 8ms}\n";
    for (wrong, says) in [
        ("50", "expected a length of time, such as 50ms"),
        ("fast", "\"fast\" is not a length of time; write a number and a unit"),
    ] {
        let text = text.replace("perCall: 50", &format!("perCall: {wrong}"));
        let folder = folder(&[("crd.yaml", &sound_crd()), ("crdproof.yaml", &text)]);
        crdproof(folder.path(), &["run"]).says(2, &["crdproof.yaml:4:19", says]);
    }
}
