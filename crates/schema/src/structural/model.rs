//! The schema node.

use indexmap::IndexMap;
use serde_json::{Number, Value};

use super::{Path, Pattern, Step};
use crate::document::Span;
use crate::kubernetes::KubeVersion;

/// The types of OpenAPI v3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    /// A list.
    Array,
    /// True or false.
    Boolean,
    /// An integer.
    Integer,
    /// Any number.
    Number,
    /// A map or a record.
    Object,
    /// Text.
    String,
}

impl Type {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Array, Self::Boolean, Self::Integer, Self::Number, Self::Object, Self::String];

    /// The name in a schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    /// Returns true if values of this type have no parts.
    pub fn is_scalar(self) -> bool {
        !matches!(self, Self::Array | Self::Object)
    }
}

/// `additionalProperties`.
#[derive(Debug, Clone, PartialEq)]
pub enum Additional {
    /// `true` or `false`.
    Allowed(bool),
    /// The schema of every value.
    Schema(Box<Schema>),
}

/// One rule of `x-kubernetes-validations`.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its position in the source.
    pub span: Span,
    /// The expression.
    pub rule: String,
    /// The message when it is false.
    pub message: Option<String>,
    /// An expression that computes the message.
    pub message_expression: Option<String>,
    /// The reason reported to the client.
    pub reason: Option<String>,
    /// The field at which the error is reported.
    pub field_path: Option<String>,
    /// True if `oldSelf` is optional, so that the rule runs on creation, too.
    pub optional_old_self: Option<bool>,
}

impl Rule {
    /// Returns true if the rule compares with the old state.
    pub fn is_transition(&self) -> bool {
        self.rule.contains("oldSelf")
    }
}

/// Schemas by name, in source order. Every field of every object is looked up here.
pub type Properties = IndexMap<String, Schema, foldhash::fast::RandomState>;

/// A keyword. Keywords with schemas have no value here: the model contains them.
#[derive(Debug, Clone, PartialEq)]
pub struct Keyword {
    /// The keyword.
    pub name: String,
    /// The location of key and value.
    pub span: Span,
    /// Its value, unless that is a schema or documentation.
    pub value: Option<Value>,
}

/// A keyword whose value the API server cannot read.
#[derive(Debug, Clone, PartialEq)]
pub struct Malformed {
    /// The keyword.
    pub keyword: String,
    /// The location of its value.
    pub span: Span,
    /// The problem.
    pub message: String,
}

/// A schema node with all its keywords.
#[expect(clippy::struct_excessive_bools, reason = "they are the keywords that are flags")]
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// The location of the node.
    pub span: Span,
    /// Every keyword, in source order, known or not.
    pub keywords: Vec<Keyword>,
    /// Keywords that cannot be read.
    pub malformed: Vec<Malformed>,
    /// `type`, if it is one of OpenAPI v3.
    pub ty: Option<Type>,
    /// `format`.
    pub format: Option<String>,
    /// `default`.
    pub default: Option<Value>,
    /// `enum`.
    pub enumeration: Option<Vec<Value>>,
    /// `nullable`.
    pub nullable: bool,
    /// `minimum`.
    pub minimum: Option<Number>,
    /// `maximum`.
    pub maximum: Option<Number>,
    /// `exclusiveMinimum`.
    pub exclusive_minimum: bool,
    /// `exclusiveMaximum`.
    pub exclusive_maximum: bool,
    /// `multipleOf`.
    pub multiple_of: Option<Number>,
    /// `minLength`, in characters.
    pub min_length: Option<i64>,
    /// `maxLength`, in characters.
    pub max_length: Option<i64>,
    /// `pattern`.
    pub pattern: Option<Pattern>,
    /// `minItems`.
    pub min_items: Option<i64>,
    /// `maxItems`.
    pub max_items: Option<i64>,
    /// `uniqueItems`, which the API server refuses.
    pub unique_items: bool,
    /// `minProperties`.
    pub min_properties: Option<i64>,
    /// `maxProperties`.
    pub max_properties: Option<i64>,
    /// `required`.
    pub required: Vec<String>,
    /// `properties`, in source order.
    pub properties: Properties,
    /// `items`.
    pub items: Option<Box<Schema>>,
    /// `additionalProperties`.
    pub additional: Option<Additional>,
    /// `allOf`.
    pub all_of: Vec<Schema>,
    /// `anyOf`.
    pub any_of: Vec<Schema>,
    /// `oneOf`.
    pub one_of: Vec<Schema>,
    /// `not`.
    pub not: Option<Box<Schema>>,
    /// `x-kubernetes-preserve-unknown-fields`.
    pub preserve_unknown_fields: Option<bool>,
    /// `x-kubernetes-embedded-resource`.
    pub embedded_resource: bool,
    /// `x-kubernetes-int-or-string`.
    pub int_or_string: bool,
    /// `x-kubernetes-list-type`.
    pub list_type: Option<String>,
    /// `x-kubernetes-list-map-keys`.
    pub list_map_keys: Vec<String>,
    /// `x-kubernetes-map-type`.
    pub map_type: Option<String>,
    /// `x-kubernetes-validations`.
    pub rules: Vec<Rule>,
    /// The digest of everything that was read. `None` where the schema was not read, or was changed since.
    pub(super) digest: Option<u64>,
}

