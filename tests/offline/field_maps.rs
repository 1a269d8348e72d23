//! Field maps from the outside: the examples in the documentation are true, mistakes have locations, and the fixture
//! round-trips.

use crdproof::subject::field_map::{FieldMap, Relation, expected, inverse_gaps};
use crdproof::subject::load;
use crdproof_schema::document::{Sources, decode, parse};
use rstest::rstest;
use serde_json::{Value, json};

use crate::cli::repository;
use crate::fixture::{load, root};

/// The values of the documents of a text.
fn documents(text: &str) -> Vec<Value> {
    let mut sources = Sources::default();
    let id = sources.add("block", text);
    let documents = parse(&sources, id).unwrap_or_else(|error| panic!("{}\n{text}", error.message));
    documents.iter().map(crdproof_schema::document::Node::to_value).collect()
}

fn read_map(block: &str) -> FieldMap {
    let mut sources = Sources::default();
    let id = sources.add("block", format!("crd: a.example.com\nbetween: [v1, v2]\n{block}"));
    let documents = parse(&sources, id).unwrap_or_else(|error| panic!("{}\n{block}", error.message));
    decode(&documents[0]).unwrap_or_else(|error| panic!("{error}\n{block}"))
}

/// Removes the annotations of a stash, which examples do not show.
fn without_stash(mut object: Value) -> Value {
    if object["metadata"] == json!({}) {
        object.as_object_mut().unwrap().remove("metadata");
    }
    object
}

fn holds(relation: &Relation<'_>, example: &Value, from: &str, to: &str) {
    let converted = relation.convert(&example[from], from, to);
    match (converted, example["refused"].as_str()) {
        (Ok(converted), None) => {
            assert_eq!(without_stash(converted), without_stash(example[to].clone()), "{from} to {to}");
        }
        (Err(refusal), Some(words)) => assert_eq!(refusal.to_string(), words),
        (Ok(converted), Some(words)) => panic!("{converted} was not refused: {words}"),
        (Err(refusal), None) => panic!("{example}: {refusal}"),
    }
}

#[test]
fn field_map_examples_are_true() {
    let page = std::fs::read_to_string(repository().join("docs/field-maps.md")).unwrap();
    let mut map = None;
    let mut seen = 0;
    let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split_once("```"));
    for (block, _) in blocks {
        if !["v1:", "v2:", "from:"].iter().any(|key| block.starts_with(key)) {
            map = Some(read_map(block));
            continue;
        }
        let map = map.as_ref().expect("a map stands before its examples");
        let relation = Relation::new([map], |_| None).unwrap_or_else(|wrong| panic!("{wrong}\n{block}"));
        let example = &documents(block)[0];
        for (from, to) in [("v1", "v2"), ("v2", "v1")] {
            if example["from"].is_null() || example["from"] == from {
                holds(&relation, example, from, to);
                seen += 1;
            }
        }
    }
    assert!(seen > 25, "only {seen} conversions were shown");
}

#[test]
fn every_field_map_operator_has_an_example() {
    let page = std::fs::read_to_string(repository().join("docs/field-maps.md")).unwrap();
    let schema = schemars::schema_for!(FieldMap).to_value();
    for name in schema["properties"].as_object().unwrap().keys() {
        let described = page.contains(&format!("\n## `{name}`: ")) && page.contains(&format!("```yaml\n{name}:\n"));
        assert!(described || matches!(name.as_str(), "crd" | "between"), "{name} is not on the page");
    }
}

const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.example.com}
spec:
  group: example.com
  names: {kind: App, listKind: AppList, plural: apps, singular: app}
  scope: Namespaced
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a.example.com'}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {host: {type: string}, port: {type: integer}, l: {type: array, items: {type: object, properties: {a: {type: string}}}}}
  - name: v2
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {endpoint: {type: string}, host: {type: string}, port: {type: integer}}
";

