//! Every keyword, both ways.

use proptest::prelude::*;
use rstest::rstest;

use super::node::{PROSE, UNDERSTOOD};
use super::*;
use crate::document::{Sources, parse};

fn schema(text: &str) -> Schema {
    let mut sources = Sources::default();
    let id = sources.add("schema.yaml", text);
    Schema::read(&parse(&sources, id).unwrap()[0])
}

/// All differences as `direction path: words`.
fn deltas(old: &str, new: &str) -> Vec<String> {
    let deltas = compare(&schema(old), &schema(new));
    let show = |delta: &Delta| format!("{:?} {}: {delta}", delta.direction, delta.path);
    deltas.iter().map(show).collect()
}

#[rstest]
#[case("{type: integer}", "{type: number}", "Wider .: type changed from integer to number")]
#[case("{type: number}", "{type: integer}", "Narrower .: type changed from number to integer")]
#[case("{type: string}", "{x-kubernetes-int-or-string: true}", "Wider .: type changed from string to int-or-string")]
#[case(
    "{x-kubernetes-int-or-string: true}",
    "{type: integer}",
    "Narrower .: type changed from int-or-string to integer"
)]
#[case(
    "{type: object}",
    "{x-kubernetes-preserve-unknown-fields: true}",
    "Wider .: type changed from object to any type"
)]
#[case("{type: string}", "{type: boolean}", "Narrower .: type changed from string to boolean")]
#[case("{maximum: 10}", "{maximum: 5}", "Narrower .: maximum lowered from 10 to 5")]
#[case("{maximum: 5}", "{maximum: 10}", "Wider .: maximum raised from 5 to 10")]
#[case("{maximum: 5}", "{maximum: 5, exclusiveMaximum: true}", "Narrower .: maximum changed from 5 to 5 (exclusive)")]
#[case("{minimum: 1}", "{minimum: 2}", "Narrower .: minimum raised from 1 to 2")]
#[case("{minimum: 1, exclusiveMinimum: true}", "{minimum: 1}", "Wider .: minimum changed from 1 (exclusive) to 1")]
#[case("{}", "{minimum: 0}", "Narrower .: minimum 0 added")]
#[case("{minLength: 1}", "{}", "Wider .: minLength 1 removed")]
#[case("{}", "{maxItems: 3}", "Narrower .: maxItems 3 added")]
#[case("{minProperties: 2}", "{minProperties: 1}", "Wider .: minProperties lowered from 2 to 1")]
#[case("{multipleOf: 4}", "{multipleOf: 2}", "Wider .: multipleOf lowered from 4 to 2")]
#[case("{multipleOf: 2}", "{multipleOf: 3}", "Narrower .: multipleOf raised from 2 to 3")]
#[case("{enum: [a, b]}", "{enum: [b, c]}", "Narrower .: enum lost \"a\", gained \"c\"")]
#[case("{enum: [a]}", "{enum: [b, a]}", "Wider .: enum gained \"b\"")]
#[case("{}", "{enum: [a]}", "Narrower .: limited to \"a\"")]
#[case("{enum: [a]}", "{}", "Wider .: no longer limited to \"a\"")]
#[case("{}", "{pattern: '^a'}", "Narrower .: pattern ^a added")]
#[case("{}", "{pattern: '.*'}", "Harmless .: pattern .* added")]
#[case("{pattern: '^(a|b)$'}", "{pattern: '^(a|b|c)$'}", "Wider .: pattern changed from ^(a|b)$ to ^(a|b|c)$")]
#[case("{pattern: '^a'}", "{pattern: '^b'}", "Unknown .: pattern changed from ^a to ^b")]
#[case("{type: string}", "{type: string, format: ipv4}", "Narrower .: format ipv4 added")]
#[case("{type: string, format: uuid4}", "{type: string, format: uuid}", "Wider .: format changed from uuid4 to uuid")]
#[case(
    "{type: string, format: date}",
    "{type: string, format: date-time}",
    "Narrower .: format changed from date to date-time"
)]
#[case("{type: string}", "{type: string, format: unheard-of}", "Harmless .: format unheard-of added")]
#[case(
    "{type: integer, format: int32}",
    "{type: integer, format: int64}",
    "Wider .: format changed from int32 to int64"
)]
#[case("{nullable: true}", "{}", "Narrower .: may no longer be null")]
#[case("{properties: {a: {nullable: true}}}", "{properties: {a: {}}}", "Lossy .a: may no longer be null")]
#[case("{}", "{nullable: true}", "Wider .: may now be null")]
#[case("{default: 1}", "{default: 2}", "Meaning .: default changed from 1 to 2")]
#[case("{}", "{default: {a: 1}}", "Meaning .: default {\"a\":1} added")]
#[case(
    "{x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]}",
    "{x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b]}",
    "Meaning .: list keys changed from [a] to [a, b]"
)]
#[case("{}", "{x-kubernetes-list-type: set}", "Meaning .: list type changed from atomic to set")]
#[case("{}", "{x-kubernetes-map-type: atomic}", "Meaning .: map type changed from granular to atomic")]
#[case("{x-kubernetes-preserve-unknown-fields: true}", "{}", "Lossy .: unknown fields are no longer kept")]
#[case(
    "{}",
    "{x-kubernetes-embedded-resource: true}",
    "Narrower .: became an embedded resource, which needs apiVersion and kind"
)]
#[case("{additionalProperties: {type: string}}", "{}", "Lossy .: map values changed from described ones to none")]
#[case(
    "{additionalProperties: {type: string}}",
    "{additionalProperties: true}",
    "Wider .: map values changed from described ones to undescribed ones"
)]
#[case(
    "{additionalProperties: {type: object}}",
    "{additionalProperties: true}",
    "Lossy .: map values changed from described ones to undescribed ones"
)]
#[case("{}", "{additionalProperties: {type: string}}", "Wider .: map values changed from none to described ones")]
#[case(
    "{additionalProperties: {maximum: 3}}",
    "{additionalProperties: {maximum: 2}}",
    "Narrower .*: maximum lowered from 3 to 2"
)]
#[case("{items: {maxLength: 3}}", "{items: {maxLength: 2}}", "Narrower [*]: maxLength lowered from 3 to 2")]
#[case("{properties: {a: {}}}", "{properties: {a: {}, b: {}}}", "Wider .b: field added")]
#[case(
    "{x-kubernetes-preserve-unknown-fields: true}",
    "{x-kubernetes-preserve-unknown-fields: true, properties: {b: {}}}",
    "Narrower .b: field added"
)]
#[case("{properties: {a: {properties: {x: {}}}, b: {}}}", "{properties: {b: {}}}", "Lossy .a: field removed")]
#[case("{required: [a, b]}", "{required: [b]}", "Wider .a: no longer required")]
#[case("{}", "{required: [a]}", "Narrower .a: became required")]
#[case(
    "{properties: {a: {default: 1}}}",
    "{properties: {a: {default: 1}}, required: [a]}",
    "Harmless .a: became required, with a default"
)]
#[case("{}", "{allOf: [{minLength: 1}]}", "Narrower .: allOf gained 1 branch")]
#[case("{anyOf: [{minLength: 1}]}", "{anyOf: [{minLength: 1}, {format: date}]}", "Wider .: anyOf gained 1 branch")]
#[case(
    "{anyOf: [{maxLength: 1}, {format: date}]}",
    "{anyOf: [{maxLength: 2}, {format: date}]}",
    "Wider .: anyOf changed: 1 branch gone, 1 branch new"
)]
#[case(
    "{oneOf: [{minLength: 1}]}",
    "{oneOf: [{minLength: 2}]}",
    "Unknown .: oneOf changed: 1 branch gone, 1 branch new"
)]
#[case("{not: {minLength: 1}}", "{}", "Wider .: not lost 1 branch")]
#[case("{title: a}", "{title: b}", "Harmless .: title changed")]
#[case("{x-invented: a}", "{x-invented: b}", "Unknown .: keyword `x-invented` changed from \"a\" to \"b\"")]
#[case("{maximum: 1}", "{maximum: ten}", "Unknown .: keyword `maximum` changed from 1 to \"ten\"")]
fn one_difference(#[case] old: &str, #[case] new: &str, #[case] expected: &str) {
    let found = deltas(old, new);
    assert!(found.iter().any(|delta| delta == expected), "{found:#?}");
    let extra = usize::from(expected.contains("maximum` changed"));
    assert_eq!(found.len(), 1 + extra, "{found:#?}");
}

