//! All maps of a CRD, and the routes through them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::codec::Side;
use super::compile::{Problem, compile};
use super::mapping::Mapping;
use super::{FieldMap, Refusal};
use crdproof_schema::structural::Schema;

/// All maps of a CRD, compiled. Versions that no map relates directly are reached through others.
#[derive(Debug)]
pub struct Relation<'a> {
    mappings: Vec<Mapping<'a>>,
}

/// An error in a map: its index, and the problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct MapError {
    /// The map.
    pub map: usize,
    /// The problem.
    pub problem: Problem,
}

/// One hop of a route: a map and the side to start from.
type Hop<'m, 'a> = (&'m Mapping<'a>, Side);

impl<'a> Relation<'a> {
    /// Compiles the maps of a CRD. `schema_of` returns the schema of a version, if it has one.
    pub fn new(
        maps: impl IntoIterator<Item = &'a FieldMap>,
        schema_of: impl Fn(&str) -> Option<&'a Schema>,
    ) -> Result<Self, MapError> {
        let mut relation = Self { mappings: Vec::new() };
        for (index, map) in maps.into_iter().enumerate() {
            let schemas = [schema_of(&map.between[0]), schema_of(&map.between[1])];
            let mapping = compile(map, schemas).map_err(|problem| MapError { map: index, problem })?;
            relation.mappings.push(mapping);
            if let Some(message) = relation.ambiguity() {
                let help = "keep one way between two versions: maps that meet in one hub version".to_owned();
                return Err(MapError { map: index, problem: Problem::new("/between", message, help) });
            }
        }
        Ok(relation)
    }

    /// Converts an object through the maps between two versions. Does not change `apiVersion`.
    pub fn convert(&self, object: &Value, from: &str, to: &str) -> Result<Value, Refusal> {
        let Some(way) = self.ways(from, to).pop() else {
            return Err(Refusal::new(".apiVersion", format!("no field map relates {from} and {to}")));
        };
        let mut hops = way.into_iter();
        let Some((mapping, side)) = hops.next() else { return Ok(object.clone()) };
        let first = mapping.convert(object, side)?;
        hops.try_fold(first, |object, (mapping, side)| mapping.convert(&object, side))
    }

    /// The versions on the route, including both ends; `None` if there is no route.
    pub fn way(&self, from: &str, to: &str) -> Option<Vec<&'a str>> {
        let way = self.ways(from, to).pop()?;
        let Some((first, side)) = way.first() else { return Some(self.known(from).into_iter().collect()) };
        let start = first.between[side.index()];
        let next = way.iter().map(|(mapping, side)| mapping.between[side.other().index()]);
        Some(std::iter::once(start).chain(next).collect())
    }

    /// All versions that maps name, in order.
    pub fn versions(&self) -> Vec<&'a str> {
        let mut versions: Vec<&str> = self.mappings.iter().flat_map(|mapping| mapping.between).collect();
        versions.sort_unstable();
        versions.dedup();
        versions
    }

    fn known(&self, version: &str) -> Option<&'a str> {
        self.versions().into_iter().find(|known| *known == version)
    }

    /// The shortest routes between two versions. A valid relation has at most one.
    fn ways(&self, from: &str, to: &str) -> Vec<Vec<Hop<'_, 'a>>> {
        let mut ways: BTreeMap<&str, Vec<Vec<Hop<'_, 'a>>>> = BTreeMap::new();
        ways.insert(from, vec![Vec::new()]);
        while !ways.contains_key(to) {
            let mut further: BTreeMap<&str, Vec<Vec<Hop<'_, 'a>>>> = BTreeMap::new();
            for (mapping, side) in self.mappings.iter().flat_map(|mapping| Side::BOTH.map(|side| (mapping, side))) {
                let [here, there] = [side, side.other()].map(|side| mapping.between[side.index()]);
                let Some(before) = ways.get(here).filter(|_| !ways.contains_key(there)) else { continue };
                let longer = before.iter().map(|way| way.iter().copied().chain([(mapping, side)]).collect());
                further.entry(there).or_default().extend(longer);
            }
            if further.is_empty() {
                return Vec::new();
            }
            ways.extend(further);
        }
        ways.remove(to).unwrap_or_default()
    }

    fn ambiguity(&self) -> Option<String> {
        let versions = self.versions();
        let pairs = versions.iter().flat_map(|from| versions.iter().map(move |to| (*from, *to)));
        pairs.filter(|(from, to)| from < to).find_map(|(from, to)| match self.ways(from, to).as_slice() {
            [] | [_] => None,
            _ if self.mappings.iter().filter(|mapping| mapping.start(from, to).is_some()).count() > 1 => {
                Some(format!("another map relates {from} and {to} already"))
            }
            _ => Some(format!("with this map there are two shortest ways from {from} to {to}")),
        })
    }
}

/// Returns the expected result of a conversion by the declared relation: the converted object with the target
/// `apiVersion`, or a refusal. Converters are judged by it.
pub fn expected(relation: &Relation<'_>, object: &Value, from: &str, to: &str) -> Result<Value, Refusal> {
    let mut converted = relation.convert(object, from, to)?;
    if let Some(Value::String(version)) = converted.get_mut("apiVersion") {
        version.truncate(version.rfind('/').map_or(0, |slash| slash + 1));
        version.push_str(to);
    }
    Ok(converted)
}
