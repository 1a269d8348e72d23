//! `crdproof diff`: grouping changes of one kind into one finding, and exit codes.

use crdproof::report::{Finding, Report};

use crate::diff::{Folder, crd, crdproof, diff};

const STATES: [&str; 2] = ["old.yaml", "new.yaml"];

/// A CRD with two versions of one schema.
fn two_versions(plural: &str, spec: &str) -> String {
    let text = crd(plural, spec);
    let (head, version) = text.split_once("  - name: v1\n").unwrap();
    let older = version.replace("storage: true", "storage: false");
    format!("{head}  - name: v1\n{version}  - name: v1beta1\n{older}")
}

/// Compares two states of several CRDs, and returns the exit code, the findings and the output.
fn compare(old: &[String], new: &[String], arguments: &[&str]) -> (Option<i32>, Vec<Finding>, String) {
    let folder = Folder::new();
    folder.write("old.yaml", &old.join("---\n"));
    folder.write("new.yaml", &new.join("---\n"));
    let all = [&STATES[..], &["--only", "upgrade", "--format", "json"], arguments].concat();
    let (code, out, said) = diff(folder.path(), &all);
    let report: Report = serde_json::from_str(&out).unwrap();
    (code, report.findings, said)
}

#[test]
fn one_change_of_fields_versions_and_crds_is_one_finding() {
    let state = |limit: &str| {
        let spec = format!("a: {{type: integer{limit}}}, b: {{type: integer{limit}}}");
        [two_versions("gadgets", &spec), crd("widgets", &spec)]
    };
    let (code, findings, said) = compare(&state(""), &state(", maximum: 5"), &[]);
    assert_eq!(code, Some(1), "{said}");
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(finding.message, "maximum 5 added: 4 fields of 2 CRDs: .spec.a, .spec.b");
    assert_eq!(finding.change.as_deref(), Some("maximum 5 added"));
    let evidence = "gadgets.example.com v1, v1beta1 .spec.a\ngadgets.example.com v1, v1beta1 .spec.b\n\
                    widgets.example.com v1 .spec.a\nwidgets.example.com v1 .spec.b";
    assert_eq!(finding.evidence.as_deref(), Some(evidence));
    let members: Vec<_> = finding
        .fields
        .iter()
        .map(|field| (field.crd.as_deref().unwrap(), field.version.as_deref().unwrap(), field.path.as_deref().unwrap()))
        .collect();
    assert_eq!(members.len(), 6, "{members:?}");
    assert!(members.contains(&("gadgets.example.com", "v1beta1", ".spec.b")), "{members:?}");
    assert!(finding.fields.iter().all(|field| field.place.as_ref().unwrap().file == "new.yaml"));
    assert!(said.contains("✗ 1 more CRD with findings above: widgets.example.com"), "{said}");
    assert!(said.contains("✗ failed: 1 error;"), "{said}");
}

#[test]
fn different_changes_and_severities_stay_apart() {
    let lists = |a: &str, b: &str| {
        let spec = format!("a: {{type: integer{a}}}, b: {{type: array, items: {{type: integer{b}}}}}");
        [crd("widgets", &spec)]
    };
    let (_, findings, _) = compare(&lists("", ""), &lists(", maximum: 5", ", maximum: 6"), &[]);
    assert_eq!(findings.len(), 2, "{findings:?}");
    // An API server of 1.30 ratchets the field that an update leaves unchanged, but not the item of a list.
    let (_, findings, _) = compare(&lists("", ""), &lists(", maximum: 5", ", maximum: 5"), &["--minimum", "1.30"]);
    let severities: Vec<_> = findings.iter().map(|finding| finding.severity.as_str()).collect();
    assert_eq!(severities, ["error", "warning"]);
}

#[test]
fn versions_that_changed_alike_are_one_field() {
    let state = |limit: &str| [two_versions("widgets", &format!("a: {{type: integer{limit}}}"))];
    let (_, findings, _) = compare(&state(""), &state(", maximum: 5"), &[]);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(finding.message, "v1, v1beta1 .spec.a: maximum 5 added");
}

