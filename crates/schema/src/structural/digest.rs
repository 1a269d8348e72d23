//! Digests of schemas, so that equal schemas need not be compared part by part.

use std::hash::{BuildHasher as _, Hash as _, Hasher};
use std::sync::LazyLock;

use super::{Additional, Schema};
use crate::document::{Kind, Node};

/// Seeded anew in every process: nobody can craft a schema whose number is that of another one.
static HASHER: LazyLock<foldhash::quality::RandomState> = LazyLock::new(Default::default);

/// Returns the digest of a schema that was read from a node. Where it stands does not count; the order of keywords does.
pub(super) fn digest(node: &Node, schema: &Schema) -> u64 {
    let mut hasher = HASHER.build_hasher();
    for entry in node.entries() {
        entry.key.hash(&mut hasher);
        let parts = parts(schema, &entry.key);
        // Parts have their digests already, so every node is hashed once.
        if parts.is_empty() {
            hash(&entry.value, &mut hasher);
        }
        parts.hash(&mut hasher);
    }
    hasher.finish()
}

/// Names and digests of the schemas that a keyword holds.
fn parts<'a>(schema: &'a Schema, keyword: &str) -> Vec<(&'a str, Option<u64>)> {
    let unnamed = |schema: &'a Schema| ("", schema.digest);
    match keyword {
        "properties" => schema.properties.iter().map(|(name, part)| (name.as_str(), part.digest)).collect(),
        "items" => schema.items.iter().map(|part| unnamed(part)).collect(),
        "additionalProperties" => match &schema.additional {
            Some(Additional::Schema(part)) => vec![unnamed(part)],
            Some(Additional::Allowed(_)) | None => Vec::new(),
        },
        "allOf" => schema.all_of.iter().map(unnamed).collect(),
        "anyOf" => schema.any_of.iter().map(unnamed).collect(),
        "oneOf" => schema.one_of.iter().map(unnamed).collect(),
        "not" => schema.not.iter().map(|part| unnamed(part)).collect(),
        _ => Vec::new(),
    }
}

/// Hashes the content of a node, and not its place.
fn hash(node: &Node, hasher: &mut impl Hasher) {
    std::mem::discriminant(&node.kind).hash(hasher);
    match &node.kind {
        Kind::Null => {}
        Kind::Bool(value) => value.hash(hasher),
        Kind::Number(number) => number.hash(hasher),
        Kind::String(text) => text.hash(hasher),
        Kind::List(items) => {
            items.len().hash(hasher);
            for item in items {
                hash(item, hasher);
            }
        }
        Kind::Map(entries) => {
            entries.len().hash(hasher);
            for entry in entries {
                entry.key.hash(hasher);
                hash(&entry.value, hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::document::{Sources, parse};
    use crate::structural::Path;

    fn read(text: &str) -> Schema {
        let mut sources = Sources::default();
        let id = sources.add("schema.yaml", text);
        Schema::read(&parse(&sources, id).unwrap()[0])
    }

    const SCHEMA: &str = "{type: object, properties: {a: {type: array, items: {type: string, maxLength: 3}}}}";

    #[test]
    fn the_place_does_not_count() {
        let spread =
            "type: object\nproperties:\n  a:\n    type: array\n    items:\n      type: string\n      maxLength: 3\n";
        assert!(read(SCHEMA).says_the_same_as(&read(spread)));
    }

    #[rstest]
    #[case::value("maxLength: 3", "maxLength: 4")]
    #[case::keyword("maxLength: 3", "minLength: 3")]
    #[case::name("{a: {type: array", "{b: {type: array")]
    #[case::unknown_keyword("type: string", "type: string, x-other: 1")]
    #[case::description("type: string", "type: string, description: text")]
    #[case::malformed("items: {type: string, maxLength: 3}", "items: [{type: string, maxLength: 3}]")]
    #[case::junctor("type: string", "type: string, not: {enum: [a]}")]
    #[case::null("type: string", "type: string, default: null")]
    fn any_difference_counts(#[case] old: &str, #[case] new: &str) {
        let changed = SCHEMA.replacen(old, new, 1);
        assert_ne!(changed, SCHEMA);
        assert!(!read(SCHEMA).says_the_same_as(&read(&changed)), "{changed}");
    }

    #[test]
    fn a_schema_that_was_changed_equals_none() {
        let mut changed = read(SCHEMA);
        changed.at_mut(&Path::root().field("a").item()).unwrap().max_length = Some(4);
        assert!(!changed.says_the_same_as(&read(SCHEMA)));
        assert!(!changed.says_the_same_as(&changed.clone()));
    }
}
