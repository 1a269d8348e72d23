//! Compiles declared field maps to operators, or finds their problems.

mod build;
mod fields;

use super::codec::Side;
use super::mapping::Mapping;
use super::model::FieldMap;
use super::path::FieldPath;
use crdproof_schema::structural::Schema;

/// A problem of a field map, and its location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// JSON pointer below the map.
    pub pointer: String,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl Problem {
    pub(super) fn new(pointer: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), help: help.into() }
    }
}

/// Compiles a map, or returns its first problem.
pub(super) fn compile<'a>(map: &'a FieldMap, schemas: [Option<&'a Schema>; 2]) -> Result<Mapping<'a>, Problem> {
    versions_are_known(map)?;
    for named in map.named() {
        let version = &map.between[named.side.index()];
        fields::exists(named.path, schemas[named.side.index()], version)
            .map_err(|(message, help)| Problem::new(named.pointer, message, help))?;
    }
    nothing_is_written_twice(map)?;
    fields::items_correspond(map)?;
    build::build(map, schemas)
}

/// Checks that operators name only the two versions, and both if they need both.
fn versions_are_known(map: &FieldMap) -> Result<(), Problem> {
    let [left, right] = &map.between;
    let pair = || format!("this map relates {left} and {right}");
    if left == right {
        return Err(Problem::new("/between", "a map relates two different versions", "name two versions"));
    }
    let known = |pointer: String, version: &str| match map.side(version) {
        Some(_) => Ok(()),
        None => Err(Problem::new(pointer, format!("{version:?} is not one of the two versions"), pair())),
    };
    let both = |pointer: String, what: &str, keys: Vec<&String>| {
        keys.iter().try_for_each(|version| known(format!("{pointer}/{version}"), version))?;
        let message = format!("a {what} names the path in both versions");
        if keys.len() == 2 { Ok(()) } else { Err(Problem::new(pointer, message, pair())) }
    };
    for (index, paths) in map.rename.iter().enumerate() {
        both(format!("/rename/{index}"), "rename", paths.keys().collect())?;
    }
    for (index, table) in map.values.iter().enumerate() {
        both(format!("/values/{index}/paths"), "table", table.paths.keys().collect())?;
        for (row, values) in table.table.iter().enumerate() {
            both(format!("/values/{index}/table/{row}"), "row", values.keys().collect())?;
        }
    }
    for (index, wrap) in map.wrap.iter().enumerate() {
        both(format!("/wrap/{index}/paths"), "wrap", wrap.paths.keys().collect())?;
        known(format!("/wrap/{index}/list"), &wrap.list)?;
    }
    for (index, change) in map.units.iter().enumerate() {
        both(format!("/units/{index}/paths"), "change of units", change.paths.keys().collect())?;
        both(format!("/units/{index}/units"), "change of units", change.units.keys().collect())?;
    }
    for (index, stringify) in map.stringify.iter().enumerate() {
        both(format!("/stringify/{index}/paths"), "stringify", stringify.paths.keys().collect())?;
        known(format!("/stringify/{index}/text"), &stringify.text)?;
    }
    for (index, compute) in map.compute.iter().enumerate() {
        both(format!("/compute/{index}"), "compute", compute.keys().collect())?;
    }
    for (index, split) in map.split.iter().enumerate() {
        known(format!("/split/{index}/version"), &split.version)?;
    }
    for (index, gather) in map.gather.iter().enumerate() {
        known(format!("/gather/{index}/version"), &gather.version)?;
    }
    for (key, fixed) in [("constant", &map.constant), ("default", &map.default)] {
        for (index, fixed) in fixed.iter().enumerate() {
            known(format!("/{key}/{index}/version"), &fixed.version)?;
        }
    }
    let stashes =
        map.stash.iter().enumerate().map(|(index, stash)| (format!("/stash/{index}"), &stash.from, &stash.to));
    let losses = map.lost.iter().enumerate().map(|(index, loss)| (format!("/lost/{index}"), &loss.from, &loss.to));
    for (pointer, from, to) in stashes.chain(losses) {
        if !map.relates(from, to) {
            return Err(Problem::new(format!("{pointer}/from"), format!("it goes from {from} to {to}"), pair()));
        }
    }
    Ok(())
}

/// Checks that no two operators write the same field or annotation, because they would undo each other.
fn nothing_is_written_twice(map: &FieldMap) -> Result<(), Problem> {
    let mut seen: Vec<(Side, FieldPath, bool)> = Vec::new();
    for named in map.named() {
        let Some(path) = FieldPath::parse(named.path) else { continue };
        let clash = |(side, known, alone): &&(Side, FieldPath, bool)| {
            *side == named.side && *known == path && (*alone == named.alone)
        };
        if seen.iter().any(|known| clash(&known)) {
            let version = &map.between[named.side.index()];
            let message = format!("another operator writes {path} of {version} already");
            return Err(Problem::new(named.pointer, message, "let one operator say what becomes of a field"));
        }
        seen.push((named.side, path, named.alone));
    }
    let mut annotations: Vec<&str> = Vec::new();
    for (pointer, annotation) in map.annotations() {
        if annotations.contains(&annotation) {
            let message = format!("another operator keeps something in the annotation {annotation}");
            return Err(Problem::new(pointer, message, "give each its own annotation"));
        }
        annotations.push(annotation);
    }
    Ok(())
}
