//! JSON patches (RFC 6902) on documents with locations.

use crdproof_schema::document::{Kind, Node, Span, pointer};

use super::edit;
use super::merge::PatchError;

/// Applies a list of operations, one after the other.
pub(super) fn apply(document: &mut Node, patch: &Node) -> Result<(), PatchError> {
    patch.items().iter().try_for_each(|operation| apply_one(document, operation))
}

fn apply_one(document: &mut Node, operation: &Node) -> Result<(), PatchError> {
    let text = |key: &str| {
        let node = operation.get(key).ok_or_else(|| PatchError::new(operation.span, format!("`{key}` is missing")))?;
        let text = node.as_str().ok_or_else(|| PatchError::new(node.span, format!("`{key}` is not a string")))?;
        Ok((text, node.span))
    };
    let (name, name_span) = text("op")?;
    let (path, span) = text("path")?;
    let value = || operation.get("value").cloned().unwrap_or(Node { span, kind: Kind::Null });
    match name {
        "add" => add(document, path, span, value()),
        "remove" => remove(document, path, span).map(drop),
        "replace" => find(document, path, span).map(|old| *old = value()),
        "move" => {
            let (from, from_span) = text("from")?;
            let moved = remove(document, from, from_span)?;
            add(document, path, span, moved)
        }
        "copy" => {
            let (from, from_span) = text("from")?;
            let copied = find(document, from, from_span)?.clone();
            add(document, path, span, copied)
        }
        "test" => {
            let found = find(document, path, span)?.to_value();
            if found == value().to_value() {
                return Ok(());
            }
            Err(PatchError::new(span, format!("the test of {path} fails: it is {found}")))
        }
        other => Err(PatchError::new(name_span, format!("unknown operation {other:?}"))),
    }
}

fn add(document: &mut Node, path: &str, span: Span, value: Node) -> Result<(), PatchError> {
    if path.is_empty() {
        *document = value;
        return Ok(());
    }
    let (parent, last) = parent(document, path, span)?;
    match &mut parent.kind {
        Kind::Map(_) => edit::set(parent, &last, span, value),
        Kind::List(items) => {
            let index = if last == "-" { items.len() } else { index(&last, items.len() + 1, path, span)? };
            items.insert(index, value);
        }
        _ => return Err(missing(path, span)),
    }
    Ok(())
}

fn remove(document: &mut Node, path: &str, span: Span) -> Result<Node, PatchError> {
    let (parent, last) = parent(document, path, span)?;
    if let Kind::List(items) = &mut parent.kind {
        let index = index(&last, items.len(), path, span)?;
        return Ok(items.remove(index));
    }
    edit::remove(parent, &last).ok_or_else(|| missing(path, span))
}

/// The map or list that contains the target of a path, and the last step of the path.
fn parent<'a>(document: &'a mut Node, path: &str, span: Span) -> Result<(&'a mut Node, String), PatchError> {
    let (above, last) = path.rsplit_once('/').ok_or_else(|| missing(path, span))?;
    Ok((find(document, above, span)?, pointer::unescape(last).into_owned()))
}

fn find<'a>(document: &'a mut Node, path: &str, span: Span) -> Result<&'a mut Node, PatchError> {
    let mut node = document;
    for step in path.split('/').skip(1) {
        let step = pointer::unescape(step);
        let next = match &mut node.kind {
            Kind::List(items) => {
                let index = index(&step, items.len(), path, span)?;
                items.get_mut(index)
            }
            Kind::Map(entries) => entries.iter_mut().find(|entry| entry.key == step).map(|entry| &mut entry.value),
            _ => None,
        };
        node = next.ok_or_else(|| missing(path, span))?;
    }
    Ok(node)
}

/// An index into a list; negative ones count from its end, as in kustomize.
fn index(step: &str, length: usize, path: &str, span: Span) -> Result<usize, PatchError> {
    let index = step.parse::<i64>().ok().and_then(|index| {
        let length = i64::try_from(length).ok()?;
        usize::try_from(if index < 0 { index + length } else { index }).ok()
    });
    index.filter(|index| *index < length).ok_or_else(|| missing(path, span))
}

fn missing(path: &str, span: Span) -> PatchError {
    PatchError::new(span, format!("the document has nothing at {path}"))
}
