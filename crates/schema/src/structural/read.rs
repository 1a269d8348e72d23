//! Reads schema nodes from document nodes. Never fails: malformed keywords are kept as such.

use serde_json::Number;

use super::digest::digest;
use super::{Additional, Keyword, Malformed, Pattern, Rule, Schema, Type};
use crate::document::{Entry, Kind, Node};

impl Schema {
    /// Reads a schema. Keywords of the wrong type end up in [`Schema::malformed`].
    pub fn read(node: &Node) -> Self {
        let mut schema = Self::empty(node.span);
        if !matches!(node.kind, Kind::Map(_)) {
            schema.reject("schema", node, "a schema must be an object");
            return schema;
        }
        for entry in node.entries() {
            schema.take(entry);
        }
        schema.digest = Some(digest(node, &schema));
        schema
    }

    fn take(&mut self, entry: &Entry) {
        let node = &entry.value;
        let prose_or_schema = matches!(
            entry.key.as_str(),
            "description" | "properties" | "items" | "additionalProperties" | "allOf" | "anyOf" | "oneOf" | "not"
        );
        self.keywords.push(Keyword {
            name: entry.key.clone(),
            span: entry.key_span.to(node.span),
            value: if prose_or_schema { None } else { Some(node.to_value()) },
        });
        // An explicit null is the same as a missing keyword, except for `default`.
        if node.is_null() {
            return;
        }
        match entry.key.as_str() {
            "type" => self.take_type(entry),
            "format" => self.format = self.text(entry),
            "default" => self.default = Some(node.to_value()),
            "enum" => self.take_enum(entry),
            "nullable" => self.nullable = self.flag(entry),
            "minimum" => self.minimum = self.number(entry),
            "maximum" => self.maximum = self.number(entry),
            "exclusiveMinimum" => self.exclusive_minimum = self.flag(entry),
            "exclusiveMaximum" => self.exclusive_maximum = self.flag(entry),
            "multipleOf" => self.multiple_of = self.number(entry),
            "minLength" => self.min_length = self.size(entry),
            "maxLength" => self.max_length = self.size(entry),
            "pattern" => self.pattern = self.text(entry).map(|text| Pattern::new(&text)),
            "minItems" => self.min_items = self.size(entry),
            "maxItems" => self.max_items = self.size(entry),
            "uniqueItems" => self.unique_items = self.flag(entry),
            "minProperties" => self.min_properties = self.size(entry),
            "maxProperties" => self.max_properties = self.size(entry),
            "required" => self.required = self.texts(entry),
            "properties" => self.take_properties(entry),
            "items" => self.take_items(entry),
            "additionalProperties" => self.take_additional(entry),
            "allOf" => self.all_of = self.schemas(entry),
            "anyOf" => self.any_of = self.schemas(entry),
            "oneOf" => self.one_of = self.schemas(entry),
            "not" => self.not = Some(Box::new(Self::read(node))),
            "x-kubernetes-preserve-unknown-fields" => self.preserve_unknown_fields = Some(self.flag(entry)),
            "x-kubernetes-embedded-resource" => self.embedded_resource = self.flag(entry),
            "x-kubernetes-int-or-string" => self.int_or_string = self.flag(entry),
            "x-kubernetes-list-type" => self.list_type = self.text(entry),
            "x-kubernetes-list-map-keys" => self.list_map_keys = self.texts(entry),
            "x-kubernetes-map-type" => self.map_type = self.text(entry),
            "x-kubernetes-validations" => self.take_rules(entry),
            "description" | "title" | "id" | "$ref" | "$schema" => {
                self.text(entry);
            }
            "externalDocs" if !matches!(node.kind, Kind::Map(_)) => {
                self.reject("externalDocs", node, "must be an object");
            }
            _ => {}
        }
    }

    fn reject(&mut self, keyword: &str, node: &Node, message: &str) {
        self.malformed.push(Malformed { keyword: keyword.to_owned(), span: node.span, message: message.to_owned() });
    }

