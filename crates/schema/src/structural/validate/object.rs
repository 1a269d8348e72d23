//! Objects, maps and lists.

use serde_json::{Map, Value};

use super::super::place::Place;
use super::super::ratchet::Correlation;
use super::super::verdict::Reason;
use super::super::{Additional, Schema};
use super::{Check, Tally};

impl<'a> Check<'a> {
    pub(super) fn properties(
        &self,
        map: &'a Map<String, Value>,
        place: &Place<'_>,
        correlation: Option<&Correlation<'a>>,
    ) -> Tally {
        let mut tally = Tally::default();
        self.property_count(map.len(), place, &mut tally);
        let forbidden = self.schema.additional == Some(Additional::Allowed(false));
        for (name, value) in map {
            if let Some(property) = self.schema.properties.get(name) {
                let child = place.field(name);
                tally.merge(self.child(property, name, value, &child, correlation));
            } else if let Some(values) = self.schema.values() {
                let child = place.value(name);
                tally.merge(self.child(values, name, value, &child, correlation));
            } else if forbidden {
                let message = format!("the key {name:?} is not allowed");
                tally.add(place.violation(Reason::Invalid, "additionalProperties", message));
            }
        }
        for name in &self.schema.required {
            if !map.contains_key(name) {
                tally.add(place.field(name).violation(Reason::Required, "required", "is required".to_owned()));
            }
        }
        tally
    }

    fn property_count(&self, count: usize, place: &Place<'_>, tally: &mut Tally) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        if let Some(least) = self.schema.min_properties.filter(|least| count < *least) {
            let message = format!("has {count} properties, must have {least}");
            tally.add(place.violation(Reason::Invalid, "minProperties", message));
        }
        if let Some(most) = self.schema.max_properties.filter(|most| count > *most) {
            let message = format!("has {count} properties, may have at most {most}");
            tally.add(place.violation(Reason::TooMany, "maxProperties", message));
        }
    }

    fn child(
        &self,
        schema: &'a Schema,
        name: &str,
        value: &'a Value,
        place: &Place<'_>,
        correlation: Option<&Correlation<'a>>,
    ) -> Tally {
        let correlation = correlation.and_then(|correlation| correlation.key(name));
        self.part(schema, value).run(place, correlation.as_ref())
    }

    pub(super) fn items(&self, items: &'a [Value], place: &Place<'_>, correlation: Option<&Correlation<'a>>) -> Tally {
        let mut tally = Tally::default();
        if let Some(schema) = self.schema.items.as_deref() {
            for (index, item) in items.iter().enumerate() {
                let correlation = correlation.and_then(|correlation| correlation.index(index));
                let place = place.item(index);
                tally.merge(self.part(schema, item).run(&place, correlation.as_ref()));
            }
        }
        let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
        if let Some(least) = self.schema.min_items.filter(|least| count < *least) {
            let message = format!("has {count} items, must have {least}");
            tally.add(place.violation(Reason::Invalid, "minItems", message));
        }
        if let Some(most) = self.schema.max_items.filter(|most| count > *most) {
            let message = format!("has {count} items, may have at most {most}");
            tally.add(place.violation(Reason::TooMany, "maxItems", message));
        }
        tally.count();
        tally
    }
}
