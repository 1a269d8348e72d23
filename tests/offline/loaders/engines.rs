//! Fuzzing of the code behind the loaders: the generator, validation rules, patterns, globs, and both sides of a review.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crdproof::converter::Answerer;
use crdproof::converter::endpoint::{Endpoint, ReplacementEndpoint, Request};
use crdproof::evidence::Outcome;
use crdproof::run::{Observations, Options, SUITES, Selection, ServerMatrix, Settings, load_suite, plan};
use crdproof::subject::{PathGlob, Subject};
use crdproof_schema::document::{Sources, parse};
use crdproof_schema::generate::{self, Context, Generator, Phase};
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::{Pattern, Schema, Validator, rule_costs};
use crdproof_schema::text::glob;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::hold::hold;
use super::mutate::{self, Edits, edits};
use super::{fixtures, is_crd, is_sound, values};
use crate::fixture::{Recordings, TODAY, judge_recorded, load, recordings, root};

/// One piece after the other, of these.
fn words(pieces: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 0..most).prop_map(|pieces| pieces.concat())
}

/// Reads a value as a schema; what is none is an empty one.
fn schema(value: &Value) -> Schema {
    let value = if value.is_object() { value } else { &json!({}) };
    let mut sources = Sources::default();
    let id = sources.add("schema", value.to_string());
    Schema::read(&parse(&sources, id).unwrap()[0])
}

/// Takes some objects of every phase, and asks for a verdict on each.
fn generate(schema: &Schema, seed: u64) {
    let options = generate::Options { longest_text: 2000, longest_list: 100, large: 20_000, ..Default::default() };
    let context = Context::new("example.com", "v1", "Widget").namespaced();
    let Ok(generator) = Generator::new(schema, KubeVersion::NEWEST, &context, options) else { return };
    for phase in Phase::ALL {
        for case in (0..4).filter_map(|index| generator.case(phase, seed, index)) {
            let _ = generator.judge(&case.object);
        }
    }
}

#[test]
fn objects_are_generated_from_damaged_schemas() {
    let crds = values(&fixtures(is_crd));
    let versions = crds.iter().flat_map(|crd| crd["spec"]["versions"].as_array().cloned().unwrap_or_default());
    let schemas: Vec<Value> = versions.map(|version| version["schema"]["openAPIV3Schema"].clone()).collect();
    let strategy = (0..schemas.len(), edits(), any::<u64>());
    hold("generated objects", &strategy, |(index, edits, seed): (usize, Edits, u64)| {
        generate(&schema(&edits.apply(&schemas[index])), seed);
        Ok(())
    });
}

/// Pieces of CEL.
const RULES: [&str; 56] = [
    "self",
    ".a",
    ".b",
    ".c",
    ".d",
    "oldSelf",
    " == ",
    " != ",
    " < ",
    " && ",
    " || ",
    "!",
    " ? ",
    " : ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "0",
    "-1",
    "1u",
    "1.5",
    "9223372036854775807",
    "'x'",
    "\"\\u00e9\"",
    "b'x'",
    "r'\\'",
    "true",
    "null",
    " in ",
    " + ",
    " - ",
    " * ",
    " / ",
    " % ",
    "has(",
    "size(",
    ".all(x, ",
    ".exists(x, ",
    ".map(x, ",
    ".filter(x, ",
    "x",
    ".matches('a+')",
    ".startsWith('a')",
    "duration('1h')",
    "timestamp('2027-01-31T00:00:00Z')",
    "int(",
    "string(",
    "quantity('1Gi')",
    "ip('::1')",
    "cel.bind(y, ",
    "optional.none()",
    ".?a",
];

