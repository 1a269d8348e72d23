//! Fixture folders: what they hold, and what must be found in them.
//!
//! A folder has either a `crdproof.yaml`, or `crd*.yaml` with optional `old*.yaml` (the baseline) and
//! `sample*.yaml`; and optionally an `expect.yaml` that lists exactly the findings that must come.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crdproof::evidence::{ConversionRun, Exchange, Trace};
use crdproof::report::Report;
use crdproof::run::{Observations, Options, Selection, Settings, load_suite, plan_recorded};
use crdproof::subject::Subject;
use crdproof::subject::load::{self, Texts};
use crdproof_schema::document::{Sources, decode, parse};
use serde::Deserialize;

/// The day on which fixtures are judged, so that expiries do not depend on the clock.
pub(crate) const TODAY: jiff::civil::Date = jiff::civil::date(2026, 11, 16);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectation {
    /// All findings, each once.
    pub(crate) findings: Vec<Expected>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    /// The check that fires.
    pub(crate) check: String,
    /// `file:line`, file relative to the fixture folder.
    #[serde(default)]
    pub(crate) at: Option<String>,
    /// The field path.
    #[serde(default)]
    pub(crate) path: Option<String>,
    /// The CRD version.
    #[serde(default)]
    pub(crate) version: Option<String>,
    /// A part of the message.
    #[serde(default)]
    pub(crate) says: Option<String>,
    /// A severity other than the check's.
    #[serde(default)]
    pub(crate) severity: Option<String>,
}

/// `trace.yaml`: a subject and a trace that several fixtures share, and what is changed in the trace.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Borrowed {
    /// The folder of the subject, below `fixtures`.
    subject: String,
    /// The recorded scenarios, below `fixtures`.
    trace: String,
    #[serde(default)]
    change: Vec<Change>,
}

/// Every record of a step that fits, with other values at some places; null takes a value away.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    step: String,
    #[serde(default)]
    seen: Option<String>,
    #[serde(default)]
    what: Option<String>,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    name: Option<String>,
    set: BTreeMap<String, serde_json::Value>,
}

impl Change {
    fn apply(&self, folder: &Path, trace: &mut serde_json::Value) {
        let mut changed = 0;
        for record in
            trace["records"].as_array_mut().unwrap().iter_mut().filter(|record| record["step"] == self.step.as_str())
        {
            let (kind, seen) = record["seen"].as_object_mut().unwrap().iter_mut().next().unwrap();
            let fits = |name: &str, wanted: &Option<String>| {
                wanted
                    .as_ref()
                    .is_none_or(|wanted| seen[name] == wanted.as_str() || seen["versions"][0] == wanted.as_str())
            };
            let fits = fits("what", &self.what) && fits("version", &self.version) && fits("name", &self.name);
            if fits && self.seen.as_ref().is_none_or(|wanted| kind == wanted) {
                changed += 1;
                self.set.iter().for_each(|(pointer, value)| set(seen, pointer, value));
            }
        }
        assert!(changed > 0, "{}: nothing fits {self:?}", folder.display());
    }
}

fn set(object: &mut serde_json::Value, pointer: &str, value: &serde_json::Value) {
    use json_patch::{AddOperation, Patch, PatchOperation, RemoveOperation};
    let path = json_patch::jsonptr::PointerBuf::parse(pointer).unwrap();
    let operation = match value {
        serde_json::Value::Null => PatchOperation::Remove(RemoveOperation { path }),
        value => {
            let fresh =
                object.pointer(pointer).is_none_or(|_| pointer.rsplit('/').next().unwrap().parse::<usize>().is_err());
            assert!(fresh, "an item of a list can only be taken away");
            PatchOperation::Add(AddOperation { path, value: value.clone() })
        }
    };
    json_patch::patch(object, &Patch(vec![operation])).unwrap_or_else(|error| panic!("{pointer}: {error}"));
}

fn borrowed(folder: &Path) -> Option<Borrowed> {
    let path = folder.join("trace.yaml");
    let text = std::fs::read_to_string(&path).ok()?;
    let mut sources = Sources::default();
    let id = sources.add(path.display().to_string(), text);
    let documents = parse(&sources, id).unwrap_or_else(|error| panic!("{}: {error}", sources.place(error.span)));
    Some(decode(&documents[0]).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Folders of `fixtures/checks/<family>/<check>/`, as (check id, folder).
pub(crate) fn check_fixtures() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for family in folders(&root().join("checks")) {
        for check in folders(&family) {
            let id = format!("{}/{}", name(&family), name(&check));
            found.extend(folders(&check).into_iter().map(|folder| (id.clone(), folder)));
        }
    }
    found
}

pub(crate) fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).map(|entries| entries.flatten().map(|entry| entry.path()).collect());
    let mut folders: Vec<PathBuf> = entries.unwrap_or_default();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

pub(crate) fn load(folder: &Path) -> Subject {
    let own = folder.join("crdproof.yaml");
    let file = borrowed(folder).map_or(own, |borrowed| root().join(borrowed.subject).join("crdproof.yaml"));
    if file.is_file() {
        return load::from_file(&file).unwrap_or_else(|error| panic!("{error}"));
    }
    let texts = |prefix: &str| {
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.is_file() && name(path).starts_with(prefix));
        paths.sort();
        let read = |path: PathBuf| Texts::relative_to("").read(&path.display().to_string()).unwrap();
        paths.into_iter().flat_map(read).collect::<Vec<_>>()
    };
    let old = texts("old");
    let baseline = if old.is_empty() { None } else { Some(old) };
    load::from_texts(texts("crd"), texts("sample"), baseline).unwrap_or_else(|error| panic!("{error}"))
}