#[rstest]
#[case("{required: [a, b]}", "{required: [b, a]}")]
#[case("{enum: [1, 2]}", "{enum: [2, 1.0]}")]
#[case("{}", "{nullable: false, minItems: 0, x-kubernetes-list-type: atomic}")]
#[case("{anyOf: [{minLength: 1, description: a}]}", "{anyOf: [{minLength: 1}]}")]
#[case(
    "{x-kubernetes-int-or-string: true}",
    "{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}"
)]
#[case("{properties: {a: {}, b: {}}}", "{properties: {b: {}, a: {}}}")]
fn nothing_that_a_server_sees(#[case] old: &str, #[case] new: &str) {
    assert_eq!(deltas(old, new), [""; 0]);
}

#[rstest]
#[case("self.a > 1", "(1 < self.a)", &[])]
#[case("self.a", "self.a || self.b", &["Wider .: rule loosened from `self.a` to `self.a || self.b`"])]
#[case("self.a", "self.a && self.b", &["Narrower .: rule tightened from `self.a` to `self.a && self.b`"])]
#[case("self.startsWith('abc')", "self.startsWith('abd')", &["Unknown .: rule changed from `self.startsWith('abc')` to `self.startsWith('abd')`"])]
#[case("true", "!has(self.fresh) || self.fresh > 1", &["Harmless .: rule `!has(self.fresh) || self.fresh > 1` added", "Harmless .: rule `true` removed"])]
#[case("self == oldSelf && self.a", "self.a", &["Unknown .: rule changed from `self == oldSelf && self.a` to `self.a`"])]
fn rules(#[case] old: &str, #[case] new: &str, #[case] expected: &[&str]) {
    let text = |rule: &str, more: &str| {
        format!("{{properties: {{{more}}}, x-kubernetes-validations: [{{rule: \"{rule}\", message: m}}]}}")
    };
    let found = deltas(&text(old, ""), &text(new, "fresh: {type: integer}"));
    let found: Vec<_> = found.iter().filter(|delta| delta.contains("rule")).collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    assert!(found.iter().zip(expected).all(|(found, expected)| found == expected), "{found:#?}");
}

