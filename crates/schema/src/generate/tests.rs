//! Tests of the generator, on schemas with every keyword.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::shrink::{self, Budget};
use super::*;
use crate::document::{Sources, parse};
use crate::kubernetes::KubeVersion;
use crate::structural::{Outcome, Schema, Validator};

const RICH: &str = include_str!("tests.yaml");

fn read(text: &str) -> Schema {
    let mut sources = Sources::default();
    let id = sources.add("schema", text);
    Schema::read(&parse(&sources, id).unwrap()[0])
}

fn spec(text: &str) -> Schema {
    read(&format!("{{type: object, properties: {{spec: {text}}}}}"))
}

fn context() -> Context {
    Context::new("example.com", "v1", "Widget").namespaced()
}

fn generator(schema: &Schema) -> Generator<'_> {
    Generator::new(schema, KubeVersion::minor(36), &context(), Options::default()).unwrap()
}

/// Time limits are those of an optimised build; other builds, and busy machines, get ten times as long. Searches end by
/// counted steps, not by time.
fn seconds(count: u64) -> Duration {
    Duration::from_secs(if cfg!(debug_assertions) { 10 * count } else { count })
}

#[test]
fn every_valid_object_is_admitted() {
    let schema = read(RICH);
    let generator = generator(&schema);
    let boundary = generator.cases(Phase::Boundary, 7);
    for case in generator.cases(Phase::Random, 7).take(400).chain(boundary).chain(generator.cases(Phase::Examples, 7)) {
        let answer = generator.judge(&case.object);
        assert_eq!(answer.outcome, Outcome::Admitted, "{case:?}");
        assert!(answer.pruned.is_empty() && answer.inconclusive.is_empty(), "{answer:?}");
    }
}

/// Objects of schemas without rules and alternatives are not tested after construction.
#[test]
fn construction_alone_is_correct_for_plain_schemas() {
    let text = RICH.split("# Below: rules and alternatives.").next().unwrap();
    let schema = read(text);
    let generator = generator(&schema);
    let validator = Validator::new(&schema, KubeVersion::minor(36));
    for case in generator.cases(Phase::Random, 3).take(2000) {
        let mut object = case.object.clone();
        crate::structural::default(&schema, &mut object);
        assert!(validator.validate(&object).is_clean(), "{object}: {:?}", validator.validate(&object));
    }
}

#[test]
fn every_invalid_object_is_refused_for_the_intended_reason() {
    let schema = read(RICH);
    let generator = generator(&schema);
    let mut keywords = std::collections::BTreeSet::new();
    for case in generator.cases(Phase::Negative, 7) {
        let meant = case.meant.clone().unwrap();
        keywords.insert(meant.keyword.clone());
        let answer = generator.judge(&case.object);
        match (meant.reason, answer.outcome) {
            (None, Outcome::Admitted) => assert!(!answer.pruned.is_empty(), "{case:?}"),
            (Some(_), Outcome::Refused(violations)) => {
                let named = |violation: &crate::structural::Violation| {
                    violation.keyword == meant.keyword && Some(&violation.field) == meant.field.as_ref()
                };
                assert!(violations.iter().any(named), "{case:?}: {violations:?}");
            }
            (reason, outcome) => panic!("{case:?}: {reason:?} {outcome:?}"),
        }
    }
    let wanted = [
        "enum",
        "format",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "properties",
        "required",
        "type",
        "x-kubernetes-list-type",
        "x-kubernetes-validations",
    ];
    for keyword in wanted {
        assert!(keywords.contains(keyword), "{keyword} is never violated: {keywords:?}");
    }
}

#[test]
fn all_leaves_are_reached() {
    let schema = read(RICH);
    let generator = generator(&schema);
    let mut coverage = generator.coverage();
    for case in generator.cases(Phase::Boundary, 1).chain(generator.cases(Phase::Random, 1).take(200)) {
        coverage.observe(&case.object);
    }
    assert!(coverage.is_at_least(100.0), "{:?}", coverage.unreached().map(ToString::to_string).collect::<Vec<_>>());
    assert!(coverage.gaps().is_empty(), "{:?}", coverage.gaps());
}

