//! Changes to documents that keep the locations of unchanged parts.

use crdproof_schema::document::{Entry, Kind, Node, Sources, Span};

/// The value of a map under a key, mutable.
pub(super) fn get_mut<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    match &mut node.kind {
        Kind::Map(entries) => entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value),
        _ => None,
    }
}

/// Sets a key of a map; ignores other nodes.
pub(super) fn set(node: &mut Node, key: &str, key_span: Span, value: Node) {
    let Kind::Map(entries) = &mut node.kind else { return };
    match entries.iter_mut().find(|entry| entry.key == key) {
        Some(entry) => *entry = Entry { key: entry.key.clone(), key_span, value },
        None => entries.push(Entry { key: key.to_owned(), key_span, value }),
    }
}

/// Removes a key of a map and returns its value.
pub(super) fn remove(node: &mut Node, key: &str) -> Option<Node> {
    let Kind::Map(entries) = &mut node.kind else { return None };
    let index = entries.iter().position(|entry| entry.key == key)?;
    Some(entries.remove(index).value)
}

/// The map under a key, created at this location if it is missing.
pub(super) fn map_at<'a>(node: &'a mut Node, key: &str, span: Span) -> Option<&'a mut Node> {
    if node.get(key).is_none_or(Node::is_null) {
        set(node, key, span, Node { span, kind: Kind::Map(Vec::new()) });
    }
    get_mut(node, key)
}

/// A string at a location.
pub(super) fn string(text: impl Into<String>, span: Span) -> Node {
    Node { span, kind: Kind::String(text.into()) }
}

/// Turns all scalars of the map under a key into strings, as they are written, and removes an empty map.
pub(super) fn as_texts(sources: &Sources, node: &mut Node, key: &str) {
    if node.get(key).is_some_and(|map| map.entries().is_empty()) {
        remove(node, key);
    }
    if let Some(Kind::Map(entries)) = get_mut(node, key).map(|map| &mut map.kind) {
        for Entry { value, .. } in entries {
            if !matches!(value.kind, Kind::String(_) | Kind::List(_) | Kind::Map(_)) {
                *value = string(sources.slice(value.span), value.span);
            }
        }
    }
}

/// The text of a scalar.
pub(super) fn scalar(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::String(text) => Some(text.clone()),
        Kind::Number(number) => Some(number.to_string()),
        Kind::Bool(value) => Some(value.to_string()),
        Kind::Null | Kind::List(_) | Kind::Map(_) => None,
    }
}

/// Splits a path at a delimiter; a backslash escapes it, and a leading delimiter is skipped.
pub(super) fn split(path: &str, delimiter: char) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut is_open = false;
    for part in path.strip_prefix(delimiter).unwrap_or(path).split(delimiter) {
        match parts.last_mut().filter(|_| is_open) {
            Some(last) => {
                last.pop();
                last.push(delimiter);
                last.push_str(part);
            }
            None => parts.push(part.to_owned()),
        }
        is_open = part.ends_with('\\');
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn paths_are_split_at_delimiters_that_are_not_escaped() {
        assert_eq!(split("metadata/annotations", '/'), ["metadata", "annotations"]);
        assert_eq!(split("/a/b\\/c/d", '/'), ["a", "b/c", "d"]);
        assert_eq!(split(".spec.x\\.y", '.'), ["spec", "x.y"]);
    }
}
