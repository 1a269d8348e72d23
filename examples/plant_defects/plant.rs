//! Defects as data, and planting one into a CRD.
//!
//! A defect of `fixtures/defects` is a set of changes. `field` is a schema that is added under `spec`, or at the root
//! if spec has no properties; `root` is merged into the schema of each version, `version` into the storage version,
//! `versions` into each version and `crd` into the whole definition, as JSON merge patches; `add` appends a copy of the
//! storage version with changes. `replace` names keys that are removed before the merge. In texts, `{plural}`,
//! `{PLURAL}` and `{group}` stand for those of the CRD, and a text such as `%64` for one of that many letters.

use serde_json::{Map, Value, json};

/// One kind of defect.
pub(crate) struct Defect {
    /// The file that contains it.
    pub(crate) theme: String,
    pub(crate) name: String,
    /// True if a server may refuse it for the types or the cost of a rule, which we leave to the server.
    pub(crate) cel: bool,
    /// True if a server accepts it, but we report an error for the harm that it does later.
    pub(crate) harm: bool,
    changes: Value,
}

/// Reads the defects of one parsed file.
pub(crate) fn read(theme: &str, document: &Value) -> Vec<Defect> {
    let defects = document["defects"].as_array().into_iter().flatten();
    let defect = |changes: &Value| Defect {
        theme: theme.to_owned(),
        name: changes["name"].as_str().unwrap_or_default().to_owned(),
        cel: changes["cel"] == true,
        harm: changes["harm"].is_string(),
        changes: changes.clone(),
    };
    defects.map(defect).collect()
}

impl Defect {
    /// Returns a CRD with the defect. `None` if the CRD has no place for it.
    pub(crate) fn plant(&self, crd: &Value) -> Option<Value> {
        let mut crd = crd.clone();
        let plural = crd["spec"]["names"]["plural"].as_str()?.to_owned();
        let mut capital = plural.clone();
        capital.get_mut(..1)?.make_ascii_uppercase();
        let names =
            [("{plural}", plural), ("{PLURAL}", capital), ("{group}", crd["spec"]["group"].as_str()?.to_owned())];
        let changes = fill(&self.changes, &names);
        let replaced: Vec<String> =
            changes["replace"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        let versions = crd["spec"]["versions"].as_array_mut()?;
        let stored = versions.iter().position(|version| version["storage"] == true)?;
        for version in versions.iter_mut() {
            let schema = version["schema"]["openAPIV3Schema"].as_object_mut()?;
            if let Some(field) = changes.get("field") {
                fields(schema)?.insert("planted".to_owned(), field.clone());
            }
            let schema = &mut version["schema"]["openAPIV3Schema"];
            change(schema, changes.get("root"), &[]);
            change(version, changes.get("versions"), &[]);
        }
        change(&mut versions[stored], changes.get("version"), &replaced);
        if let Some(added) = changes.get("add") {
            let mut version = versions[stored].clone();
            version["storage"] = json!(false);
            merge(&mut version, added);
            versions.push(version);
        }
        let spec: &[String] = if changes.get("crd").is_some() { &replaced } else { &[] };
        if let Some(map) = crd["spec"].as_object_mut() {
            map.retain(|name, _| !spec.contains(name));
        }
        change(&mut crd, changes.get("crd"), &[]);
        Some(crd)
    }
}

/// The properties that a field is added to.
fn fields(schema: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    let root = schema.entry("properties").or_insert_with(|| json!({})).as_object_mut()?;
    let inner = root.get("spec").is_some_and(|spec| spec["properties"].is_object());
    if inner { root.get_mut("spec")?["properties"].as_object_mut() } else { Some(root) }
}

fn change(target: &mut Value, patch: Option<&Value>, replaced: &[String]) {
    let Some(patch) = patch else { return };
    if let Some(map) = target.as_object_mut() {
        map.retain(|name, _| !replaced.contains(name));
    }
    merge(target, patch);
}

/// Applies a JSON merge patch.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Some(map) = target.as_object_mut() else { return };
    for (name, value) in patch {
        if value.is_null() {
            map.remove(name);
        } else {
            merge(map.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}

fn fill(value: &Value, names: &[(&str, String)]) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('%').and_then(|count| count.parse().ok()) {
            Some(count) => "a".repeat(count).into(),
            None => names.iter().fold(text.clone(), |text, (name, value)| text.replace(name, value)).into(),
        },
        Value::Array(items) => items.iter().map(|item| fill(item, names)).collect(),
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), fill(value, names))).collect(),
        other => other.clone(),
    }
}