#[test]
fn the_same_seed_always_gives_the_same_objects() {
    let schema = read(RICH);
    let generator = generator(&schema);
    let mut hash = Sha256::new();
    for phase in Phase::ALL {
        for case in generator.cases(phase, 42).filter(|case| case.phase != Phase::Large || case.index > 0).take(100) {
            hash.update(case.object.to_string());
        }
    }
    let hash = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(
        hash,
        include_str!("tests.sha256").trim(),
        "objects changed; if they were meant to, write the hash anew"
    );
    let one = generator.case(Phase::Random, 42, 77);
    assert_eq!(one, generator.cases(Phase::Random, 42).find(|case| case.index == 77), "order does not matter");
}

#[test]
fn threads_share_a_generator_and_change_nothing() {
    let schema = read(RICH);
    let generator = &generator(&schema);
    let alone: Vec<_> = (0..64).map(|index| generator.case(Phase::Random, 8, index)).collect();
    let halves = std::thread::scope(|scope| {
        let half = |from| {
            scope.spawn(move || {
                (from..from + 32).map(|index| generator.case(Phase::Random, 8, index)).collect::<Vec<_>>()
            })
        };
        let (back, front) = (half(32), half(0));
        [front.join().unwrap(), back.join().unwrap()].concat()
    });
    assert_eq!(alone, halves);
}

#[test]
fn partial_objects_are_of_the_version_and_lack_parts() {
    let schema = read(RICH);
    let generator = generator(&schema);
    let cases: Vec<Case> = generator.cases(Phase::Partial, 5).take(60).collect();
    assert!(cases.iter().all(|case| case.object["apiVersion"] == "example.com/v1"));
    assert!(cases.iter().any(|case| case.object.get("metadata").is_none()));
    assert!(cases.iter().any(|case| case.object["metadata"] == json!({})));
    assert!(cases.iter().any(|case| case.object.get("spec").is_none() && case.object.get("status").is_some()));
}

#[test]
fn items_of_keyed_lists_keep_their_keys_in_partial_objects() {
    let schema = read(
        "type: object\n\
         properties:\n  \
           spec:\n    \
             type: object\n    \
             properties:\n      \
               ports:\n        \
                 type: array\n        \
                 minItems: 1\n        \
                 x-kubernetes-list-type: map\n        \
                 x-kubernetes-list-map-keys: [name]\n        \
                 items: {type: object, required: [name, port], properties: {name: {type: string}, port: {type: integer}}}\n",
    );
    let generator = generator(&schema);
    let pruned = generator.cases(Phase::Partial, 3).take(600).filter(|case| case.index % 6 == 5);
    let items = pruned.flat_map(|case| case.object["spec"]["ports"].as_array().cloned().unwrap_or_default());
    let items: Vec<Value> = items.collect();
    assert!(items.iter().any(|item| item.get("port").is_none()), "other fields get lost");
    assert!(items.iter().all(|item| item.get("name").is_some()), "{items:?}");
}

#[test]
fn large_objects_come_near_the_limit_and_stay_below() {
    let schema = read(RICH);
    let generator = generator(&schema);
    let large = generator.case(Phase::Large, 1, 0).unwrap();
    let size = large.object.to_string().len();
    assert!((1_200_000..1_500_000).contains(&size), "{size}");
    let mut names: Vec<Value> =
        generator.cases(Phase::Large, 1).skip(1).map(|case| case.object["metadata"]["name"].clone()).collect();
    assert_eq!(names.len(), 500);
    names.sort_by_key(ToString::to_string);
    names.dedup();
    assert_eq!(names.len(), 500, "all have names of their own");
}

#[test]
fn a_saved_case_is_plain_json() {
    let schema = read(RICH);
    let generator = generator(&schema);
    let case = generator.case(Phase::Random, 9, 3).unwrap();
    let saved = case.save(case.object.clone());
    let text = serde_json::to_string(&saved).unwrap();
    assert_eq!(serde_json::from_str::<Saved>(&text).unwrap(), saved);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["phase"], &value["seed"], &value["index"]), (&json!("random"), &json!(9), &json!(3)));
}

