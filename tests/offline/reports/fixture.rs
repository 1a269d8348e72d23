//! A report that contains one of everything.

use std::collections::BTreeMap;

use crdproof::checks::Severity;
use crdproof::report::{
    CheckInfo, Conversions, CrdInfo, Excerpt, FailOn, Finding, Location, Outcome, OwnerInfo, PairInfo, Problem, Reach,
    Related, Report, RequestInfo, Result, ReviewInfo, ScenarioInfo, Skipped, StepInfo, Summary, Timing, VersionInfo,
    WaiverInfo, WaiverState,
};

pub(crate) const DATABASES: &str = "databases.example.com";
pub(crate) const CACHES: &str = "caches.example.com";
pub(crate) const QUEUES: &str = "queues.example.com";

/// A report with all outcomes: failed, waived, inconclusive, a known server issue, skipped; with problems and unusual
/// characters.
pub(crate) fn report() -> Report {
    let mut report = Report {
        api_version: "crdproof/v1alpha1".into(),
        kind: "Report".into(),
        tool_version: "0.1.0".into(),
        subject: "data-services".into(),
        seed: 20_260_901,
        crds: vec![
            crd(DATABASES, "Database", &["v1alpha1", "v1"]),
            crd(CACHES, "Cache", &["v1"]),
            crd(QUEUES, "Queue", &["v1"]),
        ],
        passed_over: [("Deployment".to_owned(), 2), ("Service".to_owned(), 1)].into(),
        checks: checks(),
        results: results(),
        findings: findings(),
        skipped: skipped(),
        waivers: vec![
            waiver("upgrade/served-version-kept caches.example.com", WaiverState::Used),
            waiver("manifest/* gone.example.com", WaiverState::Unused),
        ],
        conversions: conversions(),
        scenarios: ["1.31.4", "1.36.0"]
            .map(|kubernetes| ScenarioInfo {
                crd: DATABASES.into(),
                kubernetes: kubernetes.into(),
                requests: 412,
                steps: steps(),
            })
            .into(),
        problems: vec![Problem {
            message: "the converter at https://127.0.0.1:9443/convert did not answer".into(),
            help: Some("start it, or give --timeout".into()),
        }],
        fail_on: FailOn::default(),
        timings: Vec::new(),
        shard: None,
        summary: Summary::default(),
    };
    report.summarise();
    report
}

/// Two steps with all fields of a step.
fn steps() -> Vec<StepInfo> {
    let flip = StepInfo {
        step: "storage/flip".into(),
        requests: vec![RequestInfo { action: "create".into(), version: "v1".into(), count: 3, refused: 1 }],
        conversions: vec![ReviewInfo { from: "v1".into(), to: "v1alpha1".into(), reviews: 2, objects: 7, failed: 0 }],
        stored: BTreeMap::from([("v1".to_owned(), vec!["<b>orders</b>".to_owned()])]),
        owners: vec![OwnerInfo {
            object: "orders".into(),
            manager: "kubectl".into(),
            version: "v1".into(),
            fields: vec![".spec.size".into()],
        }],
        notes: vec!["the storage version is v1; storedVersions is [v1]".into()],
    };
    vec![StepInfo { step: "serving/create".into(), ..StepInfo::default() }, flip]
}

fn conversions() -> Vec<Conversions> {
    let pair = |from: &str, to: &str, refused| PairInfo { objects: 120, refused, ..PairInfo::new(from, to) };
    let never = vec![".spec.<b>backup</b>".to_owned(), ".spec.tier".to_owned()];
    let timing = |objects, reviews| Timing { objects, reviews, p50: 900, p90: 2_400, p99: 1_100_000 };
    vec![
        Conversions { crd: CACHES.into(), pairs: vec![pair("v1", "v2", 0), pair("v2", "v1", 0)], ..Default::default() },
        Conversions {
            crd: DATABASES.into(),
            pairs: vec![pair("v1", "v1alpha1", 0), pair("v1alpha1", "v1", 3)],
            reach: vec![Reach { version: "v1".into(), leaves: 9, seen: 7, never }],
            timings: vec![timing(1, 40), timing(12, 2), timing(64, 4)],
            ..Default::default()
        },
    ]
}

