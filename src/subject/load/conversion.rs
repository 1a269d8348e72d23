//! Conversion stanzas of CRDs that controller-gen wrote: it omits them, and a kustomize patch adds them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Text;
use super::kustomize::{self, Built};
use super::tree::Tree;
use crate::subject::{Crd, Kustomized};
use crdproof_schema::document::{Entry, Kind, Node, Sources, Span, parse};

/// The number of parent folders of a file that are searched for its kustomization.
const LEVELS: usize = 2;

/// Completes CRDs that controller-gen wrote and that were read unchanged: adopts the conversion stanza that a
/// kustomization above them adds, or notes a patch beside them that would add one.
pub(super) fn complete(sources: &mut Sources, tree: &Tree, crds: &mut [Crd]) {
    let mut kustomizations: BTreeMap<PathBuf, Vec<Node>> = BTreeMap::new();
    for crd in crds.iter_mut().filter(|crd| crd.is_generated_without_stanza() && crd.versions.len() > 1) {
        let name = sources.get(crd.node.span.source).name.clone();
        let path = tree.path_of(&name);
        let folders: Vec<PathBuf> = path.ancestors().skip(1).take(LEVELS).map(Path::to_owned).collect();
        let file = folders.iter().find_map(|folder| kustomize::find(tree, folder));
        if let Some(file) = file
            && !kustomizations.contains_key(&file)
        {
            let documents = match kustomize::build_natively(sources, tree, &file) {
                Ok(Built { documents, .. }) => documents,
                // The user did not name the file, so its errors do not matter here.
                Err(_) => Vec::new(),
            };
            kustomizations.insert(file, documents);
        }
        let built = kustomizations.values().flatten().find(|node| is_of(sources, node, crd, &name));
        if let Some(node) = built.and_then(|node| with_stanza(crd, node))
            && let Ok(read) = Crd::read(node)
        {
            *crd = Crd { kustomized: Kustomized::Yes, ..read };
        } else if let Some(span) = unused_patch(sources, tree, &folders, &crd.name) {
            crd.kustomized = Kustomized::UnusedPatch(span);
        }
    }
}

/// Returns true if a built document is a CRD from the same file.
fn is_of(sources: &Sources, node: &Node, crd: &Crd, file: &str) -> bool {
    Crd::is_crd(node)
        && node.at(&["metadata", "name"]).and_then(Node::as_str) == Some(&crd.name)
        && sources.get(node.span.source).name == file
}

/// The document of a CRD with the conversion stanza of another.
fn with_stanza(crd: &Crd, built: &Node) -> Option<Node> {
    let stanza: &Entry = built.get("spec")?.entry("conversion")?;
    let mut node = crd.node.clone();
    let Kind::Map(entries) = &mut node.kind else { return None };
    let Kind::Map(spec) = &mut entries.iter_mut().find(|entry| entry.key == "spec")?.value.kind else { return None };
    spec.push(stanza.clone());
    Some(node)
}

/// A patch in a nearby folder `patches` that would add a conversion webhook.
fn unused_patch(sources: &mut Sources, tree: &Tree, folders: &[PathBuf], name: &str) -> Option<Span> {
    let files = folders.iter().filter_map(|folder| tree.manifests_below(&folder.join("patches")).ok()).flatten();
    for Text { name: file, text } in files.filter_map(|file| tree.read(&file).ok()).collect::<Vec<_>>() {
        if !text.contains(name) {
            continue;
        }
        let id = sources.add(file, text);
        let documents = parse(sources, id).unwrap_or_default();
        let patch = documents.iter().find(|node| {
            Crd::is_crd(node)
                && node.at(&["metadata", "name"]).and_then(Node::as_str) == Some(name)
                && node.at(&["spec", "conversion", "strategy"]).and_then(Node::as_str) == Some("Webhook")
        });
        if let Some(conversion) = patch.and_then(|patch| patch.get("spec")?.entry("conversion")) {
            return Some(conversion.key_span.to(conversion.value.span));
        }
    }
    None
}
