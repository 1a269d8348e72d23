//! Strategic merge patches as kustomize applies them to CRDs: maps are merged, lists are replaced, null removes.

use crdproof_schema::document::{Kind, Node, Span};

use super::edit;

const DIRECTIVE: &str = "$patch";

/// A patch that does not fit.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(super) struct PatchError {
    /// The location in the patch.
    pub(super) span: Span,
    /// The problem.
    pub(super) message: String,
}

impl PatchError {
    pub(super) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

/// Merges a patch into a document; `None` if the patch deletes it.
pub(super) fn merge(target: Option<Node>, patch: &Node) -> Result<Option<Node>, PatchError> {
    let target = target.filter(|target| !target.is_null());
    let fits = |is_same: fn(&Kind) -> bool| match &target {
        Some(old) if !is_same(&old.kind) => {
            let message = format!("the patch has {} where the document has {}", patch.type_name(), old.type_name());
            Err(PatchError::new(patch.span, message))
        }
        _ => Ok(()),
    };
    match &patch.kind {
        Kind::Null => Ok(None),
        Kind::List(_) => {
            fits(|kind| matches!(kind, Kind::List(_)))?;
            Ok(Some(patch.clone()))
        }
        Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => {
            fits(|kind| !matches!(kind, Kind::List(_) | Kind::Map(_)))?;
            Ok(Some(patch.clone()))
        }
        Kind::Map(_) => {
            fits(|kind| matches!(kind, Kind::Map(_)))?;
            merge_maps(target, patch)
        }
    }
}

fn merge_maps(target: Option<Node>, patch: &Node) -> Result<Option<Node>, PatchError> {
    let empty = || Node { span: patch.span, kind: Kind::Map(Vec::new()) };
    let mut merged = match patch.get(DIRECTIVE) {
        None => target.unwrap_or_else(empty),
        Some(directive) => match directive.as_str() {
            Some("delete") => return Ok(None),
            Some("replace") => empty(),
            Some("merge") => target.unwrap_or_else(empty),
            _ => return Err(PatchError::new(directive.span, "$patch is one of merge, replace and delete")),
        },
    };
    for entry in patch.entries().iter().filter(|entry| entry.key != DIRECTIVE) {
        let old = merged.get(&entry.key).cloned();
        let is_new = old.is_none();
        match merge(old, &entry.value)? {
            // An existing map keeps the location of its key: only the values that the patch changes come from the
            // patch.
            Some(value) if !is_new && matches!(value.kind, Kind::Map(_)) => {
                if let Some(old) = edit::get_mut(&mut merged, &entry.key) {
                    *old = value;
                }
            }
            Some(value) => edit::set(&mut merged, &entry.key, entry.key_span, value),
            None => {
                edit::remove(&mut merged, &entry.key);
            }
        }
    }
    Ok(Some(merged))
}

/// Removes keys without a value, as kustomize does in patched documents. Keeps an explicit `null`.
pub(super) fn drop_blank(node: &mut Node) {
    if let Kind::Map(entries) = &mut node.kind {
        entries.retain(|entry| !(entry.value.is_null() && entry.value.span.start == entry.value.span.end));
        for entry in entries {
            drop_blank(&mut entry.value);
        }
    }
}
