//! Accepted findings: listed findings do not fail, new ones do, and findings that are gone are reported.

use super::{crdproof, subject};

#[test]
fn only_new_findings_fail_once_the_others_are_accepted() {
    let folder = subject("databases-none");
    let run = |status: i32, words: &[&str]| crdproof(folder.path(), &["run"]).says(status, words);
    run(1, &["error[manifest/none-strategy-lossless]"]);
    crdproof(folder.path(), &["accept", "-q"]).says(0, &["accepted findings: 1 (crdproof-accepted.yaml)"]);
    let list = std::fs::read_to_string(folder.path().join("crdproof-accepted.yaml")).unwrap();
    assert!(list.contains("check: manifest/none-strategy-lossless") && list.contains("kind: Accepted"), "{list}");
    run(0, &["accepted (until further notice)", "✔ passed"]);
    // Another seed and moved lines change nothing.
    let crd = folder.path().join("crds/databases.yaml");
    let text = std::fs::read_to_string(&crd).unwrap();
    std::fs::write(&crd, format!("# a line more\n{text}")).unwrap();
    crdproof(folder.path(), &["run", "--seed", "7"]).says(0, &["✔ passed"]);

    // A second field that v1 lacks is new.
    let password = "              password:\n                type: string\n                format: password\n";
    let more = format!("{password}              comment:\n                type: string\n");
    std::fs::write(&crd, text.replace(password, &more)).unwrap();
    run(1, &["error[manifest/none-strategy-lossless]: .spec.comment", "✗ failed: 1 error"]);

    // The next `accept` removes fixed findings from the list.
    std::fs::write(&crd, text.replace(password, "")).unwrap();
    // The sample still has the field, which another check reports.
    let mended = |command: &str| crdproof(folder.path(), &[command, "--except", "manifest/samples-valid"]);
    mended("run").says(0, &["accepted findings that no longer occur: 1", "crdproof accept"]);
    mended("accept").says(0, &["accepted findings: 0"]);
    mended("run").says(0, &["✔ passed: no findings"]);
}

#[test]
fn an_unreadable_list_is_an_error_with_its_location() {
    let folder = subject("databases-none");
    let file = folder.path().join("crdproof-accepted.yaml");
    for (text, words) in [
        ("kind: Accepted\n", ["crdproof-accepted.yaml:1:1", "apiVersion"]),
        ("apiVersion: crdproof/v1alpha1\nkind: Subject\nfindings: []\n", ["crdproof-accepted.yaml:1:1", "not a list"]),
        (
            "apiVersion: crdproof/v1alpha1\nkind: Accepted\nfindings: [{chek: x}]\n",
            ["crdproof-accepted.yaml:3", "chek"],
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        crdproof(folder.path(), &["run"]).says(2, &words);
    }
    crdproof(folder.path(), &["accept", "crds"]).says(2, &["there is no subject file", "crdproof init"]);
}
