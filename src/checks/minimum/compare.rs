//! Compares the sent CRD with the stored one.

use serde_json::Value;

use super::{Gap, ReleaseResult};
use crdproof_schema::document::pointer::escape;
use crdproof_schema::kubernetes::FEATURES;

/// Adds the parts that were sent and are not stored. Additions of the server do not count.
pub(super) fn compare(crd: &str, path: &str, sent: &Value, stored: Option<&Value>, result: &mut ReleaseResult) {
    let Some(stored) = stored else {
        if is_zero(sent) {
            return;
        }
        if is_harmless(path) {
            result.notes.push(format!("drops {path} of {crd}, which changes no object's meaning"));
            return;
        }
        result.gaps.push(Gap::Dropped { crd: crd.to_owned(), path: path.to_owned(), sent: sent.clone() });
        return;
    };
    let below = |name: &str| format!("{path}/{}", escape(name));
    match (sent, stored) {
        (Value::Object(sent), Value::Object(stored)) => {
            for (name, value) in sent {
                compare(crd, &below(name), value, stored.get(name), result);
            }
        }
        (Value::Array(sent), Value::Array(stored)) => {
            for (index, value) in sent.iter().enumerate() {
                compare(crd, &below(&index.to_string()), value, stored.get(index), result);
            }
        }
        (sent, stored) if is_same(sent, stored) || sent.is_null() => {}
        (sent, stored) => result.gaps.push(Gap::Changed {
            crd: crd.to_owned(),
            path: path.to_owned(),
            sent: sent.clone(),
            stored: stored.clone(),
        }),
    }
}

/// Returns true if the value means the same as its absence, so that servers may omit it.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_zero),
        Value::Bool(true) => false,
    }
}

/// Servers treat bounds as floating numbers: `1` and `1.0` are the same.
fn is_same(left: &Value, right: &Value) -> bool {
    left == right || left.is_number() && left.as_f64() == right.as_f64()
}

/// Returns true if objects keep their meaning without the part of a CRD at this path.
fn is_harmless(path: &str) -> bool {
    let mut steps = path.rsplit('/');
    let (Some(name), Some(parent)) = (steps.next(), steps.next()) else { return false };
    let harmless = FEATURES.iter().filter(|(feature, _)| feature.harmless).filter_map(|(row, _)| row.found.as_ref());
    let known = harmless.flat_map(|found| [&found.keyword, &found.version_field, &found.spec_field, &found.rule_key]);
    let in_table = known.flatten().any(|known| known.rsplit('.').next() == Some(name));
    // A field of objects may have any name.
    parent != "properties" && in_table
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn seen(sent: &Value, stored: &Value) -> ReleaseResult {
        let mut result = ReleaseResult::default();
        compare("x", "/spec", sent, Some(stored), &mut result);
        result
    }

    #[rstest]
    #[case::added(json!({"a": 1}), json!({"a": 1, "b": 2}))]
    #[case::left_out(json!({"preserveUnknownFields": false, "shortNames": [], "priority": 0, "x": {"y": ""}}), json!({}))]
    #[case::not_set(json!({"creationTimestamp": null}), json!({"creationTimestamp": "2026"}))]
    #[case::a_bound(json!({"minimum": 1}), json!({"minimum": 1.0}))]
    fn equal_meanings_are_equal(#[case] sent: Value, #[case] stored: Value) {
        assert_eq!(seen(&sent, &stored), ReleaseResult::default());
    }

    #[test]
    fn a_missing_part_is_reported_with_its_value() {
        let sent = json!({"versions": [{"name": "v1", "a/b": {"c": [1]}}]});
        let result = seen(&sent, &json!({"versions": [{"name": "v1"}]}));
        let path = "/spec/versions/0/a~1b".to_owned();
        assert_eq!(result.gaps, [Gap::Dropped { crd: "x".into(), path, sent: json!({"c": [1]}) }]);
    }

    #[test]
    fn a_changed_part_is_reported_with_both_values() {
        let result = seen(&json!({"scope": "Cluster"}), &json!({"scope": "Namespaced"}));
        assert_eq!(
            result.gaps[0].to_string(),
            r#"changes /spec/scope of x: sent was "Cluster", stored is "Namespaced""#
        );
    }

    #[rstest]
    #[case("/spec/versions/0/deprecated", true)]
    #[case("/spec/versions/0/deprecationWarning", true)]
    #[case("/spec/x-kubernetes-validations/0/messageExpression", true)]
    #[case("/spec/x-kubernetes-validations/0/rule", false)]
    #[case("/spec/properties/reason", false)]
    #[case("/spec/versions/0/selectableFields", false)]
    fn the_table_knows_what_is_harmless(#[case] path: &str, #[case] harmless: bool) {
        assert_eq!(is_harmless(path), harmless);
    }
}