#[test]
fn rules_that_were_split_or_reworded_say_the_same() {
    let rules = |rules: &str| format!("{{x-kubernetes-validations: [{rules}]}}");
    let found = deltas(&rules("{rule: 'a && b'}"), &rules("{rule: b}, {rule: a}"));
    assert!(found.iter().all(|delta| delta.starts_with("Harmless") || delta.starts_with("Wider")), "{found:#?}");
    let found = deltas(&rules("{rule: a, message: x}"), &rules("{rule: a, message: y}"));
    assert_eq!(found, ["Harmless .: x-kubernetes-validations changed"]);
}

#[test]
fn a_property_that_becomes_a_map_value_is_removed_and_added() {
    let found = deltas("{properties: {a: {type: string}}}", "{additionalProperties: {type: string}}");
    let expected = ["Lossy .a: field removed", "Wider .: map values changed from none to described ones"];
    assert_eq!(found, expected);
}

#[test]
fn a_rename_is_recognised() {
    let found = deltas("{properties: {proxyURL: {type: string}}}", "{properties: {proxyUrl: {type: string}}}");
    assert_eq!(found[1], "Lossy .proxyURL: field removed, perhaps renamed to `proxyUrl`");
}

/// A value of each keyword, and another one that means something else.
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
fn every_keyword_is_seen_when_it_alone_changes_comes_or_goes() {
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
    fn what_differs_one_way_differs_the_other(old in any_schema(), new in any_schema()) {
        prop_assert_eq!(deltas(&old, &new).is_empty(), deltas(&new, &old).is_empty());
    }

    #[test]
    fn no_rule_is_too_odd_to_compare(old in "\\PC{0,40}", new in "[a-z|&()!<>=?:'\" .,0-9\\[\\]]{0,40}") {
        let (old, new) = (cel::Expr::read(&old), cel::Expr::read(&new));
        prop_assert!(old.implies(&old) && new.implies(&new));
        old.implies(&new);
    }
}
