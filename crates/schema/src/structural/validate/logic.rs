//! `allOf`, `anyOf`, `oneOf` and `not`.
//!
//! Besides the violation of the composition itself, which has no path, the server shows those of one failing
//! alternative. Ratcheting does not apply inside a composition.

use super::super::Schema;
use super::super::place::Place;
use super::{Check, Tally};

impl<'a> Check<'a> {
    pub(super) fn compositions(&self, place: &Place<'_>) -> Tally {
        let mut tally = Tally::default();
        if !self.schema.any_of.is_empty() {
            self.any_of(place, &mut tally);
        }
        if !self.schema.one_of.is_empty() {
            self.one_of(place, &mut tally);
        }
        if !self.schema.all_of.is_empty() {
            self.all_of(place, &mut tally);
        }
        if let Some(schema) = self.schema.not.as_deref()
            && self.alternative(schema).run(place, None).is_valid()
        {
            let message = format!("{} must not match the schema under not", place.dotted());
            tally.add(place.violation_of_whole("not", message));
        }
        tally.count();
        tally
    }

    fn each(&self, schemas: &'a [Schema], place: &Place<'_>) -> impl Iterator<Item = Tally> {
        schemas.iter().map(move |schema| self.alternative(schema).run(place, None))
    }

    fn any_of(&self, place: &Place<'_>, tally: &mut Tally) {
        let mut best = None;
        for result in self.each(&self.schema.any_of, place) {
            if result.is_valid() {
                return tally.merge(result);
            }
            best = Some(further(best, result));
        }
        let message = format!("{} matches no schema under anyOf", place.dotted());
        tally.add(place.violation_of_whole("anyOf", message));
        tally.merge(best.unwrap_or_default());
    }

    fn one_of(&self, place: &Place<'_>, tally: &mut Tally) {
        let mut matching = 0;
        let mut first = None;
        let mut best = None;
        for result in self.each(&self.schema.one_of, place) {
            if result.is_valid() {
                matching += 1;
                first = first.or(Some(result));
                best = None;
            } else if matching == 0 {
                best = Some(further(best, result));
            }
        }
        if matching == 1 {
            return tally.merge(first.unwrap_or_default());
        }
        let message = match matching {
            0 => format!("{} matches no schema under oneOf", place.dotted()),
            _ => format!("{} must match one schema under oneOf, matches {matching}", place.dotted()),
        };
        tally.add(place.violation_of_whole("oneOf", message));
        tally.merge(best.unwrap_or_default());
    }

    fn all_of(&self, place: &Place<'_>, tally: &mut Tally) {
        let mut matching = 0;
        for result in self.each(&self.schema.all_of, place) {
            if result.is_valid() {
                matching += 1;
            }
            tally.merge(result);
        }
        let count = self.schema.all_of.len();
        if matching < count {
            let how_many = if matching == 0 { "none" } else { "not all" };
            let message = format!("{} must match all schemas under allOf, matches {how_many}", place.dotted());
            tally.add(place.violation_of_whole("allOf", message));
        }
    }
}

/// Of two failures the one with more successful checks, and the earlier one of equals.
fn further(best: Option<Tally>, other: Tally) -> Tally {
    match best {
        Some(best) if other.matches <= best.matches => best,
        _ => other,
    }
}
