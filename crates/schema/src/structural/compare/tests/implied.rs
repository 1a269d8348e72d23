//! Constraints of a new state that old objects satisfy anyway; and similar ones that they do not.

use rstest::rstest;

use super::deltas;

/// The differences that are neither harmless nor wider.
fn breaking(old: &str, new: &str) -> Vec<String> {
    let is_safe = |delta: &String| delta.starts_with("Harmless") || delta.starts_with("Wider");
    deltas(old, new).into_iter().filter(|delta| !is_safe(delta)).collect()
}

#[rstest]
#[case("type: integer, format: int32", "type: integer, format: int32, minimum: -2147483648, maximum: 2147483647")]
#[case("type: integer, minimum: 0, exclusiveMinimum: true", "type: integer, minimum: 1")]
#[case("type: integer, enum: [1, 2]", "type: integer, enum: [1, 2], maximum: 2, minimum: 1")]
#[case("type: string, enum: [ab, cd]", "type: string, enum: [ab, cd], pattern: '^[a-d]+$', minLength: 2")]
#[case("type: string, pattern: '^[a-z]{1,63}$'", "type: string, pattern: '^[a-z]{1,63}$', minLength: 1, maxLength: 63")]
#[case("type: string, pattern: '^(a|b)$'", "type: string, enum: [a, b, c]")]
#[case("type: string, maxLength: 3, pattern: '^a*$'", "type: string, pattern: '^a{0,3}$'")]
#[case("type: string, format: uuid", "type: string, format: uuid, minLength: 32, maxLength: 36")]
#[case("type: boolean", "type: boolean, enum: [true, false]")]
#[case(
    "type: array, x-kubernetes-list-type: set, items: {type: string, enum: [a, b]}",
    "type: array, x-kubernetes-list-type: set, items: {type: string, enum: [a, b]}, maxItems: 2"
)]
#[case(
    "type: object, required: [a], properties: {a: {}}",
    "type: object, required: [a], minProperties: 1, properties: {a: {}}"
)]
#[case("type: array, items: {type: object}", "x-kubernetes-preserve-unknown-fields: true")]
#[case("type: object, properties: {a: {}}", "x-kubernetes-preserve-unknown-fields: true")]
fn keywords_imply_keywords(#[case] old: &str, #[case] new: &str) {
    let wrap = |text: &str| format!("{{properties: {{x: {{{text}}}}}}}");
    assert_eq!(breaking(&wrap(old), &wrap(new)), [""; 0]);
}

#[rstest]
#[case("type: integer", "type: integer, minimum: -2147483648")]
#[case("type: number, minimum: 0, exclusiveMinimum: true", "type: number, minimum: 1")]
#[case("type: integer, enum: [1, 2]", "type: integer, enum: [1, 2], maximum: 1")]
#[case("type: string, pattern: '[a-z]{1,63}'", "type: string, pattern: '[a-z]{1,63}', maxLength: 63")]
#[case("type: string, pattern: '^(a|b)$'", "type: string, enum: [a]")]
#[case("type: string, pattern: '^(a|b)$'", "type: string, pattern: '^a$'")]
#[case("type: string, enum: [a, b]", "type: string, enum: [a, b], pattern: '^a$'")]
#[case(
    "type: array, x-kubernetes-list-type: atomic, items: {type: string, enum: [a, b]}",
    "type: array, x-kubernetes-list-type: atomic, items: {type: string, enum: [a, b]}, maxItems: 2"
)]
#[case("type: object, properties: {a: {}}", "type: object, properties: {a: {}, b: {default: 1}}, maxProperties: 1")]
#[case("x-kubernetes-preserve-unknown-fields: true", "type: array, items: {type: string}")]
fn keywords_do_not_imply_keywords(#[case] old: &str, #[case] new: &str) {
    let wrap = |text: &str| format!("{{properties: {{x: {{{text}}}}}}}");
    assert_ne!(breaking(&wrap(old), &wrap(new)), [""; 0]);
}

/// Rules over an object with an optional `a`, `b` and `num`, a required `r`, a nested `o.p`, and new fields: `fresh`
/// without a default, `given` with one.
fn with_rules(old: &str, new: &str) -> (String, String) {
    let fields =
        "a: {type: string}, b: {type: string}, num: {type: integer, minimum: 1}, r: {type: string, enum: [x, w]}";
    let state = |more: &str, nested: &str, rule: &str| {
        format!(
            "{{type: object, required: [r], properties: {{{fields}, o: {{type: object, properties: {{p: {{type: string}}{nested}}}}}{more}}}, x-kubernetes-validations: [{rule}]}}"
        )
    };
    let rule = |text: &str| if text.is_empty() { String::new() } else { format!("{{rule: \"{text}\"}}") };
    let fresh = ", fresh: {type: string}, given: {type: string, default: d}";
    (state("", "", &rule(old)), state(fresh, ", q: {type: string}", &rule(new)))
}