    fn take_type(&mut self, entry: &Entry) {
        let Some(text) = self.text(entry) else { return };
        if text.is_empty() {
            return;
        }
        self.ty = Type::ALL.into_iter().find(|ty| ty.as_str() == text);
        if self.ty.is_none() {
            let types = Type::ALL.map(Type::as_str).join(", ");
            self.reject("type", &entry.value, &format!("unknown type {text:?}; possible types: {types}"));
        }
    }

    fn take_enum(&mut self, entry: &Entry) {
        if !matches!(entry.value.kind, Kind::List(_)) {
            return self.reject("enum", &entry.value, "must be a list");
        }
        let values: Vec<_> = entry.value.items().iter().map(Node::to_value).collect();
        self.enumeration = (!values.is_empty()).then_some(values);
    }

    fn take_properties(&mut self, entry: &Entry) {
        if !matches!(entry.value.kind, Kind::Map(_)) {
            return self.reject("properties", &entry.value, "must be an object of schemas");
        }
        for property in entry.value.entries() {
            let mut schema = Self::read(&property.value);
            // A field is found by its name, so its location begins there.
            schema.span = property.key_span.to(schema.span);
            self.properties.insert(property.key.clone(), schema);
        }
    }

    fn take_items(&mut self, entry: &Entry) {
        match entry.value.kind {
            Kind::List(_) => self.reject("items", &entry.value, "must be one schema, not a list of schemas"),
            _ => self.items = Some(Box::new(Self::read(&entry.value))),
        }
    }

    fn take_additional(&mut self, entry: &Entry) {
        self.additional = Some(match entry.value.kind {
            Kind::Bool(allowed) => Additional::Allowed(allowed),
            _ => Additional::Schema(Box::new(Self::read(&entry.value))),
        });
    }

    fn take_rules(&mut self, entry: &Entry) {
        if !matches!(entry.value.kind, Kind::List(_)) {
            return self.reject("x-kubernetes-validations", &entry.value, "must be a list of rules");
        }
        for node in entry.value.items() {
            let text = |key: &str| node.str_at(key).map(str::to_owned);
            self.rules.push(Rule {
                span: node.get("rule").unwrap_or(node).span,
                rule: text("rule").unwrap_or_default(),
                message: text("message"),
                message_expression: text("messageExpression"),
                reason: text("reason"),
                field_path: text("fieldPath"),
                optional_old_self: node.get("optionalOldSelf").and_then(Node::as_bool),
            });
        }
    }

    fn text(&mut self, entry: &Entry) -> Option<String> {
        let text = entry.value.as_str().map(str::to_owned);
        if text.is_none() {
            self.reject(&entry.key, &entry.value, "must be a string");
        }
        text
    }

    fn texts(&mut self, entry: &Entry) -> Vec<String> {
        let texts: Option<Vec<_>> = match entry.value.kind {
            Kind::List(_) => entry.value.items().iter().map(|node| node.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        if texts.is_none() {
            self.reject(&entry.key, &entry.value, "must be a list of strings");
        }
        texts.unwrap_or_default()
    }

    fn flag(&mut self, entry: &Entry) -> bool {
        let flag = entry.value.as_bool();
        if flag.is_none() {
            self.reject(&entry.key, &entry.value, "must be true or false");
        }
        flag.unwrap_or_default()
    }

    fn number(&mut self, entry: &Entry) -> Option<Number> {
        if let Kind::Number(number) = &entry.value.kind {
            return Some(number.clone());
        }
        self.reject(&entry.key, &entry.value, "must be a number");
        None
    }

    fn size(&mut self, entry: &Entry) -> Option<i64> {
        let size = match &entry.value.kind {
            Kind::Number(number) => number.as_i64(),
            _ => None,
        };
        if size.is_none() {
            self.reject(&entry.key, &entry.value, "must be a whole number");
        }
        size
    }

    fn schemas(&mut self, entry: &Entry) -> Vec<Self> {
        if !matches!(entry.value.kind, Kind::List(_)) {
            self.reject(&entry.key, &entry.value, "must be a list of schemas");
        }
        entry.value.items().iter().map(Self::read).collect()
    }
}
