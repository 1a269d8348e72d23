//! How one value is said in the other version.

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

/// One of the two versions of a map, by its place in `between`.
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

/// A value in the words of the other version.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    /// The best that the other version can say, if it can say anything.
    pub(super) value: Option<Value>,
    /// What keeps the way back from giving the same value again.
    pub(super) gap: Option<Gap>,
}

/// Why a value would not come back the same.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Gap {
    /// Only the spelling changes.
    Spelling(String),
    /// The other version cannot say it.
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
    /// Says a value of one side in the words of the other.
    pub(super) fn say(&self, from: Side, value: &Value) -> Said {
        match self {
            Self::Same => Said::exactly(value.clone()),
            Self::Template(template) => template.say(from, value),
            Self::Table(table) => table.say(from, value),
            // A null has nothing that could be translated.
            _ if value.is_null() => Said::exactly(Value::Null),
            Self::Wrapped(wrapped) => wrapped.say(from, value),
            Self::Units(units) => units.say(from, value),
            Self::Text(text) => text.say(from, value),
        }
    }

    /// Returns what a stashed value of the side `to` becomes, now that the other side has this value. `None` where the
    /// present value has been changed since: what people wrote wins.
    pub(super) fn restore(&self, to: Side, present: Option<&Value>, stashed: &Value) -> Option<Value> {
        match self {
            Self::Wrapped(wrapped) if wrapped.list == to && stashed.is_array() => Wrapped::restore(present, stashed),
            _ => (self.say(to, stashed).value.as_ref() == present).then(|| stashed.clone()),
        }
    }
}

/// A value for a message; long ones are cut.
pub(super) fn brief(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(57).collect::<String>() + "…" }
}
