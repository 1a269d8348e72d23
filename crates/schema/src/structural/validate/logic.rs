//! `allOf`, `anyOf`, `oneOf` and `not`.
//!
//! Beside the violation of the composition itself, which has no path, the server shows those of one
//! failing alternative. Nothing in a composition is forgiven for being unchanged.

use super::super::Schema;
use super::super::place::Place;
use super::{Check, Outcome};

impl<'a> Check<'a> {
    pub(super) fn compositions<T: Outcome>(&self, place: &Place<'_>) -> T {
        let mut outcome = T::default();
        if !self.schema.any_of.is_empty() {
            self.any_of(place, &mut outcome);
        }
        if !self.schema.one_of.is_empty() {
            self.one_of(place, &mut outcome);
        }
        if !self.schema.all_of.is_empty() {
            self.all_of(place, &mut outcome);
        }
        if let Some(schema) = self.schema.not.as_deref()
            && self.alternative(schema).run::<T>(place, None).is_valid()
        {
            let message = || format!("{} must not match the schema under not", place.dotted());
            outcome.add(|| place.broken_as_a_whole("not", message()));
        }
        outcome.count();
        outcome
    }

    fn each<T: Outcome>(&self, schemas: &'a [Schema], place: &Place<'_>) -> impl Iterator<Item = T> {
        schemas.iter().map(move |schema| self.alternative(schema).run(place, None))
    }

    fn any_of<T: Outcome>(&self, place: &Place<'_>, outcome: &mut T) {
        let mut best = None;
        for result in self.each::<T>(&self.schema.any_of, place) {
            if result.is_valid() {
                return outcome.merge(result);
            }
            best = Some(further(best, result));
        }
        let message = || format!("{} matches no schema under anyOf", place.dotted());
        outcome.add(|| place.broken_as_a_whole("anyOf", message()));
        outcome.merge(best.unwrap_or_default());
    }

    fn one_of<T: Outcome>(&self, place: &Place<'_>, outcome: &mut T) {
        let mut matching = 0;
        let mut first = None;
        let mut best = None;
        for result in self.each::<T>(&self.schema.one_of, place) {
            if result.is_valid() {
                matching += 1;
                first = first.or(Some(result));
                best = None;
            } else if matching == 0 {
                best = Some(further(best, result));
            }
        }
        if matching == 1 {
            return outcome.merge(first.unwrap_or_default());
        }
        let message = || match matching {
            0 => format!("{} matches no schema under oneOf", place.dotted()),
            _ => format!("{} must match one schema under oneOf, matches {matching}", place.dotted()),
        };
        outcome.add(|| place.broken_as_a_whole("oneOf", message()));
        outcome.merge(best.unwrap_or_default());
    }

    fn all_of<T: Outcome>(&self, place: &Place<'_>, outcome: &mut T) {
        let mut matching = 0;
        for result in self.each::<T>(&self.schema.all_of, place) {
            if result.is_valid() {
                matching += 1;
            }
            outcome.merge(result);
        }
        let count = self.schema.all_of.len();
        if matching < count {
            let how_many = if matching == 0 { "none" } else { "not all" };
            let message = || format!("{} must match all schemas under allOf, matches {how_many}", place.dotted());
            outcome.add(|| place.broken_as_a_whole("allOf", message()));
        }
    }
}

/// Of two failures the one with more successful checks, and the earlier one of equals.
fn further<T: Outcome>(best: Option<T>, other: T) -> T {
    match best {
        Some(best) if !other.came_further_than(&best) => best,
        _ => other,
    }
}