/// The scenario that was recorded for a fixture, with its `patch.json` applied: a broken trace is a
/// recorded one plus a JSON Patch, or one that was recorded broken.
pub(crate) fn traces(folder: &Path) -> Vec<Trace> {
    let borrowed = borrowed(folder);
    let file = borrowed.as_ref().map_or_else(|| folder.join("trace.json"), |borrowed| root().join(&borrowed.trace));
    let Ok(text) = std::fs::read_to_string(file) else { return Vec::new() };
    let mut trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    for change in borrowed.iter().flat_map(|borrowed| &borrowed.change) {
        change.apply(folder, &mut trace);
    }
    if let Ok(patch) = std::fs::read_to_string(folder.join("patch.json")) {
        let patch: json_patch::Patch = serde_json::from_str(&patch).unwrap();
        json_patch::patch(&mut trace, &patch).unwrap();
    }
    vec![serde_json::from_value(trace).unwrap()]
}

/// The requests to an endpoint that were recorded for a fixture, by CRD.
pub(crate) fn exchanges(folder: &Path) -> BTreeMap<String, Vec<Exchange>> {
    let Ok(text) = std::fs::read_to_string(folder.join("exchanges.json")) else { return BTreeMap::new() };
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

/// The conversions that were recorded for a fixture, by CRD.
pub(crate) fn conversion_runs(folder: &Path) -> BTreeMap<String, Vec<ConversionRun>> {
    let Ok(text) = std::fs::read_to_string(folder.join("conversions.json")) else { return BTreeMap::new() };
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

/// Judges the subject of a folder by every check that needs no API server, and by what was recorded.
pub(crate) fn judge_folder(folder: &Path) -> Report {
    judge_by(&load(folder), traces(folder), exchanges(folder), conversion_runs(folder))
}

/// Judges a subject by every check that needs no API server, and by recorded scenarios.
pub(crate) fn judge(subject: &Subject, traces: Vec<Trace>) -> Report {
    judge_by(subject, traces, BTreeMap::new(), BTreeMap::new())
}

fn judge_by(
    subject: &Subject,
    traces: Vec<Trace>,
    exchanges: BTreeMap<String, Vec<Exchange>>,
    conversion_runs: BTreeMap<String, Vec<ConversionRun>>,
) -> Report {
    let all = "apiVersion: crdproof/v1alpha1\nkind: Suite\ndescription: all\nchecks: ['*']\n";
    let selection = Selection { suites: vec![load_suite("all", "all", all).unwrap()], ..Selection::default() };
    let conversions = conversion_runs.into_iter().map(|(crd, conversion_runs)| (crd, conversion_runs.into())).collect();
    let settings = Settings { selection, seed: 1, ..Settings::default() };
    let observations = Observations { traces, exchanges, conversions, ..Observations::default() };
    let plan = plan_recorded(subject, &settings, &observations);
    let options = Options { jobs: std::num::NonZeroUsize::MIN, ..Options::on(TODAY) };
    crdproof::run::judge(&plan, &observations, &options).report
}

pub(crate) fn expectation(folder: &Path) -> Expectation {
    let path = folder.join("expect.yaml");
    let Ok(text) = std::fs::read_to_string(&path) else {
        return Expectation::default();
    };
    let mut sources = Sources::default();
    let id = sources.add(path.display().to_string(), text);
    let documents = parse(&sources, id).unwrap_or_else(|error| panic!("{}: {error}", sources.place(error.span)));
    decode(&documents[0]).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares what was found with what must be found; the answer lists every difference.
pub(crate) fn differences(folder: &Path, report: &Report) -> Vec<String> {
    let expectation = expectation(folder);
    let mut left: Vec<_> = report.counting().collect();
    let mut differences = Vec::new();
    for expected in &expectation.findings {
        let matches = |finding: &&crdproof::report::Finding| {
            let at = finding.location.as_ref().map(|location| {
                let file = Path::new(&location.file);
                let file = file.strip_prefix(folder).unwrap_or(file);
                format!("{}:{}", file.display(), location.line)
            });
            finding.check == expected.check
                && (expected.at.is_none() || expected.at == at)
                && (expected.path.is_none() || expected.path == finding.path)
                && (expected.version.is_none() || expected.version == finding.version)
                && expected.says.as_ref().is_none_or(|says| finding.message.contains(says))
                && expected.severity.as_ref().is_none_or(|severity| severity == finding.severity.as_str())
        };
        match left.iter().position(matches) {
            Some(index) => drop(left.remove(index)),
            None => differences.push(format!("missing: {expected:?}")),
        }
    }
    for finding in left {
        let place = finding.location.as_ref().map(|location| format!("{}:{}", location.file, location.line));
        differences.push(format!(
            "unexpected: {} at {} path {:?} version {:?}: {}",
            finding.check,
            place.unwrap_or_default(),
            finding.path,
            finding.version,
            finding.message
        ));
    }
    differences
}
