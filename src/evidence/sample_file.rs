//! Real objects as samples: without fields that a server sets, and without secrets.

use serde_json::{Value, json};

use crate::subject::Crd;

/// Metadata that a server sets, that refers to other objects of the same cluster, or that repeats the content.
const REMOVED_METADATA: [&str; 10] = [
    "managedFields",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "ownerReferences",
    "generateName",
];

/// A real object, prepared as a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleFile {
    /// The name of its file.
    pub file: String,
    /// The object.
    pub object: Value,
}

impl SampleFile {
    /// Makes a sample of an object. With a number it also removes its names, labels and annotations.
    pub fn of(crd: &Crd, object: &Value, anonymous: Option<usize>) -> Self {
        let version = object["apiVersion"].as_str().and_then(|text| Some(text.rsplit_once('/')?.1)).unwrap_or_default();
        let schema = crd.version(version).and_then(|version| version.schema.as_ref());
        let mut object = crd.secrets().redact(schema, object);
        if let Some(meta) = object["metadata"].as_object_mut() {
            meta.retain(|name, _| !REMOVED_METADATA.contains(&name.as_str()));
            if let Some(annotations) = meta.get_mut("annotations").and_then(Value::as_object_mut) {
                annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
            }
            if let Some(number) = anonymous {
                meta.clear();
                meta.insert("name".into(), json!(format!("sample-{number}")));
            }
        }
        let part = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
        let parts = [crd.names.kind.to_lowercase().as_str(), part("namespace"), part("name")].map(plain);
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Self { file: format!("{}.json", parts.join("_")), object }
    }
}

/// A part of a file name without separators, so that it never names another folder.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '-' }).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdproof_schema::document::{Sources, parse};

    fn crd() -> Crd {
        let text = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, \
             spec: {group: example.com, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: [{name: v1, \
             served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, \
             properties: {pin: {type: string, format: password}, size: {type: integer}}}}}}}]}}";
        let mut sources = Sources::default();
        let id = sources.add("crd", text);
        Crd::read(parse(&sources, id).unwrap().remove(0)).unwrap()
    }

    fn object() -> Value {
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "../shop", "namespace": "n", "uid": "u",
            "resourceVersion": "7", "managedFields": [{}], "labels": {"team": "blue"}, "annotations": {"note": "kept",
            "kubectl.kubernetes.io/last-applied-configuration": "{}"}, "finalizers": ["example.com/x"]},
            "spec": {"pin": "1234", "size": 3, "dbPassword": "hunter2"}, "status": {"ready": true}})
    }

    #[test]
    fn a_sample_has_no_secrets_and_no_server_set_fields() {
        let taken = SampleFile::of(&crd(), &object(), None);
        assert_eq!(taken.file, "widget_n_..-shop.json");
        let wanted = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "../shop", "namespace": "n",
            "labels": {"team": "blue"}, "annotations": {"note": "kept"}, "finalizers": ["example.com/x"]},
            "spec": {"pin": "•••", "size": 3, "dbPassword": "•••"}, "status": {"ready": true}});
        assert_eq!(taken.object, wanted);
    }

    #[test]
    fn an_anonymous_sample_has_no_original_name() {
        let taken = SampleFile::of(&crd(), &object(), Some(2));
        assert_eq!(
            (taken.file.as_str(), &taken.object["metadata"]),
            ("widget_sample-2.json", &json!({"name": "sample-2"}))
        );
    }
}
