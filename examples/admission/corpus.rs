//! Reads CRDs from a folder.

use std::path::Path;

use crdproof::subject::Crd;
use crdproof_schema::document::{Sources, parse};
use serde_json::{Value, json};

/// A CRD as it was read, and as it is sent.
pub(crate) struct Definition {
    pub(crate) crd: Crd,
    pub(crate) value: Value,
}

/// All CRDs whose name contains a text.
pub(crate) fn load(folder: &Path, only: &str) -> Result<Vec<Definition>, Box<dyn std::error::Error>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| {
        path.extension().is_some_and(|ending| ["json", "yaml", "yml"].iter().any(|known| ending == *known))
    });
    paths.sort();
    let mut definitions = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.contains(only) {
            continue;
        }
        let mut sources = Sources::default();
        let id = sources.add(&name, std::fs::read_to_string(&path)?);
        for node in parse(&sources, id).map_err(|error| format!("{name}: {error:?}"))? {
            if Crd::is_crd(&node) {
                let mut value = node.to_value();
                value["spec"]["conversion"] = json!({"strategy": "None"});
                if let Some(map) = value.as_object_mut() {
                    map.remove("status");
                }
                definitions.push(Definition { crd: Crd::read(node)?, value });
            }
        }
    }
    Ok(definitions)
}