#[test]
fn validation_rules_are_evaluated_or_refused() {
    let strategy = (words(&RULES, 12), mutate::json(true));
    hold("validation rules", &strategy, |(rule, value): (String, Value)| {
        let fields = json!({"a": {"type": "string"}, "b": {"type": "integer"}, "d": {"type": "object",
            "additionalProperties": {"type": "integer"}}, "c": {"type": "array", "items": {"type": "string"}}});
        let spec = json!({"type": "object", "properties": fields, "x-kubernetes-validations": [{"rule": rule}]});
        let schema = schema(&json!({"type": "object", "properties": {"spec": spec}}));
        let _costs = rule_costs(&schema);
        let validator = Validator::new(&schema, KubeVersion::NEWEST);
        let spec = json!({"a": "abc", "b": 3, "c": ["x", "y"], "d": {"k": 1}});
        validator.validate(&json!({"spec": spec}));
        validator.validate(&json!({"spec": value}));
        Ok(())
    });
}

/// Pieces of patterns.
const PATTERNS: [&str; 52] = [
    "a",
    "b",
    "^",
    "$",
    ".",
    "*",
    "+",
    "?",
    "{2}",
    "{1,3}",
    "{0,}",
    "{,5}",
    "{1000}",
    "{1001}",
    "(",
    ")",
    "(?:",
    "(?i)",
    "(?s:",
    "(?P<n>",
    "(?<n>",
    "|",
    "[",
    "]",
    "[^",
    "a-z",
    "-",
    "[[:alpha:]]",
    "\\d",
    "\\W",
    "\\b",
    "\\pL",
    "\\p{Greek}",
    "\\P{Nd}",
    "\\x41",
    "\\x{10FFFF}",
    "\\x{110000}",
    "\\141",
    "\\Q*\\E",
    "\\C",
    "\\z",
    "\\A",
    "\\1",
    "(?=",
    "(?!",
    "é",
    "\u{1f424}",
    "\\",
    "\\u0041",
    "\n",
    "&&",
    "~~",
];

#[test]
fn patterns_are_compiled_or_refused() {
    let strategy = (prop_oneof![4 => words(&PATTERNS, 12), 1 => any::<String>()], any::<String>());
    hold("patterns", &strategy, |(pattern, text): (String, String)| {
        let pattern = Pattern::new(&pattern);
        let is_match = pattern.matches(&text);
        if let Some(fault) = pattern.fault() {
            prop_assert!(!fault.is_empty() && !is_match);
        }
        Ok(())
    });
}

#[test]
fn texts_are_made_of_patterns() {
    let strategy = (words(&PATTERNS, 8), 0_u64..60, any::<u64>());
    hold("texts of patterns", &strategy, |(pattern, longest, seed): (String, u64, u64)| {
        let field = json!({"type": "string", "pattern": pattern, "maxLength": longest});
        let spec = json!({"type": "object", "properties": {"a": field}});
        generate(&schema(&json!({"type": "object", "properties": {"spec": spec}})), seed);
        Ok(())
    });
}

/// Pieces of globs and of what they are to match.
const GLOBS: [&str; 16] = ["*", "**", ".", "[*]", "[0]", "[", "]", "a", "ab", "spec", "/", "-", "?", "é", "\"", "\\"];

#[test]
fn globs_match_or_not() {
    hold("globs", &(words(&GLOBS, 40), words(&GLOBS, 40)), |(pattern, text): (String, String)| {
        let path: PathGlob = serde_json::from_value(json!(pattern)).unwrap();
        // What a glob names it covers.
        prop_assert!(!path.matches(&text) || path.covers(&text), "{pattern:?} and {text:?}");
        let is_plain = !pattern.contains('*');
        prop_assert!(!is_plain || glob(&pattern, &text) == (pattern == text), "{pattern:?} and {text:?}");
        Ok(())
    });
}

/// The subject whose field maps answer reviews.
fn databases() -> &'static Subject {
    Box::leak(Box::new(load(&root().join("crds/databases"))))
}

/// Answers as it should, with damage of its own to each answer in turns.
struct Damaged {
    right: Answerer<'static>,
    damage: Vec<(Edits, u8)>,
    next: AtomicUsize,
}

