//! Objects whose admission is plain to see.

use super::admit::{Request, Validator, read_type, settle, wrong_kind};
use super::held::is_held;
use super::place::{DEPTH_LIMIT, Place, is_deeper_than};
use super::resource::{Naming, Strictness, judge_created, read_metadata};
use super::scale::judge_scale;
use super::verdict::Findings;

impl Validator<'_> {
    /// Whether an object that is to be created is surely admitted, seen without a copy of it. Where this says no,
    /// [`Validator::admit`] may still admit it.
    pub(crate) fn plainly_admits(&self, request: &Request<'_>) -> bool {
        let (schema, object) = (self.schema, request.object);
        let Some((map, metadata)) = object.as_object().and_then(|map| Some((map, map.get("metadata")?))) else {
            return false;
        };
        // Servers judge objects with other metadata than they were sent with, which nothing here must see.
        let sees_metadata = schema.properties.contains_key("metadata")
            || schema.additional.is_some()
            || schema.enumeration.is_some()
            || schema.junctors().next().is_some();
        let plain = !(sees_metadata || self.embeds || self.has_rules() || request.status_subresource);
        if !plain || request.old.is_some() || is_deeper_than(object, DEPTH_LIMIT) || !is_held(Some(schema), object) {
            return false;
        }
        let (Ok(()), Ok(metadata)) = (read_type(map, request), read_metadata(metadata, Strictness::Refuse)) else {
            return false;
        };
        let mut findings = Findings::default();
        findings.violations.extend(wrong_kind(object, request));
        let root = Place::root();
        let place = root.field("metadata");
        judge_created(&settle(metadata, request), Naming::Subdomain, &place, &mut findings.violations);
        let filled = self.filled(object);
        self.judge(&filled, None, &mut findings);
        if let Some(scale) = &request.scale {
            judge_scale(&filled, scale, &mut findings.violations);
        }
        findings.violations.is_empty()
    }
}
