//! Objects that nobody would write on purpose: validation must not panic, and its output must stay the same when it is
//! sent again.

use crdproof_schema::document::{Sources, parse};
use crdproof_schema::kubernetes::KubeVersion;
use crdproof_schema::structural::{Outcome, Request, Schema, Type, Validator, validate};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Schemas with every keyword somewhere, on the fields `a` to `d` that random objects have.
const SCHEMAS: [&str; 6] = [
    "{type: object, properties: {spec: {type: object, properties: {
        a: {type: string, maxLength: 3, pattern: '^[a-z]*$', default: x, enum: [x, y, abc]},
        b: {type: integer, minimum: 0, maximum: 10, multipleOf: 2, format: int32},
        c: {type: array, minItems: 1, maxItems: 3, items: {type: number, exclusiveMinimum: true, minimum: 0}},
        d: {type: object, additionalProperties: {type: boolean}, maxProperties: 2}}}}}",
    "{type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {
        a: {x-kubernetes-int-or-string: true, nullable: true},
        b: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true},
        c: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a],
            items: {type: object, required: [a], properties: {a: {type: string, default: k}, b: {type: integer}}}},
        d: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}}}",
    "{type: object, properties: {spec: {type: object, properties: {
        a: {type: string, anyOf: [{format: ipv4}, {format: email}, {format: uri}, {format: duration}]},
        b: {type: string, oneOf: [{format: date-time}, {format: cidr}], not: {format: hostname}},
        c: {type: number, allOf: [{maximum: 5}, {not: {multipleOf: 0.1}}], format: float},
        d: {type: object, minProperties: 1, properties: {a: {type: string, format: byte}}}},
        anyOf: [{required: [a]}, {required: [b]}]}}}",
    "{type: object, properties: {spec: {type: object, properties: {
        a: {type: string, x-kubernetes-validations: [{rule: \"self.matches('^a') || size(self) > 2\"}]},
        b: {type: integer, x-kubernetes-validations: [{rule: 'self + 1 > 10 / self'}, {rule: 'self == oldSelf'}]},
        c: {type: array, items: {type: string}, x-kubernetes-validations: [{rule: 'self.all(x, x in self) && self[1] != self[0]'}]},
        d: {type: object, additionalProperties: {type: integer}, x-kubernetes-validations: [{rule: 'self.all(k, self[k] >= 0)'}]}},
        x-kubernetes-validations: [{rule: 'has(self.a) == has(self.b)', fieldPath: .a, reason: FieldValueRequired}]}}}",
    "{type: object, properties: {spec: {x-kubernetes-preserve-unknown-fields: true}, status: {type: object, default: {a: x}, properties: {a: {type: string}}}}}",
    "{type: object, additionalProperties: true}",
];

fn read(text: &str) -> Schema {
    let mut sources = Sources::default();
    let id = sources.add("schema", text);
    Schema::read(&parse(&sources, id).expect("the schema parses")[0])
}

/// Field names that the schemas know, and some that they do not.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "c", "d", "spec", "metadata", "kind", "apiVersion"])
            .prop_map(str::to_owned),
        1 => ".{0,6}",
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-5_i32..20).prop_map(|number| json!(f64::from(number))),
        (-5_i64..20).prop_map(Value::from),
        "[a-z0-9.:@/ +-]{0,12}".prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(name(), inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    (value(), prop::collection::hash_map(name(), value(), 0..5)).prop_map(|(other, spec)| {
        let spec: Map<_, _> = spec.into_iter().collect();
        let mut object = json!({"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "n"}});
        object["spec"] = Value::Object(spec);
        if let Value::Object(map) = other {
            for (name, value) in map {
                object[name] = value;
            }
        }
        object
    })
}

fn request<'a>(object: &'a Value, old: Option<&'a Value>) -> Request<'a> {
    Request {
        object,
        old,
        group: "g",
        version: "v1",
        kind: "K",
        namespaced: true,
        status_subresource: old.is_some(),
        scale: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn validation_never_panics(object in prop_oneof![object(), value()], old in object(), minor in 16_u32..38) {
        for schema in SCHEMAS {
            let schema = read(schema);
            let validator = Validator::new(&schema, KubeVersion::minor(minor));
            validator.admit(&request(&object, None));
            validator.admit(&request(&object, Some(&old)));
            validator.validate(&object);
        }
    }

    #[test]
    fn an_admitted_object_is_admitted_unchanged(object in object()) {
        for schema in SCHEMAS {
            let schema = read(schema);
            let validator = Validator::new(&schema, KubeVersion::NEWEST);
            let first = validator.admit(&request(&object, None));
            if first.outcome != Outcome::Admitted {
                continue;
            }
            let second = validator.admit(&request(&first.object, None));
            prop_assert_eq!(&second.object, &first.object);
            prop_assert!(second.pruned.is_empty());
            // Printing a number can turn a fraction into an integer, which rules and enumerations distinguish.
            // Everything else stays as valid as it was.
            if !format!("{object}").contains(".0") && !format!("{object}").contains('e') {
                prop_assert_eq!(second.outcome, Outcome::Admitted);
            }
        }
    }
}

/// Builds schemas deeper than a document may be, by nesting them.
fn deep(levels: usize, around: impl Fn(&mut Schema, Schema)) -> Schema {
    (0..levels).fold(read("{maximum: 5}"), |inner, _| {
        let mut outer = Schema::empty(inner.span);
        around(&mut outer, inner);
        outer
    })
}

#[test]
fn deep_objects_are_refused() {
    let schema = deep(1000, |outer, inner| {
        outer.ty = Some(Type::Array);
        outer.items = Some(Box::new(inner));
    });
    let value = (0..1000).fold(json!(1), |inner, _| json!([inner]));
    let validator = Validator::new(&schema, KubeVersion::NEWEST);
    assert!(!validator.validate(&value).violations.is_empty());
    let object = json!({"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "n"}, "spec": value});
    let answer = validator.admit(&request(&object, None));
    assert!(matches!(answer.outcome, Outcome::Malformed(_)));
}

#[test]
fn deep_compositions_are_refused() {
    let schema = deep(1000, |outer, inner| outer.all_of = vec![inner]);
    assert!(!validate(&schema, &json!(1), KubeVersion::NEWEST).violations.is_empty());
}
