//! Entries of `metadata.managedFields`: rewriting those of one version for another. Pure.
//!
//! A path of an entry belongs to the version of the entry. If both versions have the same value at the same path, the
//! entry keeps it. Otherwise the field moved or was rewritten, and only the server knows the owner of its new place: it
//! names the owners when another manager applies another value there.

use serde_json::{Map, Value, json};

use super::claims::{Owner, Part, Probe, leaves};

/// One object at two versions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Views<'a> {
    /// At the retired version; `None` if that is not served.
    pub(super) old: Option<&'a Value>,
    /// At the remaining version.
    pub(super) new: &'a Value,
    /// The schema of the remaining version.
    pub(super) schema: &'a Value,
}

/// The rewritten entries.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rewritten {
    pub(super) entries: Vec<Value>,
    /// Fields that could not be carried over, each with its manager.
    pub(super) lost: Vec<String>,
}

/// Returns true if an entry has a group and version.
pub(super) fn is_of(entry: &Value, api_version: &str) -> bool {
    entry["apiVersion"] == api_version
}

/// Returns true if an object has an entry of a group and version.
pub(super) fn names(object: &Value, api_version: &str) -> bool {
    managed(object).iter().any(|entry| is_of(entry, api_version))
}

/// The entries of an object.
pub(super) fn managed(object: &Value) -> &[Value] {
    object["metadata"]["managedFields"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Rewrites the entries of one version as entries of another. `owned` has the owners of the probed fields.
pub(super) fn rewrite(views: Views<'_>, gone: &str, left: &str, owned: &[(Probe, Vec<Owner>)]) -> Rewritten {
    let mut rewritten = Rewritten { entries: Vec::new(), lost: Vec::new() };
    let (moving, staying): (Vec<&Value>, Vec<&Value>) = managed(views.new).iter().partition(|entry| is_of(entry, gone));
    rewritten.entries.extend(staying.into_iter().cloned());
    for entry in moving {
        let mut lost = Vec::new();
        let mut kept = carry(&entry["fieldsV1"], views, "", &mut lost);
        for (probe, owners) in owned {
            for owner in owners.iter().filter(|owner| owner.is(entry)) {
                insert(&mut kept, &probe.path);
                lost.retain(|path| *path != owner.field);
            }
        }
        let manager = entry["manager"].as_str().unwrap_or_default();
        rewritten.lost.extend(lost.iter().map(|path| format!("{path} of {manager}")));
        if kept.is_empty() {
            continue;
        }
        let mut moved = entry.clone();
        moved["apiVersion"] = json!(left);
        moved["fieldsV1"] = Value::Object(kept);
        // These identify an entry; of two equal ones the server would use the last.
        let same = |other: &&mut Value| {
            ["manager", "operation", "apiVersion", "subresource"].iter().all(|name| other[*name] == moved[*name])
        };
        match rewritten.entries.iter_mut().find(same) {
            Some(twin) => unite(&mut twin["fieldsV1"], &moved["fieldsV1"]),
            None => rewritten.entries.push(moved),
        }
    }
    rewritten
}

/// The fields to probe: those that the entries of the version cannot keep by their path. Empty if nothing is missing.
pub(super) fn probes(views: Views<'_>, gone: &str) -> Vec<Probe> {
    let moving = managed(views.new).iter().filter(|entry| is_of(entry, gone));
    let mut lost = Vec::new();
    for entry in moving {
        carry(&entry["fieldsV1"], views, "", &mut lost);
    }
    let mut probes = Vec::new();
    if lost.is_empty() {
        return probes;
    }
    for (name, value) in views.new.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            let old = views.old.and_then(|old| old.get(name));
            leaves(&views.schema["properties"][name], old, value, &mut vec![Part::Field(name.clone())], &mut probes);
        }
    }
    probes
}

/// Returns the fields of an entry that have the same value at both versions. The others are lost, for now.
fn carry(fields: &Value, views: Views<'_>, at: &str, lost: &mut Vec<String>) -> Map<String, Value> {
    let Views { old, new, schema } = views;
    let mut kept = Map::new();
    for (key, below) in fields.as_object().into_iter().flatten() {
        if key == "." {
            kept.insert(key.clone(), json!({}));
            continue;
        }
        let path = format!("{at}{}", display_key(key));
        let schema = child_schema(schema, key);
        let (then, now) = (old.map(|old| child(old, key)), child(new, key));
        let is_leaf = below.as_object().is_none_or(Map::is_empty);
        match now {
            // Without the old view, use only the path.
            Some(now) if is_leaf && then.is_none_or(|then| then == Some(now)) => {
                kept.insert(key.clone(), owned_parts(schema, now));
            }
            Some(now) if !is_leaf => {
                let old = then.flatten().or(old.map(|_| &Value::Null));
                let inner = carry(below, Views { old, new: now, schema }, &path, lost);
                if !inner.is_empty() {
                    kept.insert(key.clone(), Value::Object(inner));
                }
            }
            None if !is_leaf => {
                carry(below, Views { old: None, new: &Value::Null, schema }, &path, lost);
            }
            _ => lost.push(path),
        }
    }
    kept
}

