//! No input makes a loader panic, and every refusal has a message. Inputs are generated from a fixed seed;
//! `scripts/fuzz` generates many more.

mod engines;
mod hold;
mod mutate;
mod texts;

use crdproof::report::{Format, Report, json, merge, read, render};
use crdproof::run::load_suite;
use crdproof::subject::field_map::{FieldMap, Relation};
use crdproof::subject::load::{self, InputError, Text, Texts};
use crdproof::subject::{Subject, SubjectFile};
use crdproof_schema::document::{Kind, Node, Sources, decode, parse};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;

use crate::fixture::{check_fixtures, judge, root};
use hold::hold;
use mutate::{Edits, edits};
use texts::{deep, document, mutated};

/// Asserts that an error has a message, and that its location, if any, is inside the text.
fn is_worded(error: &InputError) -> Result<(), TestCaseError> {
    prop_assert!(!error.message.is_empty());
    if let Some(place) = &error.place {
        prop_assert!(!place.file.is_empty() && place.line > 0 && place.column > 0, "{error}");
    }
    Ok(())
}

/// Asserts that no check panicked: the engine catches that, and goes on with the others.
fn is_sound(report: &Report) -> Result<(), TestCaseError> {
    let text = json(report);
    let panicked = text.lines().find(|line| line.contains("which is a defect of crdproof"));
    prop_assert!(panicked.is_none(), "{panicked:?}");
    Ok(())
}

/// Asserts that every span lies inside the text, between characters.
fn spans_are_sound(sources: &Sources, node: &Node) -> Result<(), TestCaseError> {
    let text: &str = &sources.get(node.span.source).text;
    let range = node.span.start as usize..node.span.end as usize;
    prop_assert!(text.get(range.clone()).is_some(), "{range:?} of {} bytes", text.len());
    match &node.kind {
        Kind::List(items) => items.iter().try_for_each(|node| spans_are_sound(sources, node)),
        Kind::Map(entries) => entries.iter().try_for_each(|entry| spans_are_sound(sources, &entry.value)),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => Ok(()),
    }
}

/// Parses a text as documents, walks the result, and reads it as each kind of file that we read.
fn read_documents(text: &str) -> Result<(), TestCaseError> {
    let mut sources = Sources::default();
    let id = sources.add("fuzz.yaml", text);
    match parse(&sources, id) {
        Ok(documents) => {
            for document in &documents {
                spans_are_sound(&sources, document)?;
                let _ = document.to_value();
                if let Ok(file) = decode::<SubjectFile>(document) {
                    let _ = file.problem();
                }
            }
        }
        Err(error) => {
            prop_assert!(!error.message.is_empty());
            let place = sources.place(error.span);
            prop_assert!(place.line > 0 && place.column > 0);
        }
    }
    Ok(())
}

/// All texts of a kind among the fixtures.
fn fixtures(named: fn(&str) -> bool) -> Vec<String> {
    let folders = check_fixtures().into_iter().map(|(_, folder)| folder);
    let subjects = crate::fixture::folders(&root().join("crds"));
    let inner = subjects.iter().flat_map(|folder| crate::fixture::folders(folder));
    let mut found = Vec::new();
    for folder in folders.chain(inner.collect::<Vec<_>>()).chain(subjects) {
        let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.retain(|path| path.is_file() && named(&path.to_string_lossy()));
        found.extend(paths.iter().map(|path| std::fs::read_to_string(path).unwrap()));
    }
    assert!(!found.is_empty());
    found
}

fn is_crd(path: &str) -> bool {
    path.contains("/crds/") && path.ends_with("s.yaml") && !path.contains("/samples/") || path.ends_with("/crd.yaml")
}

/// Documents of fixtures as values.
fn values(texts: &[String]) -> Vec<Value> {
    let mut sources = Sources::default();
    let parsed = texts.iter().map(|text| {
        let id = sources.add("fixture", text.as_str());
        parse(&sources, id).unwrap()
    });
    parsed.collect::<Vec<_>>().into_iter().flatten().map(|document| document.to_value()).collect()
}