/// A condition on objects, and the size of the smallest object that satisfies it.
type Planted = (&'static str, fn(&Value) -> bool, usize);

const PLANTED: [Planted; 10] = [
    ("a list has two items", |object| object["spec"]["ports"].as_array().is_some_and(|items| items.len() > 1), 13),
    (
        "the second port is even and the mode is set",
        |object| {
            let even = object["spec"]["ports"][1]["port"].as_i64().is_some_and(|port| port % 2 == 0);
            even && object["spec"].get("mode").is_some()
        },
        14,
    ),
    ("a flag is true", |object| object["spec"]["paused"] == true, 9),
    ("a number is above 10", |object| object["spec"]["replicas"].as_i64().is_some_and(|count| count > 10), 8),
    ("a text is long", |object| object["spec"]["title"].as_str().is_some_and(|text| text.len() > 3), 9),
    ("a map has an entry", |object| object["spec"]["labels"].as_object().is_some_and(|map| !map.is_empty()), 10),
    ("status is there", |object| object.get("status").is_some(), 9),
    (
        "two parts are there",
        |object| object["spec"].get("window").is_some() && object["spec"].get("mode").is_some(),
        12,
    ),
    ("the object has labels", |object| object["metadata"].get("labels").is_some(), 9),
    ("an unknown field is there", |object| object["spec"]["free"].get("extra0").is_some(), 10),
];

#[test]
fn shrinking_ends_at_the_smallest_object() {
    let schema = read(RICH);
    let generator = generator(&schema);
    for (what, fails, smallest) in PLANTED {
        let mut failing = generator.cases(Phase::Random, 11).map(|case| case.object).filter(fails);
        let object = failing.find(|object| shrink::size(object) > 30).unwrap();
        let started = Instant::now();
        let mut ask = |objects: &[Value]| objects.iter().map(fails).collect();
        let shrunk = shrink::search(&generator, &object, Budget::default(), &mut ask);
        assert!(started.elapsed() < seconds(2), "{what}: {:?}", started.elapsed());
        assert!(shrunk.is_minimal && fails(&shrunk.object) && generator.admits(&shrunk.object), "{what}");
        let size = shrink::size(&shrunk.object);
        assert!(size <= smallest + 1, "{what}: {size} values instead of {smallest}: {}", shrunk.object);
    }
}

/// Returns the error for a schema whose field `spec` is required.
fn fault(spec: &str) -> Unsatisfiable {
    let schema = read(&format!("{{type: object, required: [spec], properties: {{spec: {spec}}}}}"));
    let started = Instant::now();
    let fault = Generator::new(&schema, KubeVersion::minor(36), &context(), Options::default()).unwrap_err();
    assert!(started.elapsed() < seconds(1), "{:?}", started.elapsed());
    fault
}

#[test]
fn a_root_that_is_not_an_object_has_no_objects() {
    for text in ["{}", "{type: number}", "{x-kubernetes-preserve-unknown-fields: true}"] {
        let generator = Generator::new(&read(text), KubeVersion::minor(36), &context(), Options::default()).map(drop);
        assert_eq!(generator.unwrap_err().keyword, "type", "{text}");
    }
}

#[test]
fn unsatisfiable_keywords_are_reported() {
    for (spec, keyword) in [
        ("{type: integer, minimum: 5, maximum: 4}", "minimum"),
        ("{type: integer, minimum: 3, maximum: 4, multipleOf: 10}", "multipleOf"),
        ("{type: string, minLength: 5, maxLength: 4}", "minLength"),
        ("{type: string, enum: [a, b], pattern: '^c$'}", "pattern"),
        ("{type: string, pattern: 'a^b'}", "pattern"),
        ("{type: array, minItems: 2, maxItems: 1, items: {type: string}}", "minItems"),
        ("{type: array, minItems: 1, items: {type: string, enum: [abc], maxLength: 2}}", "maxLength"),
        ("{type: object, required: [a], properties: {a: {type: integer, minimum: 2, maximum: 1}}}", "minimum"),
        ("{type: array, minItems: 900, items: {type: array, minItems: 900, items: {type: string}}}", "minItems"),
        ("{type: string, minLength: 100000000}", "minLength"),
        ("{type: object, minProperties: 2, properties: {a: {type: string}}}", "minProperties"),
        ("{type: object, required: [b], properties: {a: {type: string}}}", "required"),
        ("{type: object, required: [a], not: {required: [a]}, properties: {a: {type: string}}}", "not"),
        (
            "{type: string, x-kubernetes-validations: [{rule: 'size(self) > 3 && size(self) < 3'}]}",
            "x-kubernetes-validations",
        ),
    ] {
        let fault = fault(spec);
        assert_eq!(fault.keyword, keyword, "{spec}: {fault}");
        assert!(fault.path.to_string().starts_with(".spec"), "{fault}");
    }
}

/// Hostile schemas end within a second, whatever the result.
#[test]
fn hostile_schemas_end_quickly() {
    let deep = "{type: object, properties: {a: ".repeat(60) + "{type: string}" + &"}}".repeat(60);
    let values: Vec<String> = (0..400_000).map(|index| format!("value-number-{index}")).collect();
    let huge = format!("{{type: string, enum: [{}]}}", values.join(","));
    for text in [
        "{type: object, x-kubernetes-preserve-unknown-fields: true}",
        "{type: object, properties: {a: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}",
        "{type: string, pattern: '^(a+)+$'}",
        "{type: string, pattern: '^((a|b)*c){3,100}$', maxLength: 500}",
        "{type: string, pattern: '(.*)*(.*)*(.*)*x'}",
        "{type: array, minItems: 900, items: {type: array, minItems: 900, items: {type: string}}}",
        "{type: string, minLength: 100000000}",
        deep.as_str(),
        huge.as_str(),
    ] {
        let schema = spec(text);
        let started = Instant::now();
        let generator = Generator::new(&schema, KubeVersion::minor(36), &context(), Options::default());
        for case in generator.iter().flat_map(|generator| generator.cases(Phase::Random, 1).take(2)) {
            assert_eq!(case.object["kind"], "Widget");
        }
        let spent = started.elapsed();
        assert!(spent < seconds(1), "{spent:?}: {}", &text[..text.len().min(100)]);
    }
}

#[cfg(feature = "proptest")]
#[test]
fn a_strategy_shrinks_to_the_smallest_object() {
    use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

    let schema = read(RICH);
    let generator = generator(&schema);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(500) });
    let kept = runner.run(&strategy(&generator), |object| match object["spec"]["paused"] {
        Value::Bool(true) => Err(TestCaseError::fail("paused")),
        _ => Ok(()),
    });
    let Err(TestError::Fail(_, object)) = kept else { panic!("{kept:?}") };
    assert_eq!(object["spec"], json!({"image": "a", "paused": true, "replicas": 0}));
}

