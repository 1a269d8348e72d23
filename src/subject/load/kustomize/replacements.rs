//! Replacements and variables: values that are copied from one resource to others.

use crdproof_schema::document::{Kind, Node, Sources, Span};

use super::super::InputError;
use super::edit;
use super::resource::{Resource, Selector};

/// The part of a string to copy or replace.
#[derive(Debug, Default)]
struct Options {
    delimiter: String,
    index: i64,
    create: bool,
}

impl Options {
    fn read(node: &Node) -> Self {
        let Some(options) = node.get("options") else { return Self::default() };
        let index = options.get("index").and_then(|index| match &index.kind {
            Kind::Number(number) => number.as_i64(),
            _ => None,
        });
        Self {
            delimiter: options.str_at("delimiter").unwrap_or_default().to_owned(),
            index: index.unwrap_or_default(),
            create: options.get("create").and_then(Node::as_bool) == Some(true),
        }
    }
}

/// Performs a replacement. `Ok(false)` if it should change a CRD and is not supported.
pub(super) fn replace(sources: &Sources, resources: &mut [Resource], node: &Node) -> Result<bool, InputError> {
    let value = match (node.get("sourceValue"), node.get("source")) {
        (Some(value), None) => Some(value.clone()),
        (None, Some(source)) => source_value(resources, source),
        _ => None,
    };
    let mut is_complete = true;
    for target in node.get("targets").map(Node::items).unwrap_or_default() {
        let Some(select) = target.get("select") else { continue };
        let select = Selector::read(sources, select)?;
        let rejects = target.get("reject").map(Node::items).unwrap_or_default();
        let rejects: Vec<Selector> =
            rejects.iter().map(|reject| Selector::read(sources, reject)).collect::<Result<_, _>>()?;
        for resource in resources.iter_mut() {
            let selected = select.selects(resource);
            let rejected = rejects.iter().filter(|reject| !reject.is_empty()).map(|reject| reject.selects(resource));
            let rejected = rejected.collect::<Option<Vec<bool>>>();
            let is_done = match (selected, rejected, &value) {
                (Some(false), _, _) => true,
                (Some(true), Some(rejected), _) if rejected.contains(&true) => true,
                (Some(true), Some(_), Some(value)) => write(&mut resource.node, target, value),
                _ => false,
            };
            if !is_done {
                resource.is_approximate = true;
                is_complete &= !resource.is_crd();
            }
        }
    }
    Ok(is_complete)
}

/// The value of a variable.
pub(super) fn variable(resources: &[Resource], var: &Node) -> Option<String> {
    let path = var.at(&["fieldref", "fieldPath"]).or_else(|| var.at(&["fieldref", "fieldpath"]));
    let path = path.and_then(Node::as_str).unwrap_or("metadata.name");
    value_of(resources, var.get("objref")?, path).as_ref().and_then(edit::scalar)
}

fn source_value(resources: &[Resource], source: &Node) -> Option<Node> {
    let found = value_of(resources, source, source.str_at("fieldPath").unwrap_or("metadata.name"))?;
    let options = Options::read(source);
    if options.delimiter.is_empty() {
        return Some(found);
    }
    let text = edit::scalar(&found)?;
    let part = text.split(&options.delimiter).nth(usize::try_from(options.index).ok()?)?;
    Some(edit::string(part, found.span))
}

/// The value at a path of the one resource that an object reference names.
fn value_of(resources: &[Resource], reference: &Node, path: &str) -> Option<Node> {
    let text = |key: &str| reference.str_at(key).unwrap_or_default();
    let (group, version) = match text("apiVersion") {
        "" => (text("group"), text("version")),
        api => api.split_once('/').unwrap_or(("", api)),
    };
    let (name, namespace) = (text("name"), text("namespace"));
    let mut named = resources.iter().filter(|resource| {
        resource.is_of(group, version, text("kind"))
            && (name.is_empty() || resource.names().any(|own| own == name))
            && (namespace.is_empty() || resource.namespace() == namespace)
    });
    let (resource, None) = (named.next()?, named.next()) else { return None };
    // The names and the namespace of a document are correct, even if not all of its patches were applied.
    let steps = steps(path);
    if resource.is_approximate && steps.first().is_none_or(|step| step != "metadata") {
        return None;
    }
    let mut found = None;
    let mut copy = resource.node.clone();
    each(&mut copy, &steps, None, &mut |node| found = found.take().or(Some(node.clone())));
    found.filter(|node| !node.is_null())
}