#[test]
fn any_text_is_read_or_refused_as_documents() {
    hold("any text as documents", &document(), |text| read_documents(&text));
}

#[test]
fn damaged_manifests_are_read_or_refused() {
    let texts = fixtures(|path| path.contains(".yaml"));
    hold("damaged manifests", &mutated(texts), |text| {
        read_documents(&text)?;
        match load::from_texts(vec![Text { name: "fuzz.yaml".into(), text }], Vec::new(), None) {
            Ok(_) => Ok(()),
            Err(error) => is_worded(&error),
        }
    });
}

#[test]
fn deep_documents_are_read_or_refused() {
    hold("deep documents", &deep(), |text| {
        read_documents(&text)?;
        match load::from_texts(vec![Text { name: "deep.yaml".into(), text }], Vec::new(), None) {
            Ok(subject) => is_sound(&judge(&subject, Vec::new()))?,
            Err(error) => is_worded(&error)?,
        }
        Ok(())
    });
}

#[test]
fn json_is_read_unchanged() {
    hold("json", &mutate::json(false), |value| {
        let mut sources = Sources::default();
        let id = sources.add("fuzz.json", value.to_string());
        let documents = parse(&sources, id).map_err(|error| TestCaseError::fail(format!("{error}: {value}")))?;
        let read = documents.first().map_or(Value::Null, Node::to_value);
        prop_assert_eq!(read, value);
        Ok(())
    });
}

#[test]
fn damaged_subject_files_and_waivers_are_read_or_refused() {
    let mut texts = fixtures(|path| path.ends_with("/crdproof.yaml"));
    texts.push(
        "apiVersion: crdproof/v1alpha1\nkind: Subject\nwaivers:\n\
         - {check: 'manifest/*', path: .spec, reason: x, owner: y, expires: 2027-01-31}\n\
         - {fingerprint: e6480b59a691, crd: databases.example.com, reason: x, expires: 2020-01-31}\n\
         fieldMaps:\n- crd: databases.example.com\n  between: [v1, v2]\n  rename: [{v1: .spec.a, v2: .spec.b.c}]\n"
            .into(),
    );
    let crd = std::fs::read_to_string(root().join("crds/databases-none/crds/databases.yaml")).unwrap();
    let sample = std::fs::read_to_string(root().join("crds/databases-none/samples/databases.yaml")).unwrap();
    let text = |text: &str| vec![Text { name: "fixture.yaml".into(), text: text.to_owned() }];
    let subject = load::from_texts(text(&crd), text(&sample), None).unwrap();
    hold("damaged subject files", &mutated(texts), |text| {
        let mut subject: Subject = subject.clone();
        let id = subject.sources.add("crdproof.yaml", text);
        let Ok(documents) = parse(&subject.sources, id) else { return Ok(()) };
        for document in documents {
            match decode::<SubjectFile>(&document) {
                Ok(file) => {
                    // The test does not run its commands or open its paths.
                    subject.file = file;
                    subject.document = Some(document);
                    is_sound(&judge(&subject, Vec::new()))?;
                }
                Err(error) => prop_assert!(!error.message.is_empty()),
            }
        }
        Ok(())
    });
}

