//! `allOf`, `anyOf`, `oneOf` and `not`: compared branch by branch where that has a meaning.

use serde_json::{Map, Value, json};

use super::node::{PROSE, Scene};
use super::{Direction, Shape, What};
use crate::structural::{Additional, Schema};

impl Scene<'_> {
    pub(super) fn junctors(&mut self) {
        let (old, new) = (self.old, self.new);
        self.branches("allOf", &old.all_of, &new.all_of);
        self.branches("anyOf", any_of(old), any_of(new));
        self.branches("oneOf", &old.one_of, &new.one_of);
        let not = |schema: &Schema| schema.not.as_deref().map(canonical);
        let (before, after) = (not(old), not(new));
        if before == after {
            return;
        }
        let direction = match (&before, &after) {
            (Some(_), None) => Direction::Wider,
            (None, _) => Direction::Narrower,
            (Some(_), Some(_)) => Direction::Unknown,
        };
        let what = What::JunctorChanged {
            keyword: "not",
            added: usize::from(before.is_none()),
            removed: usize::from(after.is_none()),
        };
        self.tell("not", direction, what);
    }

    fn branches(&mut self, keyword: &'static str, old: &[Schema], new: &[Schema]) {
        if old.is_empty() && new.is_empty() {
            return;
        }
        let texts = |branches: &[Schema]| branches.iter().map(canonical).collect::<Vec<_>>();
        let (before, after) = (texts(old), texts(new));
        let gone = before.iter().filter(|branch| !after.contains(branch)).count();
        let fresh = after.iter().filter(|branch| !before.contains(branch)).count();
        if gone == 0 && fresh == 0 {
            return;
        }
        let direction = match (keyword, gone, fresh) {
            (_, _, _) if new.is_empty() => Direction::Wider,
            (_, _, _) if old.is_empty() => Direction::Narrower,
            ("allOf", _, 0) | ("anyOf", 0, _) => Direction::Wider,
            ("allOf", 0, _) | ("anyOf", _, 0) => Direction::Narrower,
            ("allOf" | "anyOf", _, _) if old.len() == new.len() => pairwise(old, new),
            _ => Direction::Unknown,
        };
        let what = What::JunctorChanged { keyword, added: fresh, removed: gone };
        self.tell(keyword, direction, what);
    }
}

/// The direction of branches that moved one by one.
fn pairwise(old: &[Schema], new: &[Schema]) -> Direction {
    let deltas = old.iter().zip(new).flat_map(|(old, new)| super::compare(old, new));
    let breaking = deltas.filter(super::Delta::is_breaking).count();
    if breaking == 0 { Direction::Wider } else { Direction::Unknown }
}

/// `anyOf` without the two branches that go with `x-kubernetes-int-or-string` and say nothing more.
fn any_of(schema: &Schema) -> &[Schema] {
    let is_pair = schema.int_or_string
        && schema.any_of.len() == 2
        && schema.any_of.iter().all(|branch| branch.keywords.len() == 1 && Shape::of(branch).is_scalar());
    if is_pair { &[] } else { &schema.any_of }
}

/// A schema without places and prose, in an order of its own.
fn canonical(schema: &Schema) -> Value {
    let mut map = Map::new();
    for keyword in &schema.keywords {
        let name = keyword.name.as_str();
        if PROSE.contains(&name) {
            continue;
        }
        let list = |schemas: &[Schema]| Value::Array(schemas.iter().map(canonical).collect());
        let value = match name {
            "properties" => schema
                .properties
                .iter()
                .map(|(name, schema)| (name.clone(), canonical(schema)))
                .collect::<Map<_, _>>()
                .into(),
            "items" => json!(schema.items.as_deref().map(canonical)),
            "additionalProperties" => match &schema.additional {
                Some(Additional::Schema(schema)) => canonical(schema),
                Some(Additional::Allowed(allowed)) => json!(allowed),
                None => Value::Null,
            },
            "allOf" => list(&schema.all_of),
            "anyOf" => list(&schema.any_of),
            "oneOf" => list(&schema.one_of),
            "not" => json!(schema.not.as_deref().map(canonical)),
            "required" => {
                let mut names = schema.required.clone();
                names.sort_unstable();
                json!(names)
            }
            _ => keyword.value.clone().unwrap_or_default(),
        };
        map.insert(name.to_owned(), value);
    }
    Value::Object(map)
}
