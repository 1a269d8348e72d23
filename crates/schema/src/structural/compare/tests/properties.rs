//! Properties of all schemas.

use proptest::prelude::*;

use super::super::node::{PROSE, UNDERSTOOD};
use super::super::rule_logic::Formula;
use super::deltas;

/// A value of each keyword, and another one with a different meaning.
const CHANGES: [(&str, &str, &str); 37] = [
    ("additionalProperties", "true", "{type: string}"),
    ("allOf", "[{minLength: 1}]", "[{minLength: 2}]"),
    ("anyOf", "[{minLength: 1}]", "[{minLength: 2}]"),
    ("default", "a", "b"),
    ("description", "", "text"),
    ("enum", "[a]", "[b]"),
    ("example", "a", "b"),
    ("exclusiveMaximum", "false", "true"),
    ("exclusiveMinimum", "false", "true"),
    ("externalDocs", "{url: a}", "{url: b}"),
    ("format", "date", "ipv4"),
    ("items", "{type: string}", "{type: integer}"),
    ("maxItems", "1", "2"),
    ("maxLength", "1", "2"),
    ("maxProperties", "1", "2"),
    ("maximum", "10", "20"),
    ("minItems", "1", "2"),
    ("minLength", "1", "2"),
    ("minProperties", "1", "2"),
    ("minimum", "1", "2"),
    ("multipleOf", "1", "2"),
    ("not", "{minLength: 1}", "{minLength: 2}"),
    ("nullable", "false", "true"),
    ("oneOf", "[{minLength: 1}]", "[{minLength: 2}]"),
    ("pattern", "a", "b"),
    ("properties", "{a: {}}", "{b: {}}"),
    ("required", "[a]", "[b]"),
    ("title", "a", "b"),
    ("type", "string", "integer"),
    ("uniqueItems", "false", "true"),
    ("x-kubernetes-embedded-resource", "false", "true"),
    ("x-kubernetes-int-or-string", "false", "true"),
    ("x-kubernetes-list-map-keys", "[a]", "[b]"),
    ("x-kubernetes-list-type", "set", "map"),
    ("x-kubernetes-map-type", "granular", "atomic"),
    ("x-kubernetes-preserve-unknown-fields", "false", "true"),
    ("x-kubernetes-validations", "[{rule: a}]", "[{rule: b}]"),
];

#[test]
fn every_change_of_a_single_keyword_is_reported() {
    let covered: Vec<_> = CHANGES.iter().map(|(keyword, ..)| *keyword).collect();
    let mut known: Vec<_> = UNDERSTOOD.iter().chain(&PROSE).copied().collect();
    known.sort_unstable();
    assert_eq!(covered, known, "give each known keyword a row");
    let bounds = |keyword: &str| match keyword {
        "exclusiveMaximum" => "maximum: 5, ",
        "exclusiveMinimum" => "minimum: 5, ",
        _ => "",
    };
    let invented = [("x-invented", "a", "b"), ("patternProperties", "{}", "{a: {}}")];
    for (keyword, old, new) in CHANGES.into_iter().chain(invented) {
        let base = bounds(keyword);
        let with = |value: &str| match (keyword, value) {
            ("description", "") => format!("{{{base}}}"),
            _ => format!("{{{base}{keyword}: {value}}}"),
        };
        let without = format!("{{{base}}}");
        for (old, new) in
            [(with(old), with(new)), (with(new), with(old)), (without.clone(), with(new)), (with(new), without)]
        {
            assert!(!deltas(&old, &new).is_empty(), "{old} → {new}");
        }
    }
}

/// Small schemas over all keywords.
fn any_schema() -> impl Strategy<Value = String> {
    let keyword = prop::sample::select(&CHANGES[..]);
    let pair = (keyword, any::<bool>()).prop_map(|((name, old, new), pick)| {
        let value = if pick { old } else { new };
        (name, if value.is_empty() { "x" } else { value }.to_owned())
    });
    let leaf = prop::collection::btree_map(prop::sample::select(vec!["maximum", "title"]), Just("1".to_owned()), 0..2);
    let flat = prop::collection::vec(pair, 0..8).prop_map(|pairs| pairs.into_iter().collect());
    let show = |map: std::collections::BTreeMap<&'static str, String>| {
        let parts: Vec<_> = map.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        format!("{{{}}}", parts.join(", "))
    };
    prop_oneof![leaf, flat].prop_map(show).prop_recursive(3, 12, 3, |inner| {
        (inner.clone(), inner).prop_map(|(a, b)| format!("{{properties: {{a: {a}, b: {b}}}, items: {a}}}"))
    })
}

proptest! {
    #[test]
    fn a_schema_does_not_differ_from_itself(text in any_schema()) {
        prop_assert_eq!(deltas(&text, &text), Vec::<String>::new());
    }

    #[test]
    fn differences_are_symmetric(old in any_schema(), new in any_schema()) {
        prop_assert_eq!(deltas(&old, &new).is_empty(), deltas(&new, &old).is_empty());
    }

    #[test]
    fn no_rule_is_too_odd_to_compare(old in "\\PC{0,40}", new in "[a-z|&()!<>=?:'\" .,0-9\\[\\]]{0,40}") {
        let (old, new) = (Formula::read(&old), Formula::read(&new));
        prop_assert!(old.implies(&old) && new.implies(&new));
        old.implies(&new);
    }
}
