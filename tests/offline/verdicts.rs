//! Our verdicts against those of a real API server. Where they differ, ours are wrong.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crdproof_schema::document::{Kind, Node, Sources, parse};
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::{Admission, Outcome, Request, Schema, Validator};
use serde_json::{Map, Value, json};

use crate::fixture::root;

const GROUP: &str = "verdicts.example.com";

/// Rules for which our engine is inconclusive, by theme and case, and why.
const INCONCLUSIVE: [(&str, &str, &str); 1] = [(
    "cel-library",
    "formatted numbers and time zones by name",
    "engines print numbers differently, and there is no database of time zones available",
)];

/// Fields that a server sets; the recorder leaves them out.
const SERVER_SET: [&str; 5] = ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"];

#[derive(Default)]
struct Score {
    agree: usize,
    inconclusive: usize,
    disagree: usize,
    skipped: usize,
}

#[test]
fn verdicts_are_those_of_the_server() {
    let folder = root().join("verdicts/recorded/v1.36.4");
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    let mut differences = String::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let recorded: Value = serde_json::from_str(&text).unwrap();
        let theme = recorded["theme"].as_str().unwrap();
        let score = scores.entry(theme.to_owned()).or_default();
        compare_theme(theme, &recorded, score, &mut differences);
    }
    print_table(&scores);
    assert!(differences.is_empty(), "the server disagrees:\n{differences}");
}

fn print_table(scores: &BTreeMap<String, Score>) {
    println!("{:<26} {:>6} {:>9} {:>8} {:>8}", "theme", "agree", "inconclusive", "disagree", "skipped");
    let mut total = Score::default();
    for (theme, score) in scores {
        print_row(theme, score);
        total.agree += score.agree;
        total.inconclusive += score.inconclusive;
        total.disagree += score.disagree;
        total.skipped += score.skipped;
    }
    print_row("all", &total);
}

fn print_row(theme: &str, score: &Score) {
    let Score { agree, inconclusive, disagree, skipped } = score;
    println!("{theme:<26} {agree:>6} {inconclusive:>9} {disagree:>8} {skipped:>8}");
}

fn compare_theme(theme: &str, recorded: &Value, score: &mut Score, differences: &mut String) {
    let path = root().join("verdicts").join(format!("{theme}.yaml"));
    let mut sources = Sources::default();
    let id = sources.add(theme, std::fs::read_to_string(path).unwrap());
    let documents = parse(&sources, id).unwrap_or_else(|error| panic!("{theme}: {error}"));
    let cases = documents[0].get("cases").unwrap().items();
    let results = recorded["cases"].as_array().unwrap();
    assert_eq!(cases.len(), results.len(), "record {theme} again");
    for (node, result) in cases.iter().zip(results) {
        // `definitions.rs` tests the acceptance of definitions.
        if !result["crd"].is_null() {
            score.skipped += 1;
            continue;
        }
        let case = Case::new(theme, node, result, &sources);
        let schema = case.schema();
        let validator = Validator::new(&schema, KubeVersion::minor(36));
        let objects = node.get("objects").unwrap().items();
        for (index, (object, answer)) in objects.iter().zip(case.answers()).enumerate() {
            let admission = case.admit(&validator, object, index);
            case.score(index, &admission, answer, score, differences);
        }
    }
}

struct Case<'a> {
    theme: &'a str,
    name: &'a str,
    kind: &'a str,
    node: &'a Node,
    result: &'a Value,
    sources: &'a Sources,
}

impl<'a> Case<'a> {
    fn new(theme: &'a str, node: &'a Node, result: &'a Value, sources: &'a Sources) -> Self {
        let name = node.str_at("name").unwrap();
        assert_eq!(Some(name), result["name"].as_str(), "record {theme} again");
        let kind = result["kind"].as_str().unwrap();
        Self { theme, name, kind, node, result, sources }
    }

