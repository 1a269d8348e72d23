//! Schemas that apply together: `allOf` merged, alternatives chosen.

use crate::structural::Schema;

/// Maximum number of combinations of alternatives that are distinguished.
pub(super) const MAX_VARIANTS: usize = 48;

/// Schemas that must all match, and schemas that must not.
#[derive(Debug, Clone)]
pub(super) struct Conjunction<'a> {
    pub(super) schemas: Vec<&'a Schema>,
    pub(super) nots: Vec<&'a Schema>,
    /// The number of schemas whose alternatives are chosen.
    chosen: usize,
}

impl<'a> Conjunction<'a> {
    pub(super) fn of(schemas: Vec<&'a Schema>) -> Self {
        Self { schemas, nots: Vec::new(), chosen: 0 }
    }

    /// Adds the schemas of `allOf`, which always apply.
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
        // None of several matches if each does not.
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

    /// The conjunctions for each alternative of the first open group.
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
                .take(MAX_VARIANTS)
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

/// Returns true if a schema has no other keyword.
pub(super) fn says_only(schema: &Schema, keyword: &str) -> bool {
    schema.keywords.iter().all(|written| written.name == keyword || written.name == "description")
}