#[test]
fn the_worst_ten_changes_are_shown_and_the_rest_is_counted() {
    let state = |limited: bool| {
        let limit = |at: usize| if limited { format!(", maximum: {at}") } else { String::new() };
        let field = |at: usize| format!("f{at}: {{type: integer{}}}", limit(at));
        [crd("widgets", &(1..=12).map(field).collect::<Vec<_>>().join(", "))]
    };
    let (_, findings, said) = compare(&state(false), &state(true), &[]);
    assert_eq!(findings.len(), 12);
    assert!(
        said.contains("✗ upgrade/constraint-not-tightened: 12 findings, 4 not shown (--verbose shows all)"),
        "{said}"
    );
    assert!(said.contains("… and 2 more findings (--verbose shows all)"), "{said}");
    let (_, _, said) = compare(&state(false), &state(true), &["--verbose"]);
    assert!(!said.contains("not shown"), "{said}");
}

#[test]
fn machine_reports_keep_the_members() {
    let folder = Folder::new();
    let state = |limit: &str| {
        let spec = format!("a: {{type: integer{limit}}}");
        [crd("gadgets", &spec), crd("widgets", &spec)].join("---\n")
    };
    folder.write("old.yaml", &state(""));
    folder.write("new.yaml", &state(", maximum: 5"));
    let report = |format: &str| diff(folder.path(), &[&STATES[..], &["--quiet", "--report", format]].concat()).1;
    let junit = report("junit");
    assert_eq!(junit.matches("<failure").count(), 2, "one for each CRD: {junit}");
    assert!(junit.contains("widgets.example.com v1 .spec.a: maximum 5 added"), "{junit}");
    let sarif: serde_json::Value = serde_json::from_str(&report("sarif")).unwrap();
    let related = &sarif["runs"][0]["results"][0]["relatedLocations"];
    let lines: Vec<_> =
        related.as_array().unwrap().iter().map(|at| &at["physicalLocation"]["region"]["startLine"]).collect();
    assert_eq!(lines.len(), 2, "the old state, and the other CRD: {related}");
}

#[test]
fn accepted_findings_do_not_fail_and_new_ones_do() {
    let folder = Folder::new();
    let state = |limits: [&str; 2]| {
        let kind =
            |plural| crd(plural, &format!("a: {{type: integer{}}}, b: {{type: integer{}}}", limits[0], limits[1]));
        [kind("gadgets"), kind("widgets")].join("---\n")
    };
    folder.write("old.yaml", &state(["", ""]));
    folder.write("new.yaml", &state([", maximum: 5", ""]));
    let subject =
        "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {paths: [new.yaml]}\nbaseline: {paths: [old.yaml]}\n";
    folder.write("crdproof.yaml", subject);
    assert_eq!(diff(folder.path(), &STATES).0, Some(1));
    let output = crdproof(folder.path(), &["accept", "--suite", "upgrade"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let (code, _, said) = diff(folder.path(), &STATES);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("waived"), "{said}");
    folder.write("new.yaml", &state([", maximum: 5", ", maximum: 5"]));
    let (code, _, said) = diff(folder.path(), &STATES);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("maximum 5 added: .spec.b of 2 CRDs"), "{said}");
    // Another change causes none of the accepted findings. That is not worth a message.
    folder.write("new.yaml", &state(["", ""]));
    let (code, _, said) = diff(folder.path(), &STATES);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("accepted findings that are gone"), "{said}");
}

#[test]
fn warnings_pass_and_are_counted() {
    let state = |limit: &str| [crd("widgets", &format!("a: {{type: integer{limit}}}"))];
    let (old, new) = (state(""), state(", maximum: 5"));
    let (code, _, said) = compare(&old, &new, &["--minimum", "1.30"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("✔ passed with 1 warning;"), "{said}");
    let (code, _, said) = compare(&old, &new, &["--minimum", "1.30", "--fail-on", "warning"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("✗ failed: 1 warning;"), "{said}");
    let (code, _, said) = compare(&old, &new, &["--fail-on", "never"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("✔ passed with 1 error;"), "{said}");
}