#[rstest]
#[case("", "!has(self.fresh) || self.fresh != ''")]
#[case("", "has(self.given) && self.given == 'd'")]
#[case("", "!has(self.o) || !has(self.o.q)")]
#[case("", "has(self.o) ? !has(self.o.q) || self.o.q.size() > 1 : true")]
#[case("", "!has(self.fresh) || has(self.fresh) && self.a == self.fresh")]
#[case("", "self.?fresh.orValue('none') == 'none'")]
#[case("", "has(self.r)")]
#[case("", "self.r in ['x', 'w', 'z']")]
#[case("", "self.r != 'q'")]
#[case("", "!has(self.num) || self.num > 0")]
#[case("", "[has(self.a), has(self.fresh)].filter(x, x == true).size() <= 1")]
#[case(
    "[has(self.a),has(self.b)].filter(x,x==true).size() == 1",
    "[has(self.a),has(self.b),has(self.fresh)].filter(x,x==true).size() == 1"
)]
#[case("[has(self.a),has(self.b)].exists_one(x, x)", "has(self.a) != has(self.b)")]
#[case("has(self.a) != has(self.b)", "!has(self.a) || !has(self.b)")]
#[case("has(self.a) && !has(self.b) || !has(self.a) && has(self.b)", "[has(self.a),has(self.b)].exists_one(x, x)")]
#[case("(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) == 1", "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1")]
#[case("self.a in ['x']", "self.a in ['x', 'y']")]
#[case("self.o.p == 'x'", "has(self.o.p)")]
#[case("!has(self.a) || self.a == 'it''s'", "!has(self.a) || self.a in ['it''s', 'z']")]
fn rules_that_old_objects_satisfy(#[case] old: &str, #[case] new: &str) {
    let (old, new) = with_rules(&old.replace("''", "\\\\'"), &new.replace("it''s", "it\\\\'s"));
    assert_eq!(breaking(&old, &new), [""; 0]);
}

#[rstest]
#[case("", "has(self.fresh)")]
#[case("", "self.fresh == ''")]
#[case("", "self.given != 'd'")]
#[case("", "!has(self.o.q)")]
#[case("", "self.r == 'x'")]
#[case("", "self.num > 0")]
#[case("", "!has(self.num) || self.num > 1")]
#[case("", "self.?fresh.orValue('none') != 'none'")]
#[case("", "!has(self.a) || self.a != ''")]
#[case(
    "[has(self.a),has(self.b)].filter(x,x==true).size() <= 1",
    "[has(self.a),has(self.b)].filter(x,x==true).size() == 1"
)]
#[case("!has(self.a) || !has(self.b)", "has(self.a) != has(self.b)")]
#[case("self.a in ['x', 'y']", "self.a in ['x']")]
#[case("!has(self.o) || self.o.p == 'x'", "self.o.p == 'x'")]
fn rules_that_old_objects_may_break(#[case] old: &str, #[case] new: &str) {
    let (old, new) = with_rules(old, new);
    assert_ne!(breaking(&old, &new), [""; 0]);
}

/// The old rule was true of the old values; the new default changes them.
#[test]
fn a_fact_about_a_field_with_a_new_default_is_ignored() {
    let state = |default: &str, rule: &str| {
        format!(
            "{{properties: {{a: {{type: string{default}}}, b: {{}}}}, x-kubernetes-validations: [{{rule: '{rule}'}}]}}"
        )
    };
    let old = state("", "!has(self.a) || has(self.b)");
    let new = state(", default: ''", "has(self.b)");
    assert_ne!(breaking(&old, &new), [""; 0]);
}

#[rstest]
#[case("x-kubernetes-validations: [{rule: 'self >= 1'}]", "minimum: 1", true)]
#[case("x-kubernetes-validations: [{rule: 'self >= 1'}]", "minimum: 2", false)]
#[case("x-kubernetes-validations: [{rule: 'self in [1, 2]'}]", "enum: [1, 2, 3]", true)]
#[case("x-kubernetes-validations: [{rule: 'self in [1, 2]'}]", "enum: [1, 3]", false)]
#[case("enum: [1, 2]", "x-kubernetes-validations: [{rule: 'self in [1, 2]'}]", true)]
#[case("enum: [1, 2]", "x-kubernetes-validations: [{rule: 'self in [1]'}]", false)]
#[case("maximum: 5", "x-kubernetes-validations: [{rule: 'self <= 5'}]", true)]
#[case("maximum: 5", "x-kubernetes-validations: [{rule: 'self < 5'}]", false)]
fn rules_move_to_keywords_and_back(#[case] old: &str, #[case] new: &str, #[case] is_safe: bool) {
    let wrap = |text: &str| format!("{{properties: {{x: {{type: integer, {text}}}}}}}");
    assert_eq!(breaking(&wrap(old), &wrap(new)).is_empty(), is_safe);
}