/// Writes a value to the fields that a target names; returns false if there are none.
fn write(document: &mut Node, target: &Node, value: &Node) -> bool {
    let options = Options::read(target);
    let paths = target.get("fieldPaths").map(Node::items).unwrap_or_default();
    let mut is_done = !paths.is_empty();
    for path in paths {
        let Some(text) = path.as_str() else { return false };
        let (mut count, mut fits) = (0, true);
        each(document, &steps(text), options.create.then_some(path.span), &mut |node| {
            count += 1;
            fits &= put(node, &options, value);
        });
        is_done &= count > 0 && fits;
    }
    is_done
}

fn put(field: &mut Node, options: &Options, value: &Node) -> bool {
    if options.delimiter.is_empty() {
        *field = match (&field.kind, edit::scalar(value)) {
            (Kind::String(_), Some(text)) => edit::string(text, value.span),
            _ => value.clone(),
        };
        return true;
    }
    let (Some(old), Some(new)) = (edit::scalar(field), edit::scalar(value)) else { return false };
    let mut parts: Vec<&str> = old.split(&options.delimiter).collect();
    match usize::try_from(options.index) {
        Err(_) => parts.insert(0, &new),
        Ok(index) if index >= parts.len() => parts.push(&new),
        Ok(index) => parts[index] = &new,
    }
    *field = edit::string(parts.join(&options.delimiter), field.span);
    true
}

/// The steps of a field path such as `metadata.annotations.[example.com/key]` or `spec.list.[name=x].value`.
fn steps(path: &str) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    let mut is_open = false;
    for part in edit::split(path, '.') {
        if let Some(last) = steps.last_mut().filter(|_| is_open) {
            last.push('.');
            last.push_str(&part);
        } else {
            is_open = part.starts_with('[');
            steps.push(part);
        }
        is_open &= !steps.last().is_some_and(|last| last.ends_with(']'));
    }
    for step in &mut steps {
        if step.starts_with('[') && !step.contains('=') {
            *step = step.trim_matches(['[', ']']).to_owned();
        }
    }
    steps
}

/// Calls a function for every field at a path. A step is a key, an index, `*` or `[key=value]`.
fn each(node: &mut Node, steps: &[String], create: Option<Span>, change: &mut dyn FnMut(&mut Node)) {
    let Some((step, rest)) = steps.split_first() else { return change(node) };
    let item = step.strip_prefix('[').and_then(|step| step.strip_suffix(']')).and_then(|step| step.split_once('='));
    match &mut node.kind {
        Kind::List(items) => match (item, step.parse::<usize>()) {
            (Some((key, value)), _) => {
                let fits = |item: &Node| item.get(key).and_then(edit::scalar).is_some_and(|own| own == value);
                items.iter_mut().filter(|item| fits(item)).for_each(|item| each(item, rest, create, change));
            }
            (None, Ok(index)) => {
                if let Some(item) = items.get_mut(index) {
                    each(item, rest, create, change);
                }
            }
            (None, Err(_)) if step == "*" => items.iter_mut().for_each(|item| each(item, rest, create, change)),
            (None, Err(_)) => {}
        },
        Kind::Map(entries) if step == "*" => {
            for entry in entries {
                each(&mut entry.value, rest, create, change);
            }
        }
        Kind::Map(_) => {
            if let Some(span) = create.filter(|_| node.get(step).is_none_or(Node::is_null)) {
                let kind = if rest.is_empty() { Kind::String(String::new()) } else { Kind::Map(Vec::new()) };
                edit::set(node, step, span, Node { span, kind });
            }
            if let Some(next) = edit::get_mut(node, step) {
                each(next, rest, create, change);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn brackets_keep_dots() {
        assert_eq!(
            steps(".metadata.annotations.[cert-manager.io/inject-ca-from]"),
            ["metadata", "annotations", "cert-manager.io/inject-ca-from"]
        );
        assert_eq!(steps("spec.list.[name=a.b].value"), ["spec", "list", "[name=a.b]", "value"]);
        assert_eq!(steps("spec.versions.0.name"), ["spec", "versions", "0", "name"]);
    }
}
