//! Schemas that apply together: `allOf` joined, alternatives chosen.

use crate::structural::Schema;

/// More combinations of alternatives are not told apart.
pub(super) const MOST_VARIANTS: usize = 48;

/// Schemas that all hold, and schemas that must not.
#[derive(Debug, Clone)]
pub(super) struct Conjunction<'a> {
    pub(super) schemas: Vec<&'a Schema>,
    pub(super) nots: Vec<&'a Schema>,
    /// How many of the schemas have had their alternatives chosen.
    chosen: usize,
}

impl<'a> Conjunction<'a> {
    pub(super) fn of(schemas: Vec<&'a Schema>) -> Self {
        Self { schemas, nots: Vec::new(), chosen: 0 }
    }

    /// Adds what `allOf` holds, which always applies.
    pub(super) fn flatten(&mut self, from: usize) {
        let mut at = from;
        while let Some(schema) = self.schemas.get(at).copied() {
            self.schemas.extend(&schema.all_of);
            self.nots.extend(schema.not.as_deref());
            at += 1;
            if self.schemas.len() > 4096 {
                break;
            }
        }
        // That none of several holds means that each does not.
        let mut at = 0;
        while let Some(not) = self.nots.get(at).copied() {
            if !not.any_of.is_empty() && says_only(not, "anyOf") {
                self.nots.swap_remove(at);
                self.nots.extend(&not.any_of);
            } else {
                at += 1;
            }
        }
    }

    /// The conjunctions that come of choosing one alternative of the first open group.
    pub(super) fn variants(&self) -> Option<Vec<Self>> {
        let at = (self.chosen..self.schemas.len()).find(|at| has_alternatives(self.schemas[*at]))?;
        let schema = self.schemas[at];
        let mut variants = vec![self.clone()];
        for (group, exclusive) in [(&schema.any_of, false), (&schema.one_of, true)] {
            if group.is_empty() {
                continue;
            }
            variants = variants
                .into_iter()
                .flat_map(|variant| {
                    group.iter().enumerate().map(move |(chosen, option)| {
                        let mut variant = variant.clone();
                        variant.schemas.push(option);
                        let others = group.iter().enumerate().filter(|(other, _)| exclusive && *other != chosen);
                        variant.nots.extend(others.map(|(_, other)| other));
                        variant
                    })
                })
                .take(MOST_VARIANTS)
                .collect();
        }
        for variant in &mut variants {
            variant.flatten(self.schemas.len());
            variant.chosen = at + 1;
        }
        Some(variants)
    }
}

fn has_alternatives(schema: &Schema) -> bool {
    // The alternatives of int-or-string only repeat its types.
    let types_only = schema.int_or_string && schema.any_of.iter().all(|option| says_only(option, "type"));
    (!schema.any_of.is_empty() && !types_only) || !schema.one_of.is_empty()
}

/// Returns whether a schema has no other keyword.
pub(super) fn says_only(schema: &Schema, keyword: &str) -> bool {
    schema.keywords.iter().all(|written| written.name == keyword || written.name == "description")
}