impl Schema {
    /// A schema without keywords.
    pub fn empty(span: Span) -> Self {
        Self {
            span,
            keywords: Vec::new(),
            malformed: Vec::new(),
            ty: None,
            format: None,
            default: None,
            enumeration: None,
            nullable: false,
            minimum: None,
            maximum: None,
            exclusive_minimum: false,
            exclusive_maximum: false,
            multiple_of: None,
            min_length: None,
            max_length: None,
            pattern: None,
            min_items: None,
            max_items: None,
            unique_items: false,
            min_properties: None,
            max_properties: None,
            required: Vec::new(),
            properties: Properties::default(),
            items: None,
            additional: None,
            all_of: Vec::new(),
            any_of: Vec::new(),
            one_of: Vec::new(),
            not: None,
            preserve_unknown_fields: None,
            embedded_resource: false,
            int_or_string: false,
            list_type: None,
            list_map_keys: Vec::new(),
            map_type: None,
            rules: Vec::new(),
            digest: None,
        }
    }

    /// Returns whether another schema was read from the same keywords and values, wherever they stand. False where that
    /// cannot be told.
    pub(super) fn says_the_same_as(&self, other: &Self) -> bool {
        self.digest.is_some() && self.digest == other.digest
    }

    /// Returns the newest release that admits objects with every field. Since Kubernetes 1.36 a bound that does not fit
    /// the format of its number refuses every value; older objects are still stored and converted.
    pub fn newest_release(&self) -> KubeVersion {
        let fits = |bound: &Option<Number>| {
            bound.as_ref().and_then(Number::as_f64).is_none_or(|bound| bound.abs() <= f64::from(i32::MAX))
        };
        let mut all_fit = true;
        self.walk_all(&mut |_, node| {
            let is_narrow = node.format.as_deref() == Some("int32");
            all_fit &= !is_narrow || (fits(&node.minimum) && fits(&node.maximum));
        });
        if all_fit { KubeVersion::NEWEST } else { KubeVersion::minor(35) }
    }

    /// The keyword as written.
    pub fn keyword(&self, name: &str) -> Option<&Keyword> {
        self.keywords.iter().find(|keyword| keyword.name == name)
    }

    /// Returns the location of a keyword, or of the node itself if it is absent.
    pub fn keyword_span(&self, name: &str) -> Span {
        self.keyword(name).map_or(self.span, |keyword| keyword.span)
    }

