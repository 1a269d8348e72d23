//! The fields that a map names, with version and location in the file.

use super::codec::Side;
use super::model::{FieldMap, Otherwise};

/// A field that a map names.
#[derive(Debug)]
pub(super) struct Named<'a> {
    /// The location below the map.
    pub(super) pointer: String,
    pub(super) side: Side,
    pub(super) path: &'a str,
    /// True if no other operator may write it. A default may share a field with another operator.
    pub(super) alone: bool,
}

impl FieldMap {
    /// The side of a version.
    pub(super) fn side(&self, version: &str) -> Option<Side> {
        Side::BOTH.into_iter().find(|side| self.between[side.index()] == version)
    }

    /// All fields, in the order of the file's keys. Skips versions other than the two.
    pub(super) fn named(&self) -> Vec<Named<'_>> {
        let mut named = Vec::new();
        let mut name = |version: &str, pointer: String, path, alone| {
            named.extend(self.side(version).map(|side| Named { pointer, side, path, alone }));
        };
        let paths = self
            .rename
            .iter()
            .enumerate()
            .map(|(index, paths)| (format!("/rename/{index}"), paths))
            .chain(pairs("values", &self.values, |table| &table.paths))
            .chain(pairs("wrap", &self.wrap, |wrap| &wrap.paths))
            .chain(pairs("units", &self.units, |units| &units.paths))
            .chain(pairs("stringify", &self.stringify, |stringify| &stringify.paths));
        for (pointer, paths) in paths {
            for (version, path) in paths {
                name(version, format!("{pointer}/{version}"), path, true);
            }
        }
        for (index, split) in self.split.iter().enumerate() {
            name(&split.version, format!("/split/{index}/path"), &split.path, true);
            for (part, described) in &split.parts {
                name(self.opposite(&split.version), format!("/split/{index}/parts/{part}/path"), &described.path, true);
            }
        }
        for (index, gather) in self.gather.iter().enumerate() {
            for (list, gathered) in gather.lists.iter().enumerate() {
                name(&gather.version, format!("/gather/{index}/lists/{list}/path"), &gathered.path, true);
            }
            name(self.opposite(&gather.version), format!("/gather/{index}/into"), &gather.into, true);
        }
        for (index, compute) in self.compute.iter().enumerate() {
            for (version, computed) in compute {
                name(version, format!("/compute/{index}/{version}/path"), &computed.path, true);
            }
        }
        for (key, fixed, alone) in [("constant", &self.constant, true), ("default", &self.default, false)] {
            for (index, fixed) in fixed.iter().enumerate() {
                name(&fixed.version, format!("/{key}/{index}/path"), &fixed.path, alone);
            }
        }
        for (index, stash) in self.stash.iter().enumerate().filter(|(_, stash)| !stash.is_whole()) {
            name(&stash.from, format!("/stash/{index}/path"), &stash.path, true);
        }
        for (index, loss) in self.lost.iter().enumerate() {
            name(&loss.from, format!("/lost/{index}/path"), &loss.path, true);
        }
        named
    }

    /// The annotations that operators write, with their locations in the file.
    pub(super) fn annotations(&self) -> Vec<(String, &str)> {
        let otherwise = pairs("values", &self.values, |table| &table.otherwise)
            .chain(pairs("split", &self.split, |split| &split.otherwise))
            .chain(pairs("wrap", &self.wrap, |wrap| &wrap.otherwise))
            .chain(pairs("units", &self.units, |units| &units.otherwise))
            .chain(pairs("stringify", &self.stringify, |stringify| &stringify.otherwise));
        let mut found: Vec<(String, &str)> = otherwise
            .filter_map(|(pointer, otherwise)| match otherwise {
                Otherwise::Stash(annotation) => {
                    let operator = pointer.trim_end_matches("/paths");
                    Some((format!("{operator}/otherwise/stash"), annotation.as_str()))
                }
                Otherwise::Refuse | Otherwise::Accept => None,
            })
            .collect();
        let stashes = self.stash.iter().enumerate();
        found.extend(stashes.map(|(index, stash)| (format!("/stash/{index}/annotation"), stash.annotation.as_str())));
        found
    }

    /// The other version; any text for a version other than the two.
    pub(super) fn opposite(&self, version: &str) -> &str {
        self.side(version).map_or("", |side| &self.between[side.other().index()])
    }
}

/// A part of each operator of a kind, with the location of its `paths`.
fn pairs<'a, O, P>(
    key: &str,
    operators: &'a [O],
    part: impl Fn(&'a O) -> &'a P,
) -> impl Iterator<Item = (String, &'a P)>
where
    P: 'a,
{
    let part = move |(index, operator)| (index, part(operator));
    let key = key.to_owned();
    operators.iter().enumerate().map(part).map(move |(index, part)| (format!("/{key}/{index}/paths"), part))
}
