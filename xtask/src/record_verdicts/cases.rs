//! Case files, and the definitions and objects that they describe.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::yaml;

/// The API group of all definitions.
pub(super) const GROUP: &str = "verdicts.example.com";

/// The cases of one file.
pub(super) struct Theme {
    pub(super) name: String,
    /// The digest of the file.
    pub(super) sha256: String,
    pub(super) cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    theme: String,
    cases: Vec<Case>,
}

/// One definition, and the objects that are sent to it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    schema: Option<Value>,
    spec_schema: Option<Value>,
    root_schema: Option<Value>,
    old_schema: Option<Value>,
    old_spec_schema: Option<Value>,
    old_root_schema: Option<Value>,
    #[serde(default)]
    status: bool,
    #[serde(default)]
    pub(super) updates: bool,
    pub(super) objects: Vec<Value>,
}

impl Theme {
    pub(super) fn load(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text, path).with_context(|| path.display().to_string())
    }

    fn parse(text: &str, path: &Path) -> anyhow::Result<Self> {
        let file: File = serde_json::from_value(yaml::parse(text)?)?;
        let mut names = BTreeSet::new();
        for case in &file.cases {
            if !names.insert(&case.name) {
                bail!("two cases are named {:?}", case.name);
            }
            let schemas = [&case.schema, &case.spec_schema, &case.root_schema];
            if schemas.iter().filter(|schema| schema.is_some()).count() != 1 {
                bail!("case {:?}: write exactly one of schema, specSchema and rootSchema", case.name);
            }
        }
        if path.file_stem().is_none_or(|stem| *stem != *file.theme) {
            bail!("theme {:?} does not match the file name", file.theme);
        }
        let mut sha256 = String::new();
        for byte in Sha256::digest(text.as_bytes()) {
            write!(sha256, "{byte:02x}")?;
        }
        Ok(Self { name: file.theme, sha256, cases: file.cases })
    }

    /// Returns the kind of the case at this index.
    pub(super) fn kind(&self, index: usize) -> String {
        let mut letters = self.name.chars().filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        let slug: String = first.into_iter().chain(letters).collect();
        format!("{slug}{index:02}")
    }
}

impl Case {
    /// Returns true if the objects of the case are whole objects.
    pub(super) fn has_whole_objects(&self) -> bool {
        self.root_schema.is_some()
    }

    /// Returns the schema of whole objects.
    pub(super) fn current_schema(&self) -> Option<Value> {
        whole_schema(self.root_schema.as_ref(), self.spec_schema.as_ref(), self.schema.as_ref())
    }

    /// Returns the schema of whole objects under which old objects are created, if it is another one.
    pub(super) fn previous_schema(&self) -> Option<Value> {
        whole_schema(self.old_root_schema.as_ref(), self.old_spec_schema.as_ref(), self.old_schema.as_ref())
    }

    /// Returns a definition with this schema. The column, if any, shows when the definition is in force.
    pub(super) fn definition(&self, kind: &str, schema: &Value, column: Option<&str>) -> Value {
        let plural = kind.to_lowercase();
        let mut version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
        if self.status {
            version["subresources"] = json!({"status": {}});
        }
        if let Some(name) = column {
            version["additionalPrinterColumns"] =
                json!([{"name": name, "type": "string", "jsonPath": ".metadata.name"}]);
        }
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{GROUP}")},
            "spec": {
                "group": GROUP,
                "scope": "Cluster",
                "names": {"plural": plural, "kind": kind},
                "versions": [version],
            },
        })
    }

    /// Returns the object to send for a value of the case.
    pub(super) fn object(&self, kind: &str, value: &Value, name: &str) -> anyhow::Result<Value> {
        let mut object = json!({"apiVersion": format!("{GROUP}/v1"), "kind": kind, "metadata": {"name": name}});
        if self.schema.is_some() {
            object["spec"] = json!({"value": value});
        } else if self.spec_schema.is_some() {
            object["spec"] = value.clone();
        } else {
            let fields =
                value.as_object().with_context(|| format!("case {:?}: {value} is not an object", self.name))?;
            for (field, value) in fields {
                object[field] = value.clone();
            }
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.entry("name").or_insert_with(|| name.into());
            }
        }
        Ok(object)
    }
}

fn whole_schema(root: Option<&Value>, spec: Option<&Value>, value: Option<&Value>) -> Option<Value> {
    if let Some(root) = root {
        return Some(root.clone());
    }
    let spec =
        spec.cloned().or_else(|| value.map(|value| json!({"type": "object", "properties": {"value": value}})))?;
    Some(json!({"type": "object", "properties": {"spec": spec}}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theme(name: &str, text: &str) -> anyhow::Result<Theme> {
        Theme::parse(text, Path::new(&format!("fixtures/{name}.yaml")))
    }

    #[test]
    fn objects_are_completed() {
        let theme = theme(
            "two-words",
            "theme: two-words\ncases:\n\
             - {name: a, schema: {type: integer}, objects: [1]}\n\
             - {name: b, rootSchema: {type: object}, oldSpecSchema: {type: object}, objects: [{metadata: {labels: {a: b}}}]}\n",
        )
        .unwrap();
        assert_eq!(theme.kind(7), "Twowords07");
        let object = theme.cases[0].object("K", &json!(1), "value").unwrap();
        assert_eq!(
            object,
            json!({"apiVersion": "verdicts.example.com/v1", "kind": "K", "metadata": {"name": "value"}, "spec": {"value": 1}})
        );
        let object = theme.cases[1].object("K", &theme.cases[1].objects[0], "value").unwrap();
        assert_eq!(object["metadata"], json!({"name": "value", "labels": {"a": "b"}}));
        assert!(theme.cases[0].previous_schema().is_none());
        let previous = theme.cases[1].previous_schema().unwrap();
        assert_eq!(previous, json!({"type": "object", "properties": {"spec": {"type": "object"}}}));
    }

    #[test]
    fn mistakes_in_case_files_are_refused() {
        let case = "{name: a, schema: {}, objects: []}";
        for (name, cases, reason) in [
            ("x", "[{name: a, objects: []}]".to_owned(), "exactly one of"),
            ("x", "[{name: a, schema: {}, rootSchema: {}, objects: []}]".to_owned(), "exactly one of"),
            ("x", format!("[{case}, {case}]"), "two cases are named"),
            ("x", "[{name: a, schema: {}, object: []}]".to_owned(), "unknown field `object`"),
            ("y", format!("[{case}]"), "does not match the file name"),
        ] {
            let error = theme(name, &format!("theme: x\ncases: {cases}\n")).err().unwrap().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