impl Endpoint for Damaged {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        let (edits, form) = &self.damage[self.next.fetch_add(1, Ordering::Relaxed) % self.damage.len()];
        let answer = self.right.answer(&request.body);
        let status = if answer.is_ok() { 200 } else { 400 };
        let answer = answer.unwrap_or_else(Value::String);
        let json = Some("application/json".to_owned());
        let (status, content_type, body) = match form {
            0..4 => (status, json, edits.apply(&answer).to_string()),
            4 => (status, json, answer.to_string().chars().take(40).collect()),
            5 => (500, None, answer.to_string()),
            6 => (200, Some("text/\u{1b}[2J\n::error::".into()), answer.to_string()),
            _ => return (Outcome::Failed(edits.apply(&answer).to_string()), Duration::from_millis(1)),
        };
        (Outcome::Answered { status, content_type, body }, Duration::from_millis(1))
    }

    fn send_together(&self, requests: &[Request]) -> Vec<(Outcome, Duration)> {
        requests.iter().map(|request| self.send(request)).collect()
    }
}

#[test]
fn answers_of_hostile_endpoints_are_judged() {
    let subject = databases();
    let suite = |wanted: &str| {
        let (name, text) = SUITES.iter().find(|(name, _)| *name == wanted).unwrap();
        load_suite(name, name, text).unwrap()
    };
    let suites = vec![suite("converter"), suite("webhook")];
    let damage = prop::collection::vec((edits(), 0_u8..8), 1..6);
    hold("reviews of hostile endpoints", &damage, |damage| {
        let right = Answerer::new(subject).unwrap();
        let endpoint = ReplacementEndpoint(Arc::new(Damaged { right, damage, next: AtomicUsize::new(0) }));
        let selection = Selection { suites: suites.clone(), ..Selection::default() };
        // With many findings, shrinking ends by this time and not by itself.
        let time = Some(Duration::from_secs(2));
        let settings = Settings { selection, objects: Some(1), time, endpoint: Some(endpoint), ..Settings::default() };
        let plan = plan(subject, &settings, &ServerMatrix::default());
        let options = Options { jobs: NonZeroUsize::MIN, ..Options::on(TODAY) };
        is_sound(&crdproof::run::judge(&plan, &Observations::default(), &options).report)
    });
}

#[test]
fn damaged_exchanges_are_judged_or_refused() {
    let folder = root().join("checks/webhook/uid-echoed/fail");
    let (subject, recorded) = (load(&folder), serde_json::to_value(recordings(&folder).exchanges).unwrap());
    hold("damaged exchanges", &edits(), |edits| {
        if let Ok(exchanges) = serde_json::from_value(edits.apply(&recorded)) {
            let recordings = Recordings { traces: Vec::new(), exchanges, conversions: BTreeMap::default() };
            is_sound(&judge_recorded(&subject, recordings))?;
        }
        Ok(())
    });
}

#[test]
fn damaged_reviews_are_answered_or_refused() {
    let answerer = Answerer::new(databases()).unwrap();
    let object = json!({"apiVersion": "example.com/v2", "kind": "Database", "metadata": {"name": "a", "namespace": "b",
        "annotations": {"example.com/v2-password": "\"x\""}}, "spec": {"password": "x", "replicas": 2}});
    let review = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
        "request": {"uid": "1", "desiredAPIVersion": "example.com/v1", "objects": [object, object]}});
    let strategy = (edits(), prop::option::weighted(0.2, 0_usize..300));
    hold("serve", &strategy, |(edits, cut): (Edits, Option<usize>)| {
        let text = edits.apply(&review).to_string();
        let text: String = text.chars().take(cut.unwrap_or(usize::MAX)).collect();
        match answerer.answer(text.as_bytes()) {
            Ok(answer) => prop_assert_eq!(&answer["kind"], "ConversionReview"),
            Err(why) => prop_assert!(!why.is_empty()),
        }
        Ok(())
    });
}
