//! Ranges of releases: every report counts releases that cannot be installed, with the reason, and a range without any
//! installable release is an error.

use std::path::Path;
use std::process::Command;

use crdproof::evidence::Trace;
use crdproof::report::{Format, Report, render};
use crdproof::run::{Absent, Observations, Options, Recording, Selection, Settings, judge, load_suite, plan_recorded};
use rstest::rstest;

use super::{BINARY, Ended, copy, crdproof, folder, repository};
use crate::binaries::{assets_folder, script};

const WIDGETS: &str = "fixtures/traces/widgets";

/// Runs on releases of an empty cache, without Go.
fn run(world: &Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new(BINARY);
    command
        .args(["run", "--no-counterexamples", "--suite", "serving", "--offline", "--go", "/nowhere/go"])
        .args(arguments);
    command.current_dir(repository()).env("CRDPROOF_CACHE", world.join("cache")).env_remove("KUBEBUILDER_ASSETS");
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[rstest]
#[case("1.31..1.30", "the range ends before it begins")]
#[case("1.36.4..1.36.2", "the range ends before it begins")]
#[case("..", "a range has at least one end")]
#[case("1.30..newest", "an end of a range is a release, such as 1.30 or 1.30.4")]
#[case("1.30..1.3700", "there is no such minor")]
fn an_invalid_range_is_a_wrong_flag(#[case] range: &str, #[case] reason: &str) {
    let world = tempfile::tempdir().unwrap();
    let file = format!("{WIDGETS}/crdproof.yaml");
    let wrong = format!("{range:?} selects no release: {reason}");
    run(world.path(), &["-f", &file, "--kubernetes", range]).says(2, &[&wrong, "write 1.36 (any patch)", "1.30.."]);
    let text = format!("apiVersion: crdproof/v1alpha1\nkind: Subject\nkubernetes: {{versions: [\"{range}\"]}}\n");
    let wrong = folder(&[("crdproof.yaml", &text)]);
    crdproof(wrong.path(), &["plan"]).says(2, &[reason, "crdproof.yaml:3"]);
}

#[test]
fn a_range_without_installable_releases_exits_with_5() {
    let world = tempfile::tempdir().unwrap();
    let file = format!("{WIDGETS}/crdproof.yaml");
    let ask = |range: &str| run(world.path(), &["-f", &file, "--kubernetes", range]);
    let no_lock =
        |release: &str| format!("{release}: no lock for {release}; archives: not asked, because of --offline");
    let no_go = "1.36: build: Go is needed to build etcd 3.6.16, and there is no /nowhere/go; archives: not asked";
    ask("1.38..1.39").says(
        5,
        &["no release of 1.38..1.39 can be installed or started", &no_lock("1.38"), &no_lock("1.39"), "env list"],
    );
    ask("1.36..1.36").says(5, &["no release of 1.36..1.36 can be installed or started", no_go]);
    ask("..1.16").says(5, &["no release of ..1.16 can be installed or started", "1.16: build: "]);
    ask("1.38..").says(5, &["no release of 1.38.. can be installed or started", &no_lock("1.38")]);
    ask("1.29.1..1.29.3").says(5, &["1.29.1..1.29.3: no lock for 1.29.1..1.29.3"]);
    ask("1.36.2..1.36.4").says(5, &["\n  ○ 1.36.2: ", "\n  ○ 1.36.3: ", "\n  ○ 1.36.4: "]);
    // A release that is named explicitly must be available.
    ask("1.29").says(5, &["no source has Kubernetes 1.29", "do one of these"]);
}

#[test]
fn a_server_that_does_not_start_is_reported_like_a_missing_one() {
    let world = tempfile::tempdir().unwrap();
    let assets = world.path().join("assets");
    assets_folder(&assets, "1.36.4");
    script(&assets.join("etcd"), "#!/bin/sh\necho it is full >&2\nexit 1\n");
    // It must outlive etcd, otherwise its own exit would be the reported reason.
    let server = "#!/bin/sh\n[ \"$*\" = --version ] || exec sleep 60\necho Kubernetes v1.36.4\n";
    script(&assets.join("kube-apiserver"), server);
    let (file, assets) = (format!("{WIDGETS}/crdproof.yaml"), assets.display().to_string());
    let ask = |range: &str| run(world.path(), &["-f", &file, "--kubernetes", range, "--assets", &assets]);
    ask("1.36..1.37").says(
        5,
        &[
            "Kubernetes 1.36 skipped: etcd ",
            "Kubernetes 1.37 skipped: build: ",
            "no release of 1.36..1.37 can be installed or started",
        ],
    );
    ask("1.36").says(5, &["error: etcd ", "it is full"]);
}

/// Other providers need a patch release, so they accept no ranges.
#[test]
fn container_providers_accept_one_release_each() {
    let world = tempfile::tempdir().unwrap();
    let file = format!("{WIDGETS}/crdproof.yaml");
    run(world.path(), &["-f", &file, "--provider", "k3s", "--kubernetes", "1.35..1.36"])
        .says(2, &["\"1.35..1.36\" does not name one release"]);
}

/// A recorded scenario on one release, and two releases that could not be installed.
fn recorded() -> (tempfile::TempDir, Report) {
    let folder = tempfile::tempdir().unwrap();
    copy(&repository().join(WIDGETS), folder.path());
    let subject = crdproof::subject::load::from_file(&folder.path().join("crdproof.yaml")).unwrap();
    let text = std::fs::read_to_string(folder.path().join("1.36.4.json")).unwrap();
    let trace: Trace = serde_json::from_str(&text).unwrap();
    let suite = "apiVersion: crdproof/v1alpha1\nkind: Suite\ndescription: two\nchecks: [serving/crd-accepted, serving/lists-complete]\n";
    let suites = vec![load_suite("two", "two", suite).unwrap()];
    let absent = |kubernetes: &str, reason: &str| Absent { kubernetes: kubernetes.into(), reason: reason.into() };
    let settings = Settings {
        selection: Selection { suites, ..Selection::default() },
        seed: 1,
        record: true,
        ..Settings::default()
    };
    let observations = Observations {
        traces: vec![trace],
        absent: vec![absent("1.35", "no lock for 1.35"), absent("1.37", "etcd ended")],
        ..Observations::default()
    };
    let plan = plan_recorded(&subject, &settings, &observations);
    let options = Options { jobs: std::num::NonZeroUsize::MIN, ..Options::on(crate::fixture::TODAY) };
    let ran = judge(&plan, &observations, &options);
    let target = folder.path().join("seen");
    std::fs::create_dir(&target).unwrap();
    for (name, text) in Recording::new(&plan, &observations, &ran, options.today).files() {
        std::fs::write(target.join(name), text).unwrap();
    }
    (folder, ran.report)
}

#[test]
fn every_report_counts_releases_that_could_not_be_installed() {
    let (folder, report) = recorded();
    assert_eq!((report.summary.passed, report.summary.skipped), (2, 4), "{:?}", report.summary);
    let terminal = render(&report, Format::Terminal);
    let table = "                     1.35    1.36.4  1.37\n  serving: 2 checks  ○       ✔       ○\n";
    assert!(terminal.contains(table), "{terminal}");
    for words in [
        "○ Kubernetes 1.35 skipped: no lock for 1.35 (2 checks)\n",
        "○ Kubernetes 1.37 skipped: etcd ended (2 checks)\n",
        "6 checks: 2 passed, 4 skipped",
    ] {
        assert!(terminal.contains(words), "{words:?} is not in\n{terminal}");
    }
    let markdown = render(&report, Format::Markdown);
    assert!(markdown.contains("- Kubernetes 1.35 skipped: no lock for 1.35 (2 checks)\n"), "{markdown}");
    let html = render(&report, Format::Html);
    assert!(html.contains("<p class=\"about\">Kubernetes 1.35 skipped: no lock for 1.35 (2 checks)</p>"));
    let junit = render(&report, Format::Junit);
    let suite = "name=\"widgets.example.com on Kubernetes 1.35\" tests=\"2\" skipped=\"2\"";
    assert!(junit.contains(suite) && junit.contains("message=\"no lock for 1.35\""), "{junit}");
    // Judging the recording again gives the same result.
    let judged = crdproof(folder.path(), &["judge", "seen", "-q", "--report", "json"]).says(0, &[]).json();
    let skipped: Vec<_> = judged["skipped"].as_array().unwrap().iter().map(|one| one["kubernetes"].clone()).collect();
    assert_eq!(skipped, ["1.35", "1.37", "1.35", "1.37"]);
    assert_eq!(judged["summary"], serde_json::to_value(&report.summary).unwrap());
}

/// One shard had the release that another lacked.
#[test]
fn a_release_that_another_shard_had_is_not_skipped() {
    let (_folder, report) = recorded();
    let mut other = report.clone();
    for result in &mut other.results {
        result.kubernetes = Some("1.35.8".into());
    }
    other.skipped.clear();
    let merged = crdproof::report::merge(vec![report, other]).unwrap();
    let skipped: Vec<_> = merged.skipped.iter().filter_map(|skipped| skipped.kubernetes.as_deref()).collect();
    assert_eq!(skipped, ["1.37", "1.37"]);
    assert_eq!((merged.summary.passed, merged.summary.skipped), (4, 2));
}

/// A subject claims the lower end of its range.
#[test]
fn a_subject_claims_the_lower_end_of_its_range() {
    let crd = std::fs::read_to_string(repository().join("fixtures/minimum/rule/crd.yaml")).unwrap();
    let subject = |versions: &str| {
        let text = format!(
            "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {{paths: [crd.yaml]}}\nkubernetes: {{versions: [{versions}]}}\n"
        );
        folder(&[("crdproof.yaml", &text), ("crd.yaml", &crd)])
    };
    let check = ["run", "--suite", "all", "--only", "manifest/minimum-kubernetes"];
    crdproof(subject("1.24..1.30, \"1.36\"").path(), &check).says(1, &["x-kubernetes-validations", "1.24"]);
    crdproof(subject("1.25.., \"1.36\"").path(), &check).says(0, &["1 check"]);
}