fn crd(name: &str, kind: &str, versions: &[&str]) -> CrdInfo {
    let last = versions.len() - 1;
    CrdInfo {
        name: name.into(),
        file: format!("config/crd/{}.yaml", kind.to_lowercase()),
        object_kind: kind.into(),
        strategy: "Webhook".into(),
        versions: versions
            .iter()
            .enumerate()
            .map(|(index, version)| VersionInfo {
                name: (*version).into(),
                served: true,
                storage: index == last,
                deprecated: index < last,
            })
            .collect(),
    }
}

fn check(id: &str, title: &str, severity: Severity) -> CheckInfo {
    CheckInfo {
        id: id.into(),
        title: title.into(),
        why: format!("Without it, clients that rely on this guarantee break: {title}. They notice only after an upgrade, when going back is no longer possible."),
        source: vec![
            "Kubernetes documentation, versions in CustomResourceDefinitions".into(),
            "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/".into(),
        ],
        severity,
        since: (severity == Severity::Warning).then(|| "1.30".into()),
        help: "see the documentation".into(),
    }
}

fn checks() -> Vec<CheckInfo> {
    let check = |(id, title, severity)| check(id, title, severity);
    [
        ("converter/round-trip-lossless", "a round trip loses nothing", Severity::Error),
        ("manifest/one-storage-version", "exactly one version is stored", Severity::Error),
        ("manifest/short-names-unique", "short names are unique", Severity::Note),
        ("serving/list-pages-stable", "pages of a list fit together", Severity::Error),
        ("storage/migration-complete", "migration leaves nothing behind", Severity::Error),
        ("upgrade/served-version-kept", "served versions stay served", Severity::Warning),
    ]
    .map(check)
    .into()
}

fn result(check: &str, crd: &str, outcome: Outcome) -> Result {
    Result {
        check: check.into(),
        crd: crd.into(),
        kubernetes: None,
        outcome,
        examined: usize::from(outcome == Outcome::Passed) * 4,
        findings: usize::from(outcome == Outcome::Failed),
        reason: None,
    }
}

fn results() -> Vec<Result> {
    let on = |server: &str, result: Result| Result { kubernetes: Some(server.into()), ..result };
    let because = |reason: &str, result: Result| Result { reason: Some(reason.into()), ..result };
    let lossless = "converter/round-trip-lossless";
    let one = "manifest/one-storage-version";
    let pages = "serving/list-pages-stable";
    vec![
        result(lossless, DATABASES, Outcome::Failed),
        result(one, DATABASES, Outcome::Failed),
        result("manifest/short-names-unique", DATABASES, Outcome::Failed),
        on(
            "1.31.4",
            because("kube-apiserver before 1.32 repeats an item", result(pages, DATABASES, Outcome::KnownServerIssue)),
        ),
        on("1.36.0", result(pages, DATABASES, Outcome::Passed)),
        because("no sample has <every> field", result(lossless, CACHES, Outcome::Inconclusive)),
        result(one, CACHES, Outcome::Passed),
        result("upgrade/served-version-kept", CACHES, Outcome::Failed),
        result(one, QUEUES, Outcome::Passed),
        result("manifest/short-names-unique", QUEUES, Outcome::Passed),
    ]
}

fn skipped() -> Vec<Skipped> {
    let skip = |check: &str, crd: &str, reason: &str| Skipped {
        check: check.into(),
        crd: crd.into(),
        kubernetes: None,
        reason: reason.into(),
    };
    vec![
        skip("storage/migration-complete", DATABASES, "no API server was asked for"),
        skip("storage/migration-complete", CACHES, "no API server was asked for"),
        skip("upgrade/served-version-kept", QUEUES, "no baseline to compare with"),
    ]
}

fn waiver(names: &str, state: WaiverState) -> WaiverInfo {
    WaiverInfo {
        names: names.into(),
        reason: "v1beta1 had no users".into(),
        owner: Some("team-data".into()),
        expires: "2027-01-31".into(),
        state,
        complaint: None,
    }
}

