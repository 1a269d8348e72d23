//! Patches: reading them from files and from the kustomization itself, and applying them.

use crdproof_schema::document::{Kind, Node, SourceId, Sources, Span, parse};

use super::super::InputError;
use super::merge::{PatchError, drop_blank, merge};
use super::resource::{Resource, Selector};
use super::{edit, json_patch};

/// A patch and its target.
#[derive(Debug)]
pub(super) struct Patch {
    /// Its documents: objects to merge, or one list of operations.
    pub(super) documents: Vec<Node>,
    /// The resources that it changes; by default those that it names itself.
    pub(super) target: Option<Selector>,
    /// True if kustomize copies it first, which turns labels and annotations into strings, so that null removes nothing
    /// there.
    pub(super) has_text_labels: bool,
    /// True if it may rename the resource.
    pub(super) may_rename: bool,
    /// The location in the kustomization.
    pub(super) span: Span,
}

impl Patch {
    /// Applies the patch. Returns the documents that match no resource.
    pub(super) fn apply(&self, sources: &Sources, resources: &mut Vec<Resource>) -> Result<Vec<Span>, InputError> {
        let mut unmatched = Vec::new();
        for patch in &self.documents {
            let patch = &if self.has_text_labels { with_text_labels(sources, patch) } else { patch.clone() };
            let is_json = matches!(patch.kind, Kind::List(_));
            let mut matched = 0;
            let mut kept = Vec::with_capacity(resources.len());
            for mut resource in resources.drain(..) {
                let selected = match &self.target {
                    Some(target) => target.selects(&resource),
                    None if is_json => return Err(without_target(sources, self.span)),
                    None => Some(is_named_by(&resource, patch)),
                };
                if selected == Some(false) {
                    kept.push(resource);
                    continue;
                }
                matched += 1;
                let result = match selected {
                    None => {
                        Err(PatchError::new(self.span, "this form of labelSelector or annotationSelector is not read"))
                    }
                    Some(_) if is_json => json_patch::apply(&mut resource.node, patch).map(|()| true),
                    Some(_) => self.merge_into(&mut resource, patch),
                };
                match result {
                    Ok(true) => kept.push(resource),
                    Ok(false) => {}
                    Err(error) if resource.is_crd() => {
                        let message = format!("cannot apply the patch to {}: {}", resource.name(), error.message);
                        let help = "`kustomize build` must accept the folder; correct the patch";
                        return Err(InputError::at(sources, error.span, message).help(help));
                    }
                    Err(_) => kept.push(Resource { is_approximate: true, ..resource }),
                }
            }
            *resources = kept;
            if matched == 0 && self.target.is_none() {
                unmatched.push(patch.span);
            }
        }
        Ok(unmatched)
    }

    /// Merges a patch into a resource; returns false if it deletes the resource.
    fn merge_into(&self, resource: &mut Resource, patch: &Node) -> Result<bool, PatchError> {
        let Some(mut merged) = merge(Some(resource.node.clone()), patch)? else { return Ok(false) };
        // A patch never changes the name of a resource, unless allowed.
        for key in ["apiVersion", "kind"] {
            restore(&mut merged, &resource.node, key);
        }
        if let (Some(merged), Some(own)) = (edit::get_mut(&mut merged, "metadata"), resource.node.get("metadata")) {
            restore(merged, own, "namespace");
            if !self.may_rename {
                restore(merged, own, "name");
            }
        }
        drop_blank(&mut merged);
        // Lists of other kinds may be merged by keys, which is not supported here.
        resource.is_approximate |= !resource.is_crd();
        resource.node = merged;
        Ok(true)
    }
}

/// The patch with labels and annotations as strings, and without empty ones.
fn with_text_labels(sources: &Sources, patch: &Node) -> Node {
    let mut patch = patch.clone();
    if let Some(metadata) = edit::get_mut(&mut patch, "metadata") {
        for key in ["labels", "annotations"] {
            edit::as_texts(sources, metadata, key);
        }
    }
    patch
}

fn restore(merged: &mut Node, own: &Node, key: &str) {
    match own.entry(key) {
        Some(entry) => edit::set(merged, key, entry.key_span, entry.value.clone()),
        None => {
            edit::remove(merged, key);
        }
    }
}

fn is_named_by(resource: &Resource, patch: &Node) -> bool {
    let name = patch.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
    resource.node.str_at("apiVersion") == patch.str_at("apiVersion")
        && resource.node.str_at("kind") == patch.str_at("kind")
        && resource.names().any(|own| own == name)
}

fn without_target(sources: &Sources, span: Span) -> InputError {
    InputError::at(sources, span, "a JSON patch needs a target").help("add `target:` with kind and name of the CRD")
}

/// Parses the text of an inline patch, so that locations point into the kustomization if its lines are there unchanged.
pub(super) fn inline(sources: &mut Sources, node: &Node, text: &str) -> Result<Vec<Node>, InputError> {
    let id = in_place(sources, node, text).unwrap_or_else(|| {
        let place = sources.place(node.span);
        sources.add(format!("{}:{} (inline patch)", place.file, place.line), text)
    });
    parse(sources, id).map_err(|error| InputError::parse(sources, &error))
}

/// Adds the file again, with all lines blank except those of a literal block.
fn in_place(sources: &mut Sources, node: &Node, text: &str) -> Option<SourceId> {
    let source = sources.get(node.span.source);
    let first = source.line_of(node.span.start);
    let lines: Vec<&str> = source.text.lines().collect();
    // The block starts at the line of its indicator, `|`, or at the line below it.
    let mut starts = (first as usize).saturating_sub(1)..=(first as usize);
    let wanted: Vec<&str> = text.trim_end().lines().collect();
    let is_block = |start: usize| {
        let block = lines.get(start..start + wanted.len())?;
        let indent = block.first()?.len() - block.first()?.trim_start().len();
        let fits =
            |(line, wanted): (&&str, &&str)| line.get(indent..).unwrap_or_default().trim_end() == wanted.trim_end();
        block.iter().zip(&wanted).all(fits).then_some(start)
    };
    let start = starts.find_map(is_block)?;
    let mut alone = "\n".repeat(start);
    for line in &lines[start..start + wanted.len()] {
        alone.push_str(line);
        alone.push('\n');
    }
    let name = source.name.clone();
    Some(sources.add(name, alone))
}
