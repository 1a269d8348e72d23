//! The rules of structural schemas.

use crate::checks::Severity;
use crdproof_schema::document::Span;
use crdproof_schema::structural::{Additional, Keyword, Path, Pattern, Schema, Type, is_known_format};

use super::shared_keywords::{KNOWN, OUTER_ONLY, ROOT_WITH_STATUS, is_forbidden, says_nothing, unknown_fields};

/// One reason why a schema is not structural.
pub(super) struct Fault {
    pub(super) path: Path,
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) help: Option<&'static str>,
    pub(super) severity: Severity,
}

/// Finds every fault of a version's schema.
pub(super) fn faults(schema: &Schema, status_subresource: bool) -> Vec<Fault> {
    let mut finder = Finder { faults: Vec::new() };
    finder.structural(schema, &Path::root(), Level::Root);
    if schema.nullable {
        finder.fault(&Path::root(), schema.keyword_span("nullable"), "the root must not be nullable".into(), None);
    }
    if status_subresource {
        finder.root_with_status(schema);
    } else {
        for nested in schema.junctors() {
            finder.complete(nested, schema, &Path::root());
        }
    }
    finder.faults
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

struct Finder {
    faults: Vec<Fault>,
}

impl Finder {
    fn fault(&mut self, path: &Path, span: Span, message: String, help: Option<&'static str>) {
        self.faults.push(Fault { path: path.clone(), span, message, help, severity: Severity::Error });
    }

    fn warn(&mut self, path: &Path, span: Span, message: String, help: &'static str) {
        self.faults.push(Fault { path: path.clone(), span, message, help: Some(help), severity: Severity::Warning });
    }

    /// Reports keywords that the status subresource excludes, unless they have another fault, too.
    fn root_with_status(&mut self, schema: &Schema) {
        for keyword in &schema.keywords {
            let name = keyword.name.as_str();
            let excluded = KNOWN.contains(&name) && !ROOT_WITH_STATUS.contains(&name) && !says_nothing(keyword);
            if excluded && !self.faults.iter().any(|fault| fault.span == keyword.span) {
                let message = format!("{name} is not allowed at the root of a version with the status subresource");
                self.fault(&Path::root(), keyword.span, message, None);
            }
        }
    }

    fn structural(&mut self, schema: &Schema, path: &Path, level: Level) {
        self.keywords(schema, path);
        let is_union = self.typed(schema, path, level);
        self.extensions(schema, path);
        self.meta(schema, path, level);
        for (name, property) in &schema.properties {
            self.structural(property, &path.field(name), Level::Field);
        }
        if let Some(items) = &schema.items {
            self.structural(items, &path.item(), Level::Item);
        }
        if let Some(values) = schema.values() {
            self.structural(values, &path.value(), Level::Field);
        }
        self.junctors(schema, path, is_union);
    }

    /// Finds defects of keywords wherever they are used.
    fn keywords(&mut self, schema: &Schema, path: &Path) {
        for malformed in &schema.malformed {
            self.fault(path, malformed.span, format!("{}: {}", malformed.keyword, malformed.message), None);
        }
        schema.keywords.iter().for_each(|keyword| self.keyword(keyword, path));
        if !is_known_format(schema) {
            let format = schema.format.as_deref().unwrap_or_default();
            let message =
                format!("API servers do not know the format {format:?} here: they warn of it, and do not check it");
            self.warn(path, schema.keyword_span("format"), message, "use a pattern, or remove the format");
        }
        if schema.unique_items {
            let help = Some("use `x-kubernetes-list-type: set`");
            self.fault(path, schema.keyword_span("uniqueItems"), "uniqueItems must not be true".into(), help);
        }
        if let Some(why) = schema.pattern.as_ref().and_then(Pattern::fault) {
            self.fault(
                path,
                schema.keyword_span("pattern"),
                format!("the pattern does not compile: {why}"),
                Some("use RE2 syntax: no look-around, no back-references"),
            );
        }
        let refused = matches!(schema.additional, Some(Additional::Allowed(false) | Additional::Schema(_)));
        if refused && !schema.properties.is_empty() {
            let span = schema.keyword_span("additionalProperties");
            self.fault(path, span, "properties and additionalProperties exclude each other".into(), None);
        }
        if schema.preserve_unknown_fields == Some(false) {
            let span = schema.keyword_span("x-kubernetes-preserve-unknown-fields");
            self.fault(path, span, "x-kubernetes-preserve-unknown-fields must be true or absent".into(), None);
        }
    }

    fn keyword(&mut self, keyword: &Keyword, path: &Path) {
        let name = keyword.name.as_str();
        if is_forbidden(keyword) {
            self.fault(path, keyword.span, format!("{name} is not supported in CRD schemas"), None);
        } else if !KNOWN.contains(&name) {
            let message = format!(
                "{name} is not a keyword of CRD schemas; the API server drops it, and strict appliers refuse it"
            );
            self.warn(path, keyword.span, message, "remove it");
        }
        for field in unknown_fields(keyword) {
            let message =
                format!("{field} is not a field of {name}; the API server drops it, and strict appliers refuse it");
            self.warn(path, keyword.span, message, "remove it");
        }
    }

    /// Returns true if the field has no type because its alternatives have several, and that was reported.
    fn typed(&mut self, schema: &Schema, path: &Path, level: Level) -> bool {
        let span = schema.keyword_span("type");
        if level == Level::Root && schema.ty.is_some_and(|ty| ty != Type::Object) {
            self.fault(path, span, "the root must be an object".into(), None);
        }
        if schema.ty == Some(Type::Array)
            && schema.items.is_none()
            && !schema.malformed.iter().any(|m| m.keyword == "items")
        {
            self.fault(
                path,
                span,
                "an array needs `items`".into(),
                Some("describe the items, or say `items: {x-kubernetes-preserve-unknown-fields: true}`"),
            );
        }
        let is_stated = schema.ty.is_some() || schema.malformed.iter().any(|m| m.keyword == "type");
        let needs_type = !is_stated && !schema.int_or_string && !schema.preserves_unknown();
        let union = union_of(schema);
        let is_union = needs_type && union.len() > 1;
        if is_union {
            let names: Vec<_> = union.iter().map(|ty| ty.as_str()).collect();
            let message = format!("structural schemas have no unions: this is {}", names.join(" or "));
            let help = match union.as_slice() {
                [Type::Integer, Type::String] | [Type::String, Type::Integer] => {
                    "add `x-kubernetes-int-or-string: true`, with `anyOf: [{type: integer}, {type: string}]` or without anyOf"
                }
                _ => {
                    "say `x-kubernetes-preserve-unknown-fields: true` instead, without a type, and restrict the value by rules"
                }
            };
            self.fault(path, schema.span, message, Some(help));
        } else if needs_type && !schema.embedded_resource {
            let what = match level {
                Level::Root => "the root",
                Level::Item => "the items of a list",
                Level::Field => "a field",
            };
            self.fault(
                path,
                schema.span,
                format!("{what} needs a type"),
                Some("add `type:`, or `x-kubernetes-int-or-string: true`"),
            );
        }
        if level == Level::Root && schema.additional.is_some() {
            self.fault(
                path,
                schema.keyword_span("additionalProperties"),
                "additionalProperties is not allowed at the root".into(),
                None,
            );
        }
        is_union
    }

    fn extensions(&mut self, schema: &Schema, path: &Path) {
        if schema.int_or_string && (schema.preserves_unknown() || schema.embedded_resource) {
            let span = schema.keyword_span("x-kubernetes-int-or-string");
            self.fault(
                path,
                span,
                "x-kubernetes-int-or-string excludes preserve-unknown-fields and embedded-resource".into(),
                None,
            );
        }
        if schema.embedded_resource {
            let span = schema.keyword_span("x-kubernetes-embedded-resource");
            if schema.ty != Some(Type::Object) {
                self.fault(path, span, "an embedded resource must have type object".into(), None);
            }
            if schema.additional.is_some() {
                self.fault(path, span, "an embedded resource must not have additionalProperties".into(), None);
            }
            if !schema.preserves_unknown() && schema.properties.is_empty() {
                self.fault(
                    path,
                    span,
                    "an embedded resource needs properties or x-kubernetes-preserve-unknown-fields".into(),
                    None,
                );
            }
        }
        if schema.map_type.is_some() && schema.ty != Some(Type::Object) {
            self.fault(
                path,
                schema.keyword_span("x-kubernetes-map-type"),
                "x-kubernetes-map-type needs type object".into(),
                None,
            );
        }
        if schema.list_type.is_some() && schema.ty != Some(Type::Array) {
            self.fault(
                path,
                schema.keyword_span("x-kubernetes-list-type"),
                "x-kubernetes-list-type needs type array".into(),
                None,
            );
        }
        for (keyword, value, valid) in [
            ("x-kubernetes-map-type", &schema.map_type, &["atomic", "granular"][..]),
            ("x-kubernetes-list-type", &schema.list_type, &["atomic", "set", "map"][..]),
        ] {
            if let Some(value) = value.as_ref().filter(|value| !valid.contains(&value.as_str())) {
                self.fault(
                    path,
                    schema.keyword_span(keyword),
                    format!("{keyword} {value:?} is not one of {}", valid.join(", ")),
                    None,
                );
            }
        }
    }

    /// Checks apiVersion, kind and metadata of the root and of embedded resources.
    fn meta(&mut self, schema: &Schema, path: &Path, level: Level) {
        if level != Level::Root && !schema.embedded_resource {
            return;
        }
        for (name, ty) in [("apiVersion", Type::String), ("kind", Type::String), ("metadata", Type::Object)] {
            if let Some(property) = schema.properties.get(name).filter(|property| property.ty != Some(ty)) {
                self.fault(&path.field(name), property.span, format!("{name} must have type {}", ty.as_str()), None);
            }
        }
        if level == Level::Root
            && let Some(metadata) = schema.properties.get("metadata")
        {
            let allowed_keyword = |name: &str| matches!(name, "type" | "description" | "properties" | "default");
            let strange = metadata
                .keywords
                .iter()
                .find(|keyword| !allowed_keyword(&keyword.name) && KNOWN.contains(&keyword.name.as_str()));
            let property =
                metadata.properties.iter().find(|(name, _)| !matches!(name.as_str(), "name" | "generateName"));
            if let Some(span) = strange.map(|keyword| keyword.span).or_else(|| property.map(|(_, schema)| schema.span))
            {
                let help = Some("keep `metadata: {type: object}`; only name and generateName may be restricted");
                self.fault(
                    &path.field("metadata"),
                    span,
                    "the schema of metadata may restrict only name and generateName".into(),
                    help,
                );
            }
        }
    }

    fn junctors(&mut self, schema: &Schema, path: &Path, is_union: bool) {
        if is_union {
            return;
        }
        let int_or_string = |schemas: &[Schema]| {
            matches!(schemas, [left, right] if left.ty == Some(Type::Integer) && right.ty == Some(Type::String)
                && left.keywords.len() == 1 && right.keywords.len() == 1)
        };
        if !int_or_string(&schema.any_of) {
            schema.any_of.iter().for_each(|nested| self.nested(nested, path));
        }
        for (index, nested) in schema.all_of.iter().enumerate() {
            if index == 0 && int_or_string(&nested.any_of) {
                self.nested_keywords(nested, path);
            } else {
                self.nested(nested, path);
            }
        }
        schema.one_of.iter().for_each(|nested| self.nested(nested, path));
        schema.not.iter().for_each(|nested| self.nested(nested, path));
    }

    /// Checks a schema inside allOf, anyOf, oneOf or not: it may only restrict.
    fn nested(&mut self, schema: &Schema, path: &Path) {
        self.nested_keywords(schema, path);
        schema.junctors().for_each(|nested| self.nested(nested, path));
    }

    fn nested_keywords(&mut self, schema: &Schema, path: &Path) {
        self.keywords(schema, path);
        for keyword in &schema.keywords {
            if OUTER_ONLY.contains(&keyword.name.as_str()) && !says_nothing(keyword) {
                let message = format!("{} is not allowed inside allOf, anyOf, oneOf or not", keyword.name);
                self.fault(
                    path,
                    keyword.span,
                    message,
                    Some("state it once, outside, and only restrict values inside"),
                );
            }
        }
        for (name, property) in &schema.properties {
            if name == "metadata" {
                self.fault(
                    path,
                    property.span,
                    "metadata is not allowed inside allOf, anyOf, oneOf or not".into(),
                    None,
                );
            }
            self.nested(property, &path.field(name));
        }
        if let Some(items) = &schema.items {
            self.nested(items, &path.item());
        }
    }

    /// Checks that fields inside the root's allOf, anyOf, oneOf and not are also declared outside.
    fn complete(&mut self, nested: &Schema, outer: &Schema, path: &Path) {
        for (name, property) in &nested.properties {
            if let Some(declared) = outer.properties.get(name) {
                self.complete(property, declared, &path.field(name));
            } else {
                let message = format!("{} is restricted here but declared nowhere", path.field(name));
                let help = Some("declare the field under `properties`, too");
                self.fault(&path.field(name), property.span, message, help);
            }
        }
        for deeper in nested.junctors() {
            self.complete(deeper, outer, path);
        }
    }
}

/// The types of a schema's alternatives, each once.
fn union_of(schema: &Schema) -> Vec<Type> {
    let mut types = Vec::new();
    for ty in schema.any_of.iter().chain(&schema.one_of).filter_map(|option| option.ty) {
        if !types.contains(&ty) {
            types.push(ty);
        }
    }
    types
}