/// A location in an excerpt, found by its text.
pub(crate) fn at(file: &str, line: u32, text: &str, part: &str) -> Location {
    let start = text.find(part).unwrap();
    let column = |byte: usize| {
        let before = &text[..byte];
        let line = before.rsplit('\n').next().unwrap();
        u32::try_from(line.chars().count() + 1).unwrap()
    };
    let down = |byte: usize| line + u32::try_from(text[..byte].matches('\n').count()).unwrap();
    Location {
        file: file.into(),
        line: down(start),
        column: column(start),
        end_line: down(start + part.len()),
        end_column: column(start + part.len()),
        excerpt: Excerpt { line, text: text.into(), start, end: start + part.len() },
    }
}

/// A finding with only its required fields.
pub(crate) fn finding(check: &str, crd: &str, severity: Severity, message: &str) -> Finding {
    let hash = message.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(1_099_511_628_211).wrapping_add(byte.into()));
    Finding {
        check: check.into(),
        severity,
        crd: crd.into(),
        version: None,
        path: None,
        message: message.into(),
        evidence: None,
        help: "keep the field, or declare the loss in a field map".into(),
        location: None,
        related: Vec::new(),
        fingerprint: format!("{:012x}", hash & 0xffff_ffff_ffff),
        fields: Vec::new(),
        change: None,
        consequences: Vec::new(),
        reproduce: None,
        waiver: None,
    }
}

fn findings() -> Vec<Finding> {
    let markup = "the short name <script>alert(1)</script> | `db` is taken, 100%, by @other";
    let idle = "no finding matches the waiver of manifest/* gone.example.com";
    let mut all = vec![
        two_stored(),
        lost_field(),
        finding("manifest/short-names-unique", DATABASES, Severity::Note, markup),
        no_longer_served(),
        finding("subject/waivers-current", "", Severity::Warning, idle),
    ];
    all.extend((1..=9).map(|number| {
        let message = format!("item {number} is lost");
        let check = "converter/round-trip-lossless";
        Finding { path: Some(format!(".spec.items[{number}]")), ..finding(check, DATABASES, Severity::Error, &message) }
    }));
    all
}

/// A finding with a related location.
fn two_stored() -> Finding {
    let file = "config/crd/database.yaml";
    let text = "  - name: v1alpha1\n    storage: true";
    let message = "two versions are stored: v1alpha1 and v1";
    Finding {
        location: Some(at(file, 14, text, "storage: true")),
        related: vec![Related {
            message: "and this one too".into(),
            location: at(file, 41, "    storage: true", "true"),
        }],
        help: "set `storage: true` on one version only".into(),
        ..finding("manifest/one-storage-version", DATABASES, Severity::Error, message)
    }
}

/// A finding with all optional fields, in several scripts.
fn lost_field() -> Finding {
    let file = "config/crd/data base ü.yaml";
    let text = "    größe: {type: 文字列} # ←";
    let message = "the field is lost on the way v1 → v1alpha1 → v1";
    Finding {
        version: Some("v1".into()),
        path: Some(".spec.größe".into()),
        location: Some(at(file, 60, text, "{type: 文字列}")),
        evidence: Some(
            "v2 in: {\"spec\":{\"größe\":\"10Gi\",\"tier\":1}}\nv2 converted: {\"spec\":{\"tier\":1}}\n- größe: 10Gi\n+ größe: null"
                .into(),
        ),
        reproduce: Some("crdproof replay c-4f2a9e".into()),
        ..finding("converter/round-trip-lossless", DATABASES, Severity::Error, message)
    }
}

/// A waived finding.
fn no_longer_served() -> Finding {
    let message = "v1beta1 is no longer served";
    Finding {
        version: Some("v1beta1".into()),
        location: Some(at("config/crd/cache.yaml", 9, "  versions:", "versions")),
        waiver: Some(0),
        ..finding("upgrade/served-version-kept", CACHES, Severity::Warning, message)
    }
}
