//! Fields must exist, and items of lists must correspond.

use super::super::model::FieldMap;
use super::super::path::{FieldPath, Step};
use super::Problem;
use crdproof_schema::names;
use crdproof_schema::structural::Schema;

/// Checks that a path leads to a field of a version; `Err` holds a message and a remedy.
pub(super) fn exists(text: &str, schema: Option<&Schema>, version: &str) -> Result<(), (String, String)> {
    let Some(path) = FieldPath::parse(text) else {
        let message = format!("{text:?} is not a path of fields, such as .spec.endpoint.host or .spec.ports[*].name");
        return Err((message, "correct the path".to_owned()));
    };
    if matches!(path.steps().first(), Some(Step::Field(name)) if matches!(name.as_str(), "apiVersion" | "kind" | "metadata"))
    {
        return Ok(());
    }
    let Some(mut node) = schema else { return Ok(()) };
    let mut walked = String::new();
    for step in path.steps() {
        if node.preserves_unknown() && node.properties.is_empty() && node.items.is_none() {
            return Ok(());
        }
        let next = match step {
            Step::Field(name) => {
                walked.extend([".", name]);
                node.child(name)
            }
            Step::Each => {
                walked.push_str("[*]");
                node.items.as_deref().or_else(|| node.values())
            }
        };
        match (next, step) {
            (Some(next), _) => node = next,
            (None, _) if node.preserves_unknown() => return Ok(()),
            (None, Step::Each) => {
                let message = format!("{version} has neither a list nor a map at {walked}");
                return Err((message, "leave [*] off".to_owned()));
            }
            (None, Step::Field(name)) => {
                let near = names::closest(name, node.properties.keys().map(String::as_str));
                let help = near.map_or_else(|| "correct the path".to_owned(), |near| format!("did you mean `{near}`?"));
                return Err((format!("{version} has no field {walked}"), help));
            }
        }
    }
    Ok(())
}

/// Checks that paths have the same number of `[*]` in both versions, and that the lists on the path correspond: they
/// have the same path, or are renamed themselves. Otherwise items without the field would be lost.
pub(super) fn items_correspond(map: &FieldMap) -> Result<(), Problem> {
    let [first, second] = &map.between;
    let paths = |paths: &super::super::Move| {
        Some((FieldPath::parse(paths.get(first)?)?, FieldPath::parse(paths.get(second)?)?))
    };
    let renames: Vec<_> = map.rename.iter().filter_map(paths).collect();
    let mut pairs: Vec<(String, FieldPath, FieldPath)> = Vec::new();
    let mut add = |pointer: String, own: &super::super::Move| {
        pairs.extend(paths(own).map(|(left, right)| (pointer, left, right)));
    };
    map.rename.iter().enumerate().for_each(|(index, own)| add(format!("/rename/{index}"), own));
    map.values.iter().enumerate().for_each(|(index, own)| add(format!("/values/{index}/paths"), &own.paths));
    map.wrap.iter().enumerate().for_each(|(index, own)| add(format!("/wrap/{index}/paths"), &own.paths));
    map.units.iter().enumerate().for_each(|(index, own)| add(format!("/units/{index}/paths"), &own.paths));
    map.stringify.iter().enumerate().for_each(|(index, own)| add(format!("/stringify/{index}/paths"), &own.paths));
    for (index, split) in map.split.iter().enumerate() {
        for (name, part) in &split.parts {
            if let (Some(whole), Some(part)) = (FieldPath::parse(&split.path), FieldPath::parse(&part.path)) {
                let sides = if split.version == *first { (whole, part) } else { (part, whole) };
                pairs.push((format!("/split/{index}/parts/{name}/path"), sides.0, sides.1));
            }
        }
    }
    for (pointer, left, right) in pairs {
        if left.each_count() != right.each_count() {
            let message = format!("{left} and {right} do not go through as many lists");
            return Err(Problem::new(pointer, message, "write as many [*] in both"));
        }
        let plain_items = left.ends_with_each() || right.ends_with_each();
        let lists: Vec<_> = left.containers().zip(right.containers()).collect();
        let last = lists.len().saturating_sub(1);
        for (index, (from, to)) in lists.into_iter().enumerate() {
            // A list of plain values has a value for every item.
            let excused = plain_items && index == last;
            if from != to && !excused && !renames.contains(&(from.clone(), to.clone())) {
                let message = format!("{first} has the list at {from}, {second} at {to}, and nothing relates them");
                return Err(Problem::new(
                    pointer,
                    message,
                    format!("add the rename {{{first}: {from}, {second}: {to}}}"),
                ));
            }
        }
    }
    Ok(())
}