/// Returns the parts that the owner of a whole value owns if the schema has owners of parts. A map that is atomic at
/// one version need not be at another.
fn owned_parts(schema: &Value, value: &Value) -> Value {
    match value {
        Value::Object(fields) if schema["x-kubernetes-map-type"] != "atomic" => {
            let part = |(name, value): (&String, &Value)| {
                let key = format!("f:{name}");
                let parts = owned_parts(child_schema(schema, &key), value);
                (key, parts)
            };
            Value::Object(fields.iter().map(part).collect())
        }
        _ => json!({}),
    }
}

/// The schema of a key of `fieldsV1`.
fn child_schema<'s>(schema: &'s Value, key: &str) -> &'s Value {
    match key.strip_prefix("f:") {
        Some(name) => schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]),
        None => &schema["items"],
    }
}

/// Returns the value of a key of `fieldsV1`.
fn child<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    let (kind, rest) = key.split_once(':')?;
    match kind {
        "f" => value.get(rest),
        "k" => {
            let keys: Map<String, Value> = serde_json::from_str(rest).ok()?;
            value.as_array()?.iter().find(|item| keys.iter().all(|(name, key)| item.get(name) == Some(key)))
        }
        "v" => {
            let wanted: Value = serde_json::from_str(rest).ok()?;
            value.as_array()?.iter().find(|item| **item == wanted)
        }
        "i" => value.get(rest.parse::<usize>().ok()?),
        _ => None,
    }
}

/// A key of `fieldsV1` as servers write it in messages.
fn display_key(key: &str) -> String {
    match key.split_once(':') {
        Some(("f", name)) => format!(".{name}"),
        Some(("k", keys)) => {
            let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
            let pairs: Vec<String> = keys.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("[{}]", pairs.join(","))
        }
        Some(("v", value)) => format!("[={value}]"),
        Some((_, index)) => format!("[{index}]"),
        None => key.to_owned(),
    }
}

/// Adds a path. An empty map says that the field itself is owned; next to others `.` says so.
fn insert(fields: &mut Map<String, Value>, path: &[Part]) {
    let Some((first, rest)) = path.split_first() else { return };
    let key = match first {
        Part::Field(name) => format!("f:{name}"),
        Part::Item(keys) => format!("k:{}", Value::Object(keys.clone())),
    };
    let known = fields.contains_key(&key);
    let Some(below) = fields.entry(key).or_insert_with(|| json!({})).as_object_mut() else { return };
    if known && below.is_empty() != rest.is_empty() {
        below.insert(".".into(), json!({}));
    }
    insert(below, rest);
}