    /// Returns true if unknown fields survive at this node.
    pub fn preserves_unknown(&self) -> bool {
        self.preserve_unknown_fields == Some(true)
    }

    /// Returns whether there are rules at this node or below it.
    pub fn has_rules(&self) -> bool {
        !self.rules.is_empty()
            || self.properties.values().any(Self::has_rules)
            || self.items.as_deref().is_some_and(Self::has_rules)
            || self.values().is_some_and(Self::has_rules)
            || self.junctors().any(Self::has_rules)
    }

    /// The schema of map values, if there is one.
    pub fn values(&self) -> Option<&Schema> {
        match &self.additional {
            Some(Additional::Schema(schema)) => Some(schema),
            Some(Additional::Allowed(_)) | None => None,
        }
    }

    /// The schema of a named field: its property, otherwise that of map values.
    pub fn child(&self, name: &str) -> Option<&Schema> {
        self.properties.get(name).or_else(|| self.values())
    }

    /// The schema at a path.
    pub fn at(&self, path: &Path) -> Option<&Schema> {
        path.steps().iter().try_fold(self, |schema, step| match step {
            Step::Field(name) => schema.child(name),
            Step::Item => schema.items.as_deref(),
            Step::Value => schema.values(),
        })
    }

    /// The schema at a path, mutable.
    pub fn at_mut(&mut self, path: &Path) -> Option<&mut Schema> {
        self.digest = None;
        path.steps().iter().try_fold(self, |schema, step| {
            let part = match step {
                Step::Field(name) if schema.properties.contains_key(name) => schema.properties.get_mut(name),
                Step::Item => schema.items.as_deref_mut(),
                Step::Field(_) | Step::Value => match &mut schema.additional {
                    Some(Additional::Schema(values)) => Some(&mut **values),
                    Some(Additional::Allowed(_)) | None => None,
                },
            }?;
            part.digest = None;
            Some(part)
        })
    }

    /// The schema at a JSON pointer into an object.
    pub fn at_pointer(&self, pointer: &str) -> Option<&Schema> {
        pointer.split('/').skip(1).map(crate::document::pointer::unescape).try_fold(self, |schema, part| {
            schema.items.as_deref().filter(|_| part.parse::<usize>().is_ok()).or_else(|| schema.child(&part))
        })
    }

    /// Visits this node and everything below it that describes fields: properties, items, map values. Parents come
    /// first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&Path, &'a Schema)) {
        self.walk_from(&mut Path::root(), visit);
    }

    fn walk_from<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&Path, &'a Schema)) {
        visit(path, self);
        self.parts(|step, part| path.within(step, |path| part.walk_from(path, visit)));
    }

    /// Visits every schema node, including those inside `allOf`, `anyOf`, `oneOf` and `not`. The path is that of the
    /// constrained field.
    pub fn walk_all<'a>(&'a self, visit: &mut dyn FnMut(&Path, &'a Schema)) {
        self.walk_all_from(&mut Path::root(), visit);
    }

    fn walk_all_from<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&Path, &'a Schema)) {
        visit(path, self);
        for schema in self.junctors() {
            schema.walk_all_from(path, visit);
        }
        self.parts(|step, part| path.within(step, |path| part.walk_all_from(path, visit)));
    }

    /// Visits the schemas of parts: properties, items, map values.
    fn parts<'a>(&'a self, mut visit: impl FnMut(Step, &'a Schema)) {
        for (name, schema) in &self.properties {
            visit(Step::Field(name.clone()), schema);
        }
        if let Some(items) = &self.items {
            visit(Step::Item, items);
        }
        if let Some(values) = self.values() {
            visit(Step::Value, values);
        }
    }

    /// The schemas under `allOf`, `anyOf`, `oneOf` and `not`.
    pub fn junctors(&self) -> impl Iterator<Item = &Schema> {
        let several = self.all_of.iter().chain(&self.any_of).chain(&self.one_of);
        several.chain(self.not.as_deref())
    }
}