/// Strings are generated for every pattern that a server accepts, however large; a pattern that it refuses leaves its
/// field unset.
#[test]
fn no_pattern_makes_the_generator_fail() {
    for pattern in [r"^[\p{L}\p{N}]{1,1000}$", r"^\p{L}{255}$", r"(?i)^\p{L}{1,253}$", r"^\141$", r"\<", r"^\x{e9}+\b"]
    {
        let schema = spec(&format!(
            "{{type: object, required: [a], properties: {{a: {{type: string, pattern: '{pattern}'}}}}}}"
        ));
        for case in generator(&schema).cases(Phase::Random, 1).take(20) {
            assert_eq!(generator(&schema).judge(&case.object).outcome, Outcome::Admitted, "{pattern}: {case:?}");
        }
    }
    for pattern in ["^a**$", "a{1001}", r"\u0041", "(?=a)", "[", "^a$^b$", r"\bé\b"] {
        let schema = spec(&format!("{{type: object, properties: {{a: {{type: string, pattern: '{pattern}'}}}}}}"));
        let generator = generator(&schema);
        assert!(generator.unreachable().iter().any(|fault| fault.keyword == "pattern"), "{pattern}");
        assert!(
            generator.cases(Phase::Random, 1).take(20).all(|case| case.object["spec"].get("a").is_none()),
            "{pattern}"
        );
    }
}
