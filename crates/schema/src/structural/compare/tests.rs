//! Every keyword, in both directions.

mod implied;
mod properties;
mod rule_logic;

use rstest::rstest;

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
    "{type: object, x-kubernetes-preserve-unknown-fields: true}",
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
#[case("{pattern: '^a'}", "{pattern: '^b'}", "Narrower .: pattern changed from ^a to ^b")]
#[case("{pattern: '^a'}", "{pattern: 'a(?=b)'}", "Unknown .: pattern changed from ^a to a(?=b)")]
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
fn changes_that_a_server_ignores_are_harmless(#[case] old: &str, #[case] new: &str) {
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
fn a_rule_that_only_asks_for_what_was_required_is_harmless() {
    let found = deltas("{required: [a]}", "{required: [a], x-kubernetes-validations: [{rule: has(self.a)}]}");
    assert_eq!(found, ["Harmless .: rule `has(self.a)` added"]);
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
