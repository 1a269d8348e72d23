//! One node in both states: its type, its parts and their ownership.

use serde_json::Value;

use super::presence::Node;
use super::rule_logic::Formula;
use super::trail::{Hop, Trail};
use super::{Delta, Direction, Shape, Values, What};
use crate::document::Span;
use crate::names;
use crate::structural::{Additional, Keyword, Path, Schema, Type};

/// A node in both states, and the target of differences.
pub(super) struct Scene<'a> {
    pub(super) old: &'a Schema,
    pub(super) new: &'a Schema,
    pub(super) at: &'a Trail<'a>,
    /// The parent node and the field name, if this node is a named field.
    pub(super) above: Option<(Node<'a>, &'a str)>,
    pub(super) out: &'a mut Vec<Delta>,
}

impl Scene<'_> {
    /// Reports every difference of this node and below it.
    pub(super) fn compare(mut self) {
        // Most of a CRD is as it was. What is equal below this node has no difference, wherever it is required or used.
        if self.old.says_the_same_as(self.new) {
            return;
        }
        self.keywords();
        self.default();
        if !self.shape() {
            return;
        }
        self.nullable();
        self.values();
        self.junctors();
        self.rules();
        self.required();
        self.ownership();
        self.properties();
        self.map_values();
        self.items();
    }

    pub(super) fn node(&self) -> Node<'_> {
        Node { old: self.old, new: self.new }
    }

    /// Reports a difference of this node, located at a keyword if it exists.
    pub(super) fn report(&mut self, keyword: &str, direction: Direction, what: What) {
        let spans = (self.old.keyword_span(keyword), self.new.keyword_span(keyword));
        self.report_at(self.at.path(), spans, direction, what);
    }

    /// Reports a difference at another path and location.
    pub(super) fn report_at(&mut self, path: Path, (old, new): (Span, Span), direction: Direction, what: What) {
        let scalar = Shape::of(self.old).is_scalar() && Shape::of(self.new).is_scalar();
        self.out.push(Delta { path, old, new, direction, ratchets: self.at.correlates && scalar, what });
    }

    /// Compares the types. Returns false if the states have nothing in common to compare.
    fn shape(&mut self) -> bool {
        let (old, new) = (Shape::of(self.old), Shape::of(self.new));
        if old == new {
            return true;
        }
        let whole = Shape::Of(Type::Integer);
        let text = Shape::Of(Type::String);
        let wider = match (old, new) {
            (old, Shape::Of(Type::Number)) => old == whole,
            (old, Shape::IntOrString) => old == whole || old == text,
            // An untyped node keeps scalars, and the contents of others only if unknown fields are preserved.
            (old, Shape::Any) => old.is_scalar() || self.new.preserves_unknown(),
            _ => false,
        };
        let direction = if wider { Direction::Wider } else { Direction::Narrower };
        let keyword =
            if old == Shape::IntOrString || new == Shape::IntOrString { "x-kubernetes-int-or-string" } else { "type" };
        self.report(keyword, direction, What::TypeChanged { old, new });
        wider || (old.is_scalar() && new.is_scalar())
    }

    fn properties(&mut self) {
        let (old, new) = (self.old, self.new);
        for (name, schema) in &new.properties {
            let Some(before) = old.properties.get(name) else {
                // Values that were kept as unknown, or as a map value, now have a schema.
                let free = old.preserves_unknown() || values_of(old) != Values::None;
                let direction = if free && !self.is_meta(name) { Direction::Narrower } else { Direction::Wider };
                let spans = (old.keyword_span("properties"), schema.span);
                self.report_at(self.at.path().field(name), spans, direction, What::PropertyAdded);
                continue;
            };
            let mut at = self.at.then(Hop::Field(name));
            at.required = new.required.contains(name);
            at.was_required = old.required.contains(name) && !before.nullable;
            let above = Some((Node { old, new }, name.as_str()));
            let scene = Scene { old: before, new: schema, at: &at, above, out: self.out };
            scene.compare();
        }
        for (name, schema) in &old.properties {
            if !new.properties.contains_key(name) {
                self.removed(name, schema);
            }
        }
    }

    fn removed(&mut self, name: &str, schema: &Schema) {
        let (old, new) = (self.old, self.new);
        let direction = if new.preserves_unknown() || self.is_meta(name) { Direction::Wider } else { Direction::Lossy };
        let fresh = new.properties.iter().filter(|(name, candidate)| {
            !old.properties.contains_key(*name) && Shape::of(candidate) == Shape::of(schema)
        });
        let renamed_to = names::closest(name, fresh.map(|(name, _)| name.as_str()));
        let what = What::PropertyRemoved { renamed_to: renamed_to.map(str::to_owned) };
        let spans = (schema.span, new.keyword_span("properties"));
        self.report_at(self.at.path().field(name), spans, direction, what);
    }

    /// Returns true if every object has the field, whether the schema names it or not.
    fn is_meta(&self, name: &str) -> bool {
        (self.at.is_root() || self.new.embedded_resource) && matches!(name, "apiVersion" | "kind" | "metadata")
    }

    fn required(&mut self) {
        let (old, new) = (self.old, self.new);
        let spans = (old.keyword_span("required"), new.keyword_span("required"));
        for name in new.required.iter().filter(|name| !old.required.contains(name)) {
            let property = new.properties.get(name);
            let defaulted = property.is_some_and(|property| property.default.is_some());
            // Defaults are applied before validation, so the field is never missing.
            let is_given = defaulted || self.is_meta(name) || self.follows(&Formula::present(name));
            let direction = if is_given { Direction::Harmless } else { Direction::Narrower };
            let path = self.at.path().field(name);
            self.report_at(path, spans, direction, What::RequiredAdded { defaulted });
        }
        for name in old.required.iter().filter(|name| !new.required.contains(name)) {
            let path = self.at.path().field(name);
            self.report_at(path, spans, Direction::Wider, What::RequiredRemoved);
        }
    }

    fn map_values(&mut self) {
        let (old, new) = (values_of(self.old), values_of(self.new));
        if let (Some(before), Some(after)) = (self.old.values(), self.new.values()) {
            let at = self.at.then(Hop::Value);
            let scene = Scene { old: before, new: after, at: &at, above: None, out: self.out };
            return scene.compare();
        }
        let inner_kept = |schema: Option<&Schema>| schema.is_none_or(|schema| Shape::of(schema).is_scalar());
        let direction = match (old, new) {
            (old, new) if old == new => return,
            (_, Values::None) if self.new.preserves_unknown() => Direction::Wider,
            (_, Values::None) => Direction::Lossy,
            (Values::Typed, _) if inner_kept(self.old.values()) => Direction::Wider,
            (Values::Typed, _) => Direction::Lossy,
            (Values::Any, _) => Direction::Narrower,
            (Values::None, _) if self.old.preserves_unknown() => Direction::Narrower,
            (Values::None, _) => Direction::Wider,
        };
        self.report("additionalProperties", direction, What::MapValuesChanged { old, new });
    }

    fn items(&mut self) {
        match (self.old.items.as_deref(), self.new.items.as_deref()) {
            (Some(old), Some(new)) => {
                let mut at = self.at.then(Hop::Item);
                // Items of a list without keys cannot be matched with their old values.
                at.correlates &= self.new.list_type.as_deref() == Some("map");
                let scene = Scene { old, new, at: &at, above: None, out: self.out };
                scene.compare();
            }
            (None, None) => {}
            (_, new) => {
                let described = new.is_some();
                let is_free = !described && self.new.preserves_unknown();
                let direction = if is_free { Direction::Wider } else { Direction::Unknown };
                self.report("items", direction, What::ItemsChanged { described });
            }
        }
    }

    /// Compares ownership of parts, and the handling of unnamed fields.
    fn ownership(&mut self) {
        let (old, new) = (self.old, self.new);
        let lists = (list_type(old), list_type(new));
        if lists.0 != lists.1 {
            let what = What::ListTypeChanged { old: lists.0.to_owned(), new: lists.1.to_owned() };
            self.report("x-kubernetes-list-type", Direction::Meaning, what);
        } else if old.list_map_keys != new.list_map_keys {
            let what = What::ListKeysChanged { old: old.list_map_keys.clone(), new: new.list_map_keys.clone() };
            self.report("x-kubernetes-list-map-keys", Direction::Meaning, what);
        }
        let maps = (map_type(old), map_type(new));
        if maps.0 != maps.1 {
            let what = What::MapTypeChanged { old: maps.0.to_owned(), new: maps.1.to_owned() };
            self.report("x-kubernetes-map-type", Direction::Meaning, what);
        }
        if old.preserves_unknown() != new.preserves_unknown() {
            let preserved = new.preserves_unknown();
            let direction = if preserved { Direction::Wider } else { Direction::Lossy };
            let what = What::PreserveUnknownChanged { preserved };
            self.report("x-kubernetes-preserve-unknown-fields", direction, what);
        }
        if old.embedded_resource != new.embedded_resource {
            let embedded = new.embedded_resource;
            let direction = match (embedded, new.preserves_unknown()) {
                (true, _) => Direction::Narrower,
                (false, true) => Direction::Wider,
                (false, false) => Direction::Lossy,
            };
            let what = What::EmbeddedResourceChanged { embedded };
            self.report("x-kubernetes-embedded-resource", direction, what);
        }
    }

    /// Compares keywords for documentation, and unknown keywords.
    fn keywords(&mut self) {
        let (old, new) = (self.old, self.new);
        let gone = |keyword: &&Keyword| new.keyword(&keyword.name).is_none();
        for keyword in new.keywords.iter().chain(old.keywords.iter().filter(gone)) {
            let name = keyword.name.as_str();
            if UNDERSTOOD.binary_search(&name).is_ok() && !self.is_malformed(name) {
                continue;
            }
            let before = old.keyword(name).map(|keyword| &keyword.value);
            let after = new.keyword(name).map(|keyword| &keyword.value);
            if before == after {
                continue;
            }
            let keyword = name.to_owned();
            if PROSE.contains(&name) {
                self.report(name, Direction::Harmless, What::Annotated { keyword });
            } else {
                let what =
                    What::NotUnderstood { keyword, old: before.cloned().flatten(), new: after.cloned().flatten() };
                self.report(name, Direction::Unknown, what);
            }
        }
    }

    fn is_malformed(&self, name: &str) -> bool {
        let mut malformed = self.old.malformed.iter().chain(&self.new.malformed);
        malformed.any(|malformed| malformed.keyword == name)
    }
}

fn list_type(schema: &Schema) -> &str {
    schema.list_type.as_deref().unwrap_or("atomic")
}

fn map_type(schema: &Schema) -> &str {
    schema.map_type.as_deref().unwrap_or("granular")
}

fn values_of(schema: &Schema) -> Values {
    match schema.additional {
        Some(Additional::Schema(_)) => Values::Typed,
        Some(Additional::Allowed(true)) => Values::Any,
        Some(Additional::Allowed(false)) | None => Values::None,
    }
}

/// Compares numbers by value: 1 and 1.0 are the same.
pub(super) fn same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Number(old), Value::Number(new)) => super::value::order(old, new) == std::cmp::Ordering::Equal,
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same(old, new))
        }
        (Value::Object(old), Value::Object(new)) => {
            old.len() == new.len() && old.iter().all(|(key, value)| new.get(key).is_some_and(|new| same(value, new)))
        }
        _ => old == new,
    }
}

/// Keywords for documentation.
pub(super) const PROSE: [&str; 4] = ["description", "example", "externalDocs", "title"];

/// Keywords whose meaning is compared.
pub(super) const UNDERSTOOD: [&str; 33] = [
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "type",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];
