//! YAML that is accepted, refused, and limited.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn read(text: &str) -> Result<Vec<Value>, String> {
    let mut sources = Sources::default();
    let id = sources.add("test.yaml", text);
    let documents = parse(&sources, id).map_err(|error| format!("{}: {error}", sources.place(error.span)))?;
    Ok(documents.iter().map(Node::to_value).collect())
}

#[rstest]
#[case("a: [1, {b: c}]\n", json!([{"a": [1, {"b": "c"}]}]))]
#[case("---\na: 1\n---\n---\n# nothing\n---\nb: 2\n", json!([{"a": 1}, {"b": 2}]))]
#[case("a: &x {p: 1}\nb: *x\nc: {<<: *x, q: 2}\nd: {p: 3, <<: *x}\n",
       json!([{"a": {"p": 1}, "b": {"p": 1}, "c": {"p": 1, "q": 2}, "d": {"p": 3}}]))]
#[case("\"<<\": 1\n", json!([{"<<": 1}]))]
#[case("a: \"yes\"\nb: 'no'\nc: |\n  on\n", json!([{"a": "yes", "b": "no", "c": "on\n"}]))]
#[case("1: a\ntrue: b\n", json!([{"1": "a", "true": "b"}]))]
#[case("a: !!str 1\nb: !!binary aGk=\n", json!([{"a": "1", "b": "hi"}]))]
#[case("{\"a\": \"\\u00e9\\ud83d\\ude00\\/\", \"b\":\t[1e2, -0, null]}", json!([{"a": "é😀/", "b": [100, 0, null]}]))]
#[case("a:\r\n  - b\r\n  - c\r\n", json!([{"a": ["b", "c"]}]))]
fn reads(#[case] text: &str, #[case] expected: Value) {
    assert_eq!(Value::Array(read(text).unwrap()), expected);
}

#[rstest]
#[case("a: 1\nb: 2\na: 3\n", "test.yaml:3:1: duplicate key \"a\"; the first one is on line 1")]
#[case("a: .inf\n", "test.yaml:1:4: JSON has no number for infinity or not-a-number")]
#[case("? [a]\n: b\n", "test.yaml:1:3: a key must be a string, a number or a boolean")]
fn errors_have_a_location(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(read(text).unwrap_err(), expected);
}

#[rstest]
#[case::nested(r#"{"a": {"b": [1, -2.5, 1e2, true, false, null, "x", {}, []]}, "c": ""}"#)]
#[case::spaces("\n { \"a\"\t:\r\n [ 1 , 2 ] , \"é\" : { } }\n\n")]
#[case::escapes(r#"{"a": "q\"\\\/\n\u00e9\ud83d\ude00", "k\"ey": "{\"x\": [1]}", "<<": {"a": 1}}"#)]
#[case::many_keys(r#"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1}"#)]
fn both_parsers_agree_on_json(#[case] text: &str) {
    let mut sources = Sources::default();
    let id = sources.add("a.json", text);
    let by_json = json::read(text, id, DEPTH_LIMIT).unwrap();
    let mut builder = Builder::new(id, sources.get(id));
    builder.read().unwrap();
    assert_eq!(builder.documents, [by_json]);
}

#[rstest]
#[case::twice(r#"{"a": 1, "a": 2}"#)]
#[case::plain_key("{a: 1}")]
#[case::plain_value(r#"{"a": b}"#)]
#[case::trailing(r#"{"a": 1,}"#)]
#[case::two_documents("{\"a\": 1}\n---\nb: 1\n")]
#[case::open(r#"{"a": "b"#)]
#[case::end_in_escape("{\"a\\")]
#[case::break_in_text("{\"a\": \"b\nc\"}")]
#[case::list("[1]")]
fn other_texts_are_left_to_the_yaml_parser(#[case] text: &str) {
    let mut sources = Sources::default();
    let id = sources.add("a.json", text);
    assert!(json::read(text, id, DEPTH_LIMIT).is_none());
    let deep = format!("{}{}", "{\"a\":".repeat(300), "}".repeat(300));
    assert!(json::read(&deep, id, DEPTH_LIMIT).is_none());
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        text.push_str(&format!("a{level}: &a{level} [{}]\n", below.trim_end_matches(", ")));
    }
    assert!(read(&text).unwrap_err().contains("more than 32 MiB"));
}

#[test]
fn aliases_and_anchors_are_counted_in_bytes() {
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(100_000).trim_end_matches(", "));
    assert!(read(&long).unwrap_err().contains("more than 32 MiB"));
    let (open, close) = ("&a [".repeat(250), "]".repeat(250));
    let nested = format!("a: {open}{}{close}\n", "x, ".repeat(80_000).trim_end_matches(", "));
    assert!(read(&nested).unwrap_err().contains("more than 32 MiB"));
}

#[test]
fn merge_keys_take_linear_time() {
    let keys: String = (0..60_000).map(|number| format!("  key{number}: 1\n")).collect();
    let began = std::time::Instant::now();
    let read = read(&format!("a: &a\n{keys}b:\n  own: 1\n  <<: *a\n")).unwrap();
    assert_eq!(read[0]["b"].as_object().map(serde_json::Map::len), Some(60_001));
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
}

#[test]
fn the_depth_of_aliases_is_bounded() {
    let mut text = "a0: &a0 x\n".to_owned();
    for level in 1..90 {
        let (open, close) = ("[".repeat(250), "]".repeat(250));
        text.push_str(&format!("a{level}: &a{level} {open}*a{}{close}\n", level - 1));
    }
    assert_eq!(read(&text).unwrap_err(), "test.yaml:3:259: collections nest deeper than 255 levels here");
}

#[test]
fn spans_cover_their_source_text() {
    let mut sources = Sources::default();
    let text = "spec:\n  names: {kind: A}\n  list:\n  - one\n  - two\nnext: 1\n";
    let id = sources.add("test.yaml", text);
    let document = &parse(&sources, id).unwrap()[0];
    let slice = |keys: &[&str]| sources.slice(document.at(keys).unwrap().span);
    assert_eq!(slice(&["spec", "names"]), "{kind: A}");
    assert_eq!(slice(&["spec", "list"]), "one\n  - two");
    assert_eq!(slice(&["next"]), "1");
    assert_eq!(sources.slice(document.entry("spec").unwrap().key_span), "spec");
}
