//! The part of `JSONPath` that CRDs use, resolved in a schema.

use crdproof_schema::structural::Schema;

/// The target of a path.
pub(super) enum Found<'a> {
    /// A field of the schema.
    Schema(&'a Schema),
    /// A place that the schema does not describe, or a form of path that we do not support.
    Anything,
    /// A missing field; this is the part that does not exist.
    Nothing(String),
}

/// Fields of metadata that every object has.
const METADATA: [&str; 14] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "uid",
];

/// Resolves a path such as `.status.conditions[?(@.type=="Ready")].status`.
pub(super) fn resolve<'a>(schema: &'a Schema, path: &str) -> Found<'a> {
    let Some(steps) = steps(path) else {
        return Found::Anything;
    };
    match steps.as_slice() {
        [Step::Field(name), rest @ ..] if name == "metadata" => {
            return match rest.first() {
                Some(Step::Field(field)) if !METADATA.contains(&field.as_str()) => {
                    Found::Nothing(format!(".metadata.{field}"))
                }
                _ => Found::Anything,
            };
        }
        [Step::Field(name)] if name == "apiVersion" || name == "kind" => return Found::Anything,
        _ => {}
    }
    let mut node = schema;
    let mut at = String::new();
    for step in &steps {
        let next = match step {
            Step::Field(name) => {
                at.push('.');
                at.push_str(name);
                node.child(name)
            }
            Step::Item => {
                at.push_str("[*]");
                node.items.as_deref().or_else(|| node.values())
            }
        };
        match next {
            Some(next) => node = next,
            None if node.preserves_unknown() || node.ty.is_none() || node.additional.is_some() => {
                return Found::Anything;
            }
            None => return Found::Nothing(at),
        }
    }
    Found::Schema(node)
}

enum Step {
    Field(String),
    Item,
}

/// `None` for unsupported forms, such as `..name`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let end = bracket_end(after)?;
            let inner = after[..end].trim();
            let quoted = inner.strip_prefix(['\'', '"']).and_then(|inner| inner.strip_suffix(['\'', '"']));
            steps.push(quoted.map_or(Step::Item, |name| Step::Field(name.to_owned())));
            rest = &after[end + 1..];
        } else {
            let after = rest.strip_prefix('.')?;
            let (name, length) = field(after);
            if name.is_empty() {
                // `.` alone is the whole object, `..` descends.
                return if after.is_empty() && steps.is_empty() { Some(steps) } else { None };
            }
            steps.push(if name == "*" { Step::Item } else { Step::Field(name) });
            rest = &after[length..];
        }
    }
    Some(steps)
}

/// A field name up to the next dot or bracket, with backslash escapes, and its length in bytes.
fn field(text: &str) -> (String, usize) {
    let mut name = String::new();
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\\' if !escaped => escaped = true,
            '.' | '[' if !escaped => return (name, at),
            c => {
                name.push(c);
                escaped = false;
            }
        }
    }
    (name, text.len())
}

/// The bracket that ends a step; skips brackets inside quotes and nested ones.
fn bracket_end(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        if let Some(open) = quote {
            if c == open {
                quote = None;
            }
            continue;
        }
        match c {
            '\'' | '"' => quote = Some(c),
            '[' | '(' => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' | ')' => depth -= 1,
            _ => {}
        }
    }
    None
}
