//! Objects whose admission is plain to see.

use serde_json::Value;

use super::admit::{Request, Validator, read_type, wrong_kind};
use super::held::is_held;
use super::place::Place;
use super::resource::{Naming, judge_created, reads_as_it_is};
use super::scale::judge_scale;
use super::verdict::Findings;

impl Validator<'_> {
    /// Whether an object that is to be created is surely admitted, seen without a copy of it. Where this says no,
    /// [`Validator::admit`] may still admit it.
    pub(crate) fn plainly_admits(&self, request: &Request<'_>) -> bool {
        let (schema, object) = (self.schema, request.object);
        let Some(map) = object.as_object() else { return false };
        let Some(metadata) = map.get("metadata").and_then(Value::as_object) else { return false };
        // Servers judge objects with other metadata than they were sent with, which nothing here must see.
        let sees_metadata = schema.properties.contains_key("metadata")
            || schema.additional.is_some()
            || schema.enumeration.is_some()
            || schema.junctors().next().is_some();
        let plain = !(sees_metadata || self.embeds || self.has_rules() || request.status_subresource);
        if !plain || request.old.is_some() || !is_held(Some(schema), object) {
            return false;
        }
        if read_type(map, request).is_err() || !reads_as_it_is(metadata) {
            return false;
        }
        let mut findings = Findings::default();
        findings.violations.extend(wrong_kind(object, request));
        let root = Place::root();
        let place = root.field("metadata");
        // What servers set themselves before they judge this can only make it better.
        judge_created(metadata, Naming::Subdomain, &place, &mut findings.violations);
        let filled = self.filled(object);
        self.judge(&filled, None, &mut findings);
        if let Some(scale) = &request.scale {
            judge_scale(&filled, scale, &mut findings.violations);
        }
        findings.violations.is_empty()
    }
}