    fn answers(&self) -> &'a [Value] {
        self.result["objects"].as_array().unwrap()
    }

    fn form(&self) -> &'static str {
        let forms = ["schema", "specSchema", "rootSchema"];
        forms.into_iter().find(|form| self.node.get(form).is_some()).unwrap()
    }

    /// The schema of whole objects, built around the given one as the recorder builds it.
    fn schema(&self) -> Schema {
        let stated = Schema::read(self.node.get(self.form()).unwrap());
        match self.form() {
            "rootSchema" => stated,
            "specSchema" => around("spec", stated),
            _ => around("spec", around("value", stated)),
        }
    }

    fn flag(&self, name: &str) -> bool {
        self.node.get(name).and_then(Node::as_bool).unwrap_or_default()
    }

    fn admit(&self, validator: &Validator<'_>, object: &Node, index: usize) -> Admission {
        let (object, old) = if self.flag("updates") {
            let name = format!("value-{index}");
            let whole = |key| self.whole(object.get(key).unwrap(), &name);
            (whole("new"), Some(whole("old")))
        } else {
            (self.whole(object, "value"), None)
        };
        validator.admit(&Request {
            object: &object,
            old: old.as_ref(),
            group: GROUP,
            version: "v1",
            kind: self.kind,
            namespaced: false,
            status_subresource: self.flag("status"),
            scale: None,
        })
    }

    fn whole(&self, value: &Node, name: &str) -> Value {
        let value = plain(value, self.sources);
        let mut body = json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": self.kind, "metadata": {"name": name},
        });
        match self.form() {
            "schema" => body["spec"] = json!({"value": value}),
            "specSchema" => body["spec"] = value,
            _ => {
                for (key, mut value) in value.as_object().unwrap().clone() {
                    if let (true, Value::Object(metadata)) = (key == "metadata", &mut value) {
                        metadata.entry("name").or_insert_with(|| name.into());
                    }
                    body[key] = value;
                }
            }
        }
        body
    }

    fn score(&self, index: usize, admission: &Admission, answer: &Value, score: &mut Score, differences: &mut String) {
        let listed = INCONCLUSIVE.iter().any(|(theme, name, _)| (*theme, *name) == (self.theme, self.name));
        let (ours, theirs) = (self.ours(admission), self.theirs(answer));
        if listed {
            // Entries that are no longer needed must be removed.
            assert!(!admission.inconclusive.is_empty(), "{} is decided", self.name);
            score.inconclusive += 1;
        } else if ours == theirs && admission.inconclusive.is_empty() {
            score.agree += 1;
        } else {
            score.disagree += 1;
            let Self { theme, name, .. } = self;
            writeln!(differences, "{theme}: {name} [{index}]\n  ours:   {ours}\n  theirs: {theirs}").unwrap();
            for inconclusive in &admission.inconclusive {
                writeln!(differences, "  inconclusive: {inconclusive:?}").unwrap();
            }
            if let Outcome::Refused(violations) = &admission.outcome {
                for violation in violations {
                    writeln!(differences, "  {}: {}", violation.field, violation.message).unwrap();
                }
            }
        }
    }

    fn ours(&self, admission: &Admission) -> Value {
        match &admission.outcome {
            Outcome::Malformed(_) => json!(400),
            Outcome::Refused(violations) => {
                let causes: BTreeSet<_> = violations
                    .iter()
                    .map(|violation| format!("{} {}", violation.field, violation.reason.as_str()))
                    .collect();
                json!(causes)
            }
            Outcome::Admitted if self.form() == "rootSchema" => admission.object.clone(),
            Outcome::Admitted => admission.object.get("spec").cloned().unwrap_or_default(),
        }
    }

    fn theirs(&self, answer: &Value) -> Value {
        match answer["code"].as_u64() {
            Some(422) => {
                let text = |cause: &Value, key| cause[key].as_str().unwrap().to_owned();
                let causes: BTreeSet<_> = answer["causes"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|cause| format!("{} {}", text(cause, "field"), text(cause, "reason")))
                    .collect();
                json!(causes)
            }
            Some(code) if code >= 300 => json!(code),
            _ => {
                let mut object = printed(&answer["object"]);
                if self.form() == "rootSchema" {
                    let metadata = object["metadata"].as_object_mut().unwrap();
                    metadata.retain(|name, _| !SERVER_SET.contains(&name.as_str()));
                }
                object
            }
        }
    }
}

fn around(name: &str, inner: Schema) -> Schema {
    let mut outer = Schema::empty(inner.span);
    outer.ty = Some(crdproof_schema::structural::Type::Object);
    outer.properties.insert(name.to_owned(), inner);
    outer
}

/// The value as the recorder sends it: a number with a point or an exponent stays a fraction, while `kubectl` would
/// turn 1.0 into 1.
fn plain(node: &Node, sources: &Sources) -> Value {
    match &node.kind {
        Kind::List(items) => items.iter().map(|item| plain(item, sources)).collect(),
        Kind::Map(entries) => {
            let entries = entries.iter();
            let map: Map<_, _> = entries.map(|entry| (entry.key.clone(), plain(&entry.value, sources))).collect();
            Value::Object(map)
        }
        Kind::Number(_) => number(sources.slice(node.span)).unwrap_or_else(|| node.to_value()),
        Kind::Null | Kind::Bool(_) | Kind::String(_) => node.to_value(),
    }
}

fn number(text: &str) -> Option<Value> {
    text.contains(['.', 'e', 'E']).then(|| text.parse::<f64>().ok()).flatten().map(Value::from)
}

/// Normalises numbers: the recorder wrote 1e+21 and 18446744073709552000 as it read them.
fn printed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(printed).collect(),
        Value::Object(map) => {
            let entries = map.iter();
            Value::Object(entries.map(|(name, value)| (name.clone(), printed(value))).collect())
        }
        Value::Number(number) if !number.is_i64() => json!(number.as_f64()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