/// Adds all paths of another set.
fn unite(fields: &mut Value, more: &Value) {
    let Some(own) = fields.as_object_mut() else { return };
    for (key, theirs) in more.as_object().into_iter().flatten() {
        let known = own.get(key).and_then(Value::as_object).map(Map::is_empty);
        let is_leaf = theirs.as_object().is_none_or(Map::is_empty);
        let below = own.entry(key.clone()).or_insert_with(|| json!({}));
        if known.is_some_and(|empty| empty != is_leaf) {
            below["."] = json!({});
        }
        unite(below, theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, version: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": format!("example.com/{version}"),
               "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    fn views() -> (Value, Value) {
        let metadata = json!({"name": "a", "labels": {"x": "y"}});
        let ports = json!([{"name": "web", "number": 80}, {"name": "admin", "number": 81}]);
        let old = json!({"metadata": metadata, "spec": {"size": 3, "owner": "o", "ports": ports, "limit": "3Gi"}});
        let mut new = old.clone();
        new["spec"] = json!({"replicas": 3, "owner": "o", "ports": ports, "limit": 3});
        (old, new)
    }

    fn asked(manager: &str, field: &str) -> Vec<Owner> {
        let message = format!("conflict with {manager:?}");
        Owner::all(
            &json!({"details": {"causes": [{"reason": "FieldManagerConflict", "message": message, "field": field}]}}),
        )
    }

    fn rewritten(entries: &Value, owned: &[(Probe, Vec<Owner>)]) -> Rewritten {
        let (old, mut new) = views();
        new["metadata"]["managedFields"] = entries.clone();
        rewrite(Views { old: Some(&old), new: &new, schema: &json!({}) }, "example.com/v1", "example.com/v2", owned)
    }

    #[test]
    fn equal_fields_are_kept_and_other_entries_are_unchanged() {
        let web = r#"k:{"name":"web"}"#;
        let mine = json!({"f:metadata": {"f:labels": {"f:x": {}}},
                          "f:spec": {"f:owner": {}, "f:ports": {web: {".": {}, "f:number": {}}}}});
        let theirs = entry("bob", "Apply", "v2", &json!({"f:spec": {"f:replicas": {}}}));
        let done = rewritten(&json!([entry("alice", "Apply", "v1", &mine), theirs]), &[]);
        assert_eq!(done.entries, [theirs.clone(), entry("alice", "Apply", "v2", &mine)]);
        assert!(done.lost.is_empty(), "{:?}", done.lost);
    }

    #[test]
    fn moved_fields_follow_the_owner_that_a_conflict_names() {
        let mine = entry("alice", "Apply", "v1", &json!({"f:spec": {"f:size": {}, "f:limit": {}}}));
        let (old, mut new) = views();
        new["metadata"]["managedFields"] = json!([mine]);
        let schema = json!({});
        let views = Views { old: Some(&old), new: &new, schema: &schema };
        let probes = probes(views, "example.com/v1");
        let shown: Vec<Value> = probes.iter().map(|probe| probe.intent(&new)["spec"].clone()).collect();
        assert_eq!(shown, [json!({"limit": 2}), json!({"replicas": 2})]);
        let owned: Vec<_> =
            probes.into_iter().zip([asked("alice", ".spec.limit"), asked("alice", ".spec.size")]).collect();
        let done = rewritten(&json!([mine]), &owned);
        assert_eq!(
            done.entries,
            [entry("alice", "Apply", "v2", &json!({"f:spec": {"f:limit": {}, "f:replicas": {}}}))]
        );
        assert!(done.lost.is_empty());
        // The owner is unknown: the field is lost, and with it the entry, which would otherwise claim the whole spec.
        let done = rewritten(&json!([mine]), &owned[..1]);
        assert_eq!(done.entries, [entry("alice", "Apply", "v2", &json!({"f:spec": {"f:limit": {}}}))]);
        assert_eq!(done.lost, [".spec.size of alice"]);
        assert_eq!(rewritten(&json!([mine]), &[]).entries, [] as [Value; 0]);
    }

    #[test]
    fn the_owner_of_an_atomic_map_owns_its_fields_if_it_becomes_granular() {
        let mine = entry("alice", "Apply", "v1", &json!({"f:spec": {"f:ref": {}}}));
        let new = json!({"metadata": {"managedFields": [mine]}, "spec": {"ref": {"kind": "Pool", "name": "p"}}});
        let kept = |map_type: &str| {
            let map = json!({"type": "object", "x-kubernetes-map-type": map_type});
            let schema = json!({"properties": {"spec": {"properties": {"ref": map}}}});
            let views = Views { old: Some(&new), new: &new, schema: &schema };
            rewrite(views, "example.com/v1", "example.com/v2", &[]).entries[0]["fieldsV1"]["f:spec"].clone()
        };
        assert_eq!(kept("atomic"), json!({"f:ref": {}}));
        assert_eq!(kept("granular"), json!({"f:ref": {"f:kind": {}, "f:name": {}}}));
    }

    #[test]
    fn entries_that_become_equal_are_merged() {
        let one = entry("carol", "Update", "v1", &json!({"f:spec": {"f:owner": {}, "f:ports": {}}}));
        let two = entry(
            "carol",
            "Update",
            "v2",
            &json!({"f:spec": {"f:replicas": {}, "f:ports": {r#"k:{"name":"web"}"#: {}}}}),
        );
        let done = rewritten(&json!([one, two]), &[]);
        let all = json!({"f:spec": {"f:owner": {}, "f:replicas": {}, "f:ports": {".": {}, r#"k:{"name":"web"}"#: {}}}});
        assert_eq!(done.entries, [entry("carol", "Update", "v2", &all)]);
    }
}