#[test]
fn damaged_field_maps_and_objects_are_converted_or_refused() {
    let page = std::fs::read_to_string(root().join("../docs/field-maps.md")).unwrap();
    let blocks: Vec<_> = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split_once("```")).collect();
    let pairs = blocks.windows(2).map(|pair| (pair[0].0, pair[1].0));
    let texts = pairs.map(|(map, object)| format!("crd: a\nbetween: [v1, v2]\n{map}---\n{object}"));
    hold("damaged field maps", &mutated(texts.collect()), |text| {
        let mut sources = Sources::default();
        let id = sources.add("fuzz.yaml", text);
        let Ok(documents) = parse(&sources, id) else { return Ok(()) };
        let [map, example] = documents.as_slice() else { return Ok(()) };
        let Ok(map) = decode::<FieldMap>(map) else { return Ok(()) };
        let example = example.to_value();
        match Relation::new([&map], |_| None) {
            Err(wrong) => prop_assert!(!wrong.problem.message.is_empty() && !wrong.problem.help.is_empty()),
            Ok(relation) => {
                for (from, to) in [("v1", "v2"), ("v2", "v1")] {
                    if let Err(refusal) = relation.convert(&example[from], from, to) {
                        prop_assert!(!refusal.message.is_empty());
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn damaged_suites_are_read_or_refused() {
    let texts = crdproof::run::SUITES.iter().map(|(_, text)| format!("{text}severity: {{manifest/*: note}}\n"));
    hold("damaged suites", &mutated(texts.collect()), |text| {
        if let Err(error) = load_suite("fuzz", "fuzz.yaml", &text) {
            prop_assert!(!error.message.is_empty() && error.place.line > 0);
        }
        Ok(())
    });
}

#[test]
fn git_sources_are_read_or_refused() {
    let folder = crate::cli::folder(&[("config/crd/a.yaml", "a: 1\n")]);
    crate::cli::commit_all(folder.path());
    let texts = Texts::relative_to(folder.path());
    let words =
        prop::sample::select(vec!["HEAD", "main", "config", "/", ":", "-", "--", "..", "~1", "^", "@{", "\n", "é"]);
    let source = prop::collection::vec(words, 0..6).prop_map(|words| format!("git:{}", words.concat()));
    hold("git sources", &source, |source| match texts.read(&source) {
        Ok(read) => {
            prop_assert!(!read.is_empty());
            Ok(())
        }
        Err(error) => is_worded(&error),
    });
}

#[test]
fn damaged_crds_are_judged_or_refused() {
    let crds = values(&fixtures(is_crd));
    let samples = values(&fixtures(|path| path.contains("sample")));
    let strategy = (0..crds.len(), edits(), edits(), any::<bool>(), 0_u8..32);
    hold("damaged crds", &strategy, |(index, crd_edits, sample_edits, forward, all_formats)| {
        let damaged = crd_edits.apply(&crds[index]);
        let sample = sample_edits.apply(&samples[index % samples.len()]);
        let text = |value: &Value| vec![Text { name: "fuzz.json".into(), text: value.to_string() }];
        let (new, old) = if forward { (&damaged, &crds[index]) } else { (&crds[index], &damaged) };
        match load::from_texts(text(new), text(&sample), Some(text(old))) {
            Ok(subject) => {
                let report = judge(&subject, Vec::new());
                is_sound(&report)?;
                // Writers are slower than judges, so they see a share of it.
                if all_formats == 0 {
                    for format in Format::ALL {
                        drop(render(&report, format));
                    }
                }
                prop_assert!(report.problems.is_empty());
            }
            Err(error) => {
                is_worded(&error)?;
                prop_assert!(error.place.is_some() || error.help.is_some(), "{error}");
            }
        }
        Ok(())
    });
}

/// A report that contains one of everything.
fn report() -> Report {
    let subject = crate::fixture::load(&root().join("crds/databases-none"));
    judge(&subject, Vec::new())
}

#[test]
fn damaged_reports_are_read_or_refused() {
    let good = report();
    let value: Value = serde_json::from_str(&json(&good)).unwrap();
    let cut = 0..json(&good).len();
    hold("damaged reports", &(edits(), cut), |(edits, cut): (Edits, usize)| {
        drop(read(&json(&good).chars().take(cut).collect::<String>()));
        match read(&edits.apply(&value).to_string()) {
            Ok(damaged) => {
                for format in Format::ALL {
                    drop(render(&damaged, format));
                }
                drop(merge(vec![good.clone(), damaged]));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        Ok(())
    });
}

#[test]
fn damaged_traces_are_judged_or_refused() {
    let folder = root().join("checks/serving/writes-lose-nothing/pass");
    let subject = crate::fixture::load(&folder);
    let text = std::fs::read_to_string(folder.join("trace.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    hold("damaged traces", &edits(), |edits| {
        if let Ok(trace) = serde_json::from_value(edits.apply(&value)) {
            is_sound(&judge(&subject, vec![trace]))?;
        }
        Ok(())
    });
}
