//! Finding and reading the kustomization file.

use std::path::{Path, PathBuf};

use crdproof_schema::document::{Kind, Node, Sources, Span, parse};

use super::super::tree::Tree;
use super::super::{InputError, Text};

/// Names of kustomization files, in kustomize's order.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Keys that change no CRD.
const WITHOUT_EFFECT: [&str; 14] = [
    "apiVersion",
    "kind",
    "metadata",
    "images",
    "imageTags",
    "replicas",
    "configMapGenerator",
    "secretGenerator",
    "generatorOptions",
    "crds",
    "sortOptions",
    "validators",
    "namePrefix",
    "nameSuffix",
];

/// Supported keys.
const READ: [&str; 13] = [
    "resources",
    "bases",
    "components",
    "configurations",
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "namespace",
    "labels",
    "commonLabels",
    "commonAnnotations",
    "replacements",
    "vars",
];

/// A kustomization file.
#[derive(Debug)]
pub(super) struct Kustomization {
    pub(super) folder: PathBuf,
    pub(super) node: Node,
}

/// Returns the kustomization file of a folder, if it has one.
pub(in super::super) fn find(tree: &Tree, folder: &Path) -> Option<PathBuf> {
    tree.first_of(folder, &NAMES)
}

/// Returns true if a file is a kustomization by its name.
pub(in super::super) fn is_kustomization(path: &Path) -> bool {
    path.file_name().is_some_and(|name| NAMES.iter().any(|known| name == *known))
}

impl Kustomization {
    /// Reads a kustomization file.
    pub(super) fn read(sources: &mut Sources, tree: &Tree, path: &Path) -> Result<Self, InputError> {
        let Text { name, text } = tree.read(path)?;
        let id = sources.add(name, text);
        let documents = parse(sources, id).map_err(|error| InputError::parse(sources, &error))?;
        let Some(mut node) = documents.into_iter().next() else {
            let error = InputError::at(sources, Span::start_of(id), "the kustomization is empty");
            return Err(error.help("list your CRDs under `resources`"));
        };
        // kustomize ignores the case of keys.
        if let Kind::Map(entries) = &mut node.kind {
            for entry in entries {
                let known = WITHOUT_EFFECT.iter().chain(&READ).find(|known| known.eq_ignore_ascii_case(&entry.key));
                entry.key = known.map_or_else(|| entry.key.clone(), |known| (*known).to_owned());
            }
        }
        Ok(Self { folder: path.parent().map(Path::to_owned).unwrap_or_default(), node })
    }

    /// The items of a list.
    pub(super) fn list(&self, key: &str) -> &[Node] {
        self.node.get(key).map(Node::items).unwrap_or_default()
    }

    /// A non-empty string.
    pub(super) fn text(&self, key: &str) -> Option<&Node> {
        self.node.get(key).filter(|node| node.as_str().is_some_and(|text| !text.is_empty()))
    }

    /// The unsupported keys that may change CRDs.
    pub(super) fn not_read(&self) -> impl Iterator<Item = (&str, Span)> {
        let entries = self.node.entries().iter().filter(|entry| !entry.value.is_null());
        let entries = entries.filter(|entry| {
            !entry.value.items().is_empty() || entry.value.as_str().is_some() || !entry.value.entries().is_empty()
        });
        let entries = entries.filter(|entry| {
            let key = entry.key.as_str();
            !WITHOUT_EFFECT.contains(&key) && !READ.contains(&key)
        });
        entries.map(|entry| (entry.key.as_str(), entry.key_span))
    }
}