#[test]
fn a_rule_of_the_parent_moves_to_its_field() {
    let old =
        "{properties: {x: {type: string}}, x-kubernetes-validations: [{rule: '!has(self.x) || self.x.size() > 2'}]}";
    let new = |least: i64| format!("{{properties: {{x: {{type: string, minLength: {least}}}}}}}");
    assert_eq!(breaking(old, &new(3)), [""; 0]);
    assert_ne!(breaking(old, &new(4)), [""; 0]);
    let required = "{properties: {x: {type: string}}, required: [x]}";
    assert_ne!(breaking(old, required), [""; 0]);
    assert_eq!(breaking(&old.replace("!has(self.x) ||", "has(self.x) &&"), required), [""; 0]);
}

#[rstest]
#[case(
    "oneOf: [{required: [a]}, {required: [b]}]",
    "oneOf: [{required: [a]}, {required: [b]}, {required: [fresh]}]",
    true
)]
#[case(
    "oneOf: [{not: {anyOf: [{required: [a]}, {required: [b]}]}}, {required: [a]}, {required: [b]}]",
    "oneOf: [{not: {anyOf: [{required: [a]}, {required: [b]}, {required: [fresh]}]}}, {required: [a]}, {required: [b]}, {required: [fresh]}]",
    true
)]
#[case("", "not: {required: [fresh]}", true)]
#[case("", "not: {required: [a]}", false)]
#[case("anyOf: [{required: [a]}]", "anyOf: [{required: [a]}, {required: [fresh]}]", true)]
#[case("", "anyOf: [{required: [a]}, {required: [fresh]}]", false)]
#[case("", "oneOf: [{not: {required: [fresh]}}, {required: [fresh]}]", true)]
#[case(
    "oneOf: [{required: [a]}, {required: [b]}]",
    "x-kubernetes-validations: [{rule: 'has(self.a) != has(self.b)'}]",
    true
)]
#[case(
    "x-kubernetes-validations: [{rule: 'has(self.a) != has(self.b)'}]",
    "oneOf: [{required: [a]}, {required: [b]}]",
    true
)]
#[case("anyOf: [{required: [a]}, {required: [b]}]", "oneOf: [{required: [a]}, {required: [b]}]", false)]
#[case(
    "oneOf: [{properties: {a: {enum: [x]}}}, {required: [b]}]",
    "oneOf: [{properties: {a: {enum: [y]}}}, {required: [b]}]",
    false
)]
#[case("", "allOf: [{properties: {fresh: {enum: [x]}}}]", true)]
#[case("", "allOf: [{properties: {a: {enum: [x]}}}]", false)]
fn branches_over_new_fields(#[case] old: &str, #[case] new: &str, #[case] is_safe: bool) {
    let state = |fields: &str, more: &str| format!("{{type: object, properties: {{{fields}}}, {more}}}");
    let fields = "a: {type: string}, b: {type: string}";
    let (old, new) = (state(fields, old), state(&format!("{fields}, fresh: {{type: string}}"), new));
    assert_eq!(breaking(&old, &new).is_empty(), is_safe, "{:#?}", deltas(&old, &new));
}

#[rstest]
#[case("a: {}", "a: {default: x}", "Meaning")]
#[case("a: {}", "a: {default: ''}", "Harmless")]
#[case("a: {}", "a: {default: {}}", "Harmless")]
#[case("a: {properties: {b: {default: 1}}}", "a: {default: {}, properties: {b: {default: 1}}}", "Meaning")]
#[case("r: {}", "r: {default: x}", "Harmless")]
#[case("a: {default: x}", "a: {}", "Meaning")]
fn the_direction_of_a_default_depends_on_its_effect(#[case] old: &str, #[case] new: &str, #[case] direction: &str) {
    let state = |fields: &str| format!("{{required: [r], properties: {{{fields}}}}}");
    let found = deltas(&state(old), &state(new));
    assert!(found.len() == 1 && found[0].starts_with(direction), "{found:?}");
}
