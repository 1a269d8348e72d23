//! Translation of one value into the other version.

mod duration;
mod quantity;
mod table;
mod template;
mod text;
mod units;
mod wrap;

use serde_json::Value;

pub(super) use table::Table;
pub(super) use template::{Fault as TemplateFault, Template};
pub(super) use text::{Text, write as write_text};
pub(super) use units::Units;
pub(super) use wrap::Wrapped;

/// One of the two versions of a map, by its index in `between`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::First, Self::Second];

    pub(super) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    pub(super) fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}

/// A value, translated into the other version.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    /// The best translation, if there is one.
    pub(super) value: Option<Value>,
    /// The reason why converting back does not give the same value, if so.
    pub(super) gap: Option<Gap>,
}

/// The reason why a value would not come back the same.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Gap {
    /// Only its spelling changes.
    Spelling(String),
    /// The other version cannot express it.
    Meaning(String),
}

impl Said {
    fn exactly(value: Value) -> Self {
        Self { value: Some(value), gap: None }
    }

    fn respelled(value: Option<Value>, why: impl Into<String>) -> Self {
        Self { value, gap: Some(Gap::Spelling(why.into())) }
    }

    fn not_quite(value: Option<Value>, why: impl Into<String>) -> Self {
        Self { value, gap: Some(Gap::Meaning(why.into())) }
    }
}

/// The translation of values of one version into those of the other, and back.
#[derive(Debug)]
pub(super) enum Codec {
    Same,
    Table(Table),
    Template(Template),
    Wrapped(Wrapped),
    Units(Units),
    Text(Text),
}

impl Codec {
    /// Translates a value of one side into the other.
    pub(super) fn say(&self, from: Side, value: &Value) -> Said {
        match self {
            Self::Same => Said::exactly(value.clone()),
            Self::Template(template) => template.say(from, value),
            Self::Table(table) => table.say(from, value),
            // A null needs no translation.
            _ if value.is_null() => Said::exactly(Value::Null),
            Self::Wrapped(wrapped) => wrapped.say(from, value),
            Self::Units(units) => units.say(from, value),
            Self::Text(text) => text.say(from, value),
        }
    }

    /// Returns the value that a stashed value of the side `to` becomes, given the present value of the other side.
    /// `None` if the present value was changed since: edits by clients take precedence.
    pub(super) fn restore(&self, to: Side, present: Option<&Value>, stashed: &Value) -> Option<Value> {
        match self {
            Self::Wrapped(wrapped) if wrapped.list == to && stashed.is_array() => Wrapped::restore(present, stashed),
            _ => (self.say(to, stashed).value.as_ref() == present).then(|| stashed.clone()),
        }
    }
}

/// A value for a message, shortened.
pub(super) fn brief(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(57).collect::<String>() + "…" }
}
