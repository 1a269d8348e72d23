//! A field map as a function from an object of one version to one of the other.

use serde_json::{Map, Value};

use super::FieldMap;

/// Converts an object from one version of the map to the other: fields are moved, stashed in
/// annotations and taken out again, and declared losses are carried out. `apiVersion` and pruning are
/// the caller's.
pub fn convert(map: &FieldMap, object: &Value, from: &str, to: &str) -> Value {
    let mut converted = object.clone();
    for paths in &map.rename {
        if let (Some(source), Some(target)) = (paths.get(from), paths.get(to))
            && let Some(value) = take(&mut converted, &steps(source))
        {
            put(&mut converted, &steps(target), value);
        }
    }
    for loss in map.lost.iter().filter(|loss| loss.from == from && loss.to == to) {
        take(&mut converted, &steps(&loss.path));
    }
    for stash in &map.stash {
        let annotation = ["metadata", "annotations", stash.annotation.as_str()];
        if stash.from == from && stash.to == to {
            if let Some(value) = take(&mut converted, &steps(&stash.path)) {
                put(&mut converted, &annotation, Value::String(value.to_string()));
            }
        } else if stash.from == to && stash.to == from {
            restore(&mut converted, &annotation, &steps(&stash.path));
        }
    }
    converted
}

/// Moves a stashed value back. An annotation that was written by hand and holds no JSON stays as it is.
fn restore(object: &mut Value, annotation: &[&str; 3], path: &[&str]) {
    let text = object.pointer("/metadata/annotations").and_then(|annotations| annotations.get(annotation[2]));
    let Some(value) = text.and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok()) else { return };
    take(object, annotation);
    // Annotations that the stash itself brought go with it.
    if object["metadata"]["annotations"].as_object().is_some_and(Map::is_empty) {
        take(object, &annotation[..2]);
    }
    put(object, path, value);
}

/// The fields of a path such as `.spec.endpoint.host`.
fn steps(path: &str) -> Vec<&str> {
    path.split('.').filter(|step| !step.is_empty()).collect()
}

/// Removes a field and returns it.
fn take(object: &mut Value, path: &[&str]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(object, |value, step| value.get_mut(*step))?;
    parent.as_object_mut()?.remove(*last)
}

/// Sets a field, making the objects on the way. What is not an object is not replaced.
fn put(object: &mut Value, path: &[&str], value: Value) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut target = object;
    for step in parents {
        let Some(map) = target.as_object_mut() else { return };
        target = map.entry((*step).to_owned()).or_insert_with(|| Value::Object(Map::new()));
    }
    if let Some(map) = target.as_object_mut() {
        map.insert((*last).to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn moves_stashes_and_comes_back() {
        let map: FieldMap = serde_json::from_value(json!({
            "crd": "a.example.com", "between": ["v1", "v2"],
            "rename": [{"v1": ".spec.host", "v2": ".spec.endpoint.host"}],
            "stash": [{"from": "v2", "to": "v1", "path": ".spec.password", "annotation": "example.com/p"}],
            "lost": [{"from": "v1", "to": "v2", "path": ".spec.old", "reason": "x", "until": "2027-01-01"}],
        }))
        .unwrap();
        let rich = json!({"spec": {"endpoint": {"host": "h"}, "password": {"a": [1, "ü"]}}});
        let poor = convert(&map, &rich, "v2", "v1");
        assert_eq!(poor["spec"]["host"], "h");
        assert_eq!(poor["metadata"]["annotations"]["example.com/p"], "{\"a\":[1,\"ü\"]}");
        let back = convert(&map, &poor, "v1", "v2");
        assert_eq!(back["spec"]["password"], rich["spec"]["password"]);
        assert_eq!(back["spec"]["endpoint"]["host"], "h");
        assert_eq!(convert(&map, &json!({"spec": {"old": 1}}), "v1", "v2"), json!({"spec": {}}));
        assert!(map.declares_lost("v1", "v2", ".spec.old.x") && !map.declares_lost("v2", "v1", ".spec.old"));
    }
}