/// The error for a subject file whose only field map has these operators, from line 7 on.
fn mistake(operators: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let head = "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {paths: [crd.yaml]}\nfieldMaps:\n\
                - crd: apps.example.com\n  between: [v1, v2]\n";
    std::fs::write(folder.path().join("crd.yaml"), CRD).unwrap();
    std::fs::write(folder.path().join("crdproof.yaml"), format!("{head}{operators}")).unwrap();
    let error = load::from_file(&folder.path().join("crdproof.yaml")).unwrap_err();
    let place = error.place.as_ref().unwrap();
    assert!(place.file.ends_with("crdproof.yaml"));
    format!("{}:{}: {} ({})", place.line, place.column, error.message, error.help.unwrap())
}

#[rstest]
#[case("  rename: [{v1: .spec.hots, v2: .spec.endpoint}]\n", "7:17: v1 has no field .spec.hots (did you mean `host`?)")]
#[case(
    "  rename: [{v1: .spec.host, v3: .spec.endpoint}]\n",
    "7:33: \"v3\" is not one of the two versions (this map relates v1 and v2)"
)]
#[case(
    "  rename:\n  - {v1: '.spec.host[*]', v2: '.spec.endpoint[*]'}\n",
    "8:10: v1 has neither a list nor a map at .spec.host[*] (leave [*] off)"
)]
#[case(
    "  rename:\n  - {v1: .spec.host, v2: .spec.endpoint}\n  - {v1: .spec.port, v2: .spec.endpoint}\n",
    "9:26: another operator writes .spec.endpoint of v2 already (let one operator say what becomes of a field)"
)]
#[case(
    "  values:\n  - paths: {v1: .spec.host, v2: .spec.endpoint}\n    table:\n    - {v1: a, v2: b}\n    - {v1: a, v2: c}\n",
    "11:12: another row has this value of v1 already"
)]
#[case(
    "  split:\n  - version: v2\n    path: .spec.endpoint\n    template: \"{h}{p}\"\n    parts: {h: {path: .spec.host}, p: {path: .spec.port}}\n",
    "10:15: nothing separates the parts h and p"
)]
#[case(
    "  split:\n  - version: v2\n    path: .spec.endpoint\n    template: \"{h}\"\n    parts: {h: {path: .spec.host, pattern: '('}}\n",
    "11:44: the pattern does not compile"
)]
#[case(
    "  compute:\n  - v1: {path: .spec.host, expression: self.spec.endpoint}\n    v2: {path: .spec.endpoint, expression: 'self.spec.('}\n",
    "9:44: the expression cannot be used"
)]
#[case("  wrap: [{paths: {v1: .spec.host, v2: .spec.endpoint}, list: v2}]\n", "7:10: the key \"otherwise\" is missing")]
#[case(
    "  values: [{paths: {v1: .spec.host, v2: .spec.endpoint}, table: [{v1: a, v2: b}], otherwise: {stsh: a}}]\n",
    "7:95: unknown value \"stsh\" (did you mean `stash`?)"
)]
#[case("  rename: []\n- {crd: apps.example.com, between: [v2, v1]}\n", "8:36: another map relates v1 and v2 already")]
fn a_mistake_in_a_field_map_has_a_location_and_a_remedy(#[case] operators: &str, #[case] words: &str) {
    let told = mistake(operators);
    assert!(told.starts_with(words), "{told}");
}

#[test]
fn the_field_map_of_kustomizations_has_no_gaps() {
    let subject = load(&root().join("crds/kustomizations"));
    let crd = &subject.crds[0];
    let maps: Vec<_> = subject.field_maps_of(crd).map(|(_, map)| map).collect();
    let relation = Relation::new(maps.iter().copied(), |version| crd.version(version)?.schema.as_ref()).unwrap();
    let objects: Vec<Value> = subject.samples.iter().map(|sample| sample.object.clone()).collect();
    assert!(objects.len() > 3);
    assert_eq!(inverse_gaps(&relation, &maps, &objects), []);
    let rich = objects.iter().find(|object| object["metadata"]["name"] == "patched").unwrap();
    let converted = expected(&relation, rich, "v1beta1", "v1beta2").unwrap();
    let patches = &converted["spec"]["patches"];
    assert_eq!(patches[1]["patch"].as_str().unwrap().chars().next(), Some('{'), "{patches}");
    assert_eq!(patches[2]["patch"].as_str().unwrap().chars().next(), Some('['), "{patches}");
    assert!(converted["spec"].get("patchesStrategicMerge").is_none());
}
