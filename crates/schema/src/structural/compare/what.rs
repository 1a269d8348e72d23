//! Kinds of changes of a schema node.

use std::fmt;

use serde_json::{Value, json};

use super::super::{Schema, Type};

/// The type of value that a node allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Values of any type.
    Any,
    /// An integer or string.
    IntOrString,
    /// Values of one type.
    Of(Type),
}

impl Shape {
    /// The shape of a schema.
    pub fn of(schema: &Schema) -> Self {
        match (schema.int_or_string, schema.ty) {
            (true, _) => Self::IntOrString,
            (false, Some(ty)) => Self::Of(ty),
            (false, None) => Self::Any,
        }
    }

    /// Returns true if values have no parts.
    pub fn is_scalar(self) -> bool {
        match self {
            Self::Any => false,
            Self::IntOrString => true,
            Self::Of(ty) => ty.is_scalar(),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "any type",
            Self::IntOrString => "int-or-string",
            Self::Of(ty) => ty.as_str(),
        })
    }
}

/// The fields that an object allows besides its named properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// No other fields.
    None,
    /// Values without a schema.
    Any,
    /// Values of one schema.
    Typed,
}

impl Values {
    /// The name for messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Any => "undescribed ones",
            Self::Typed => "described ones",
        }
    }
}

/// A change of a node. The values are those of the old and the new state.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "old and new speak for themselves")]
pub enum What {
    /// The property at the path is new.
    PropertyAdded,
    /// The property at the path is gone.
    PropertyRemoved { renamed_to: Option<String> },
    /// `type` and `x-kubernetes-int-or-string`.
    TypeChanged { old: Shape, new: Shape },
    /// The property at the path became required.
    RequiredAdded { defaulted: bool },
    /// The property at the path may now be absent.
    RequiredRemoved,
    /// A bound on numbers, lengths or sizes.
    BoundChanged { keyword: &'static str, old: Option<String>, new: Option<String> },
    /// Values of an `enum` that stays.
    EnumChanged { removed: Vec<Value>, added: Vec<Value> },
    /// Any value before, now only these.
    EnumAdded { values: Vec<Value> },
    /// Only these values before, now any.
    EnumRemoved { values: Vec<Value> },
    /// `pattern`.
    PatternChanged { old: Option<String>, new: Option<String> },
    /// `format`.
    FormatChanged { old: Option<String>, new: Option<String> },
    /// `nullable`.
    NullableChanged { nullable: bool },
    /// `default`.
    DefaultChanged { old: Option<Value>, new: Option<Value> },
    /// `x-kubernetes-list-type`, with its default filled in.
    ListTypeChanged { old: String, new: String },
    /// `x-kubernetes-list-map-keys`.
    ListKeysChanged { old: Vec<String>, new: Vec<String> },
    /// `x-kubernetes-map-type`, with its default filled in.
    MapTypeChanged { old: String, new: String },
    /// `x-kubernetes-preserve-unknown-fields`.
    PreserveUnknownChanged { preserved: bool },
    /// `x-kubernetes-embedded-resource`.
    EmbeddedResourceChanged { embedded: bool },
    /// `additionalProperties` of another kind.
    MapValuesChanged { old: Values, new: Values },
    /// `items` came or went.
    ItemsChanged { described: bool },
    /// `allOf`, `anyOf`, `oneOf` or `not`.
    JunctorChanged { keyword: &'static str, added: usize, removed: usize },
    /// A rule of `x-kubernetes-validations`.
    RuleChanged { old: Option<String>, new: Option<String>, transition: bool },
    /// A keyword for documentation.
    Annotated { keyword: String },
    /// A keyword that is unknown, or whose value cannot be read.
    NotUnderstood { keyword: String, old: Option<Value>, new: Option<Value> },
}

impl What {
    /// Returns a key that distinguishes this change from others at the same path: the keyword, and both values. It goes
    /// into fingerprints, so it must not depend on the wording.
    pub fn key(&self) -> String {
        let flag = |set: bool| (json!(!set), json!(set));
        let (about, (old, new)) = match self {
            Self::PropertyAdded => ("property", flag(true)),
            Self::PropertyRemoved { .. } => ("property", flag(false)),
            Self::TypeChanged { old, new } => ("type", (json!(old.to_string()), json!(new.to_string()))),
            Self::RequiredAdded { .. } => ("required", flag(true)),
            Self::RequiredRemoved => ("required", flag(false)),
            Self::BoundChanged { keyword, old, new } => (*keyword, (json!(old), json!(new))),
            Self::EnumChanged { removed, added } => ("enum", (json!(removed), json!(added))),
            Self::EnumAdded { values } => ("enum", (Value::Null, json!(values))),
            Self::EnumRemoved { values } => ("enum", (json!(values), Value::Null)),
            Self::PatternChanged { old, new } => ("pattern", (json!(old), json!(new))),
            Self::FormatChanged { old, new } => ("format", (json!(old), json!(new))),
            Self::NullableChanged { nullable } => ("nullable", flag(*nullable)),
            Self::DefaultChanged { old, new } => ("default", (json!(old), json!(new))),
            Self::ListTypeChanged { old, new } => ("list-type", (json!(old), json!(new))),
            Self::ListKeysChanged { old, new } => ("list-map-keys", (json!(old), json!(new))),
            Self::MapTypeChanged { old, new } => ("map-type", (json!(old), json!(new))),
            Self::PreserveUnknownChanged { preserved } => ("preserve", flag(*preserved)),
            Self::EmbeddedResourceChanged { embedded } => ("embedded", flag(*embedded)),
            Self::MapValuesChanged { old, new } => ("map-values", (json!(old.as_str()), json!(new.as_str()))),
            Self::ItemsChanged { described } => ("items", flag(*described)),
            Self::JunctorChanged { keyword, added, removed } => (*keyword, (json!(removed), json!(added))),
            Self::RuleChanged { old, new, .. } => ("rule", (json!(old), json!(new))),
            Self::Annotated { keyword } => (keyword.as_str(), flag(true)),
            Self::NotUnderstood { keyword, old, new } => (keyword.as_str(), (json!(old), json!(new))),
        };
        format!("{about} {old} {new}")
    }
}
