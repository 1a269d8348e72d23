//! Messages about differences.

use std::fmt;

use serde_json::Value;

use super::{Delta, Direction, What};
use crate::text::truncate;

/// Maximum length of a message, which is one line.
const MAX_CHARS: usize = 160;

impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::PropertyAdded => f.write_str("field added"),
            What::PropertyRemoved { renamed_to: None } => f.write_str("field removed"),
            What::PropertyRemoved { renamed_to: Some(name) } => write!(f, "field removed, perhaps renamed to `{name}`"),
            What::TypeChanged { old, new } => write!(f, "type changed from {old} to {new}"),
            What::RequiredAdded { defaulted: false } => f.write_str("became required"),
            What::RequiredAdded { defaulted: true } => f.write_str("became required, with a default"),
            What::RequiredRemoved => f.write_str("no longer required"),
            What::BoundChanged { keyword, old, new } => f.write_str(&bound(keyword, old.as_deref(), new.as_deref())),
            What::EnumChanged { removed, added } => {
                let part = |word: &str, values: &[Value]| match values {
                    [] => None,
                    values => Some(format!("{word} {}", list(values))),
                };
                let parts = [part("lost", removed), part("gained", added)];
                write!(f, "enum {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
            }
            What::EnumAdded { values } => write!(f, "limited to {}", list(values)),
            What::EnumRemoved { values } => write!(f, "no longer limited to {}", list(values)),
            What::PatternChanged { old, new } => change(f, "pattern", old.as_ref(), new.as_ref()),
            What::FormatChanged { old, new } => change(f, "format", old.as_ref(), new.as_ref()),
            What::DefaultChanged { old, new } => {
                let json = |value: &Option<Value>| value.as_ref().map(brief);
                change(f, "default", json(old).as_ref(), json(new).as_ref())
            }
            _ => self.structure(f),
        }
    }
}

impl Delta {
    /// Writes messages about null, ownership and unnamed fields.
    fn structure(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::NullableChanged { nullable: true } => f.write_str("may now be null"),
            What::NullableChanged { nullable: false } => f.write_str("may no longer be null"),
            What::ListTypeChanged { old, new } => {
                write!(f, "list type changed from {old} to {new}")
            }
            What::ListKeysChanged { old, new } => {
                let keys = |keys: &[String]| format!("[{}]", keys.join(", "));
                write!(f, "list keys changed from {} to {}", keys(old), keys(new))
            }
            What::MapTypeChanged { old, new } => write!(f, "map type changed from {old} to {new}"),
            What::PreserveUnknownChanged { preserved: true } => f.write_str("unknown fields are now kept"),
            What::PreserveUnknownChanged { preserved: false } => f.write_str("unknown fields are no longer kept"),
            What::EmbeddedResourceChanged { embedded: true } => {
                f.write_str("became an embedded resource, which needs apiVersion and kind")
            }
            What::EmbeddedResourceChanged { embedded: false } => f.write_str("is no longer an embedded resource"),
            _ => self.parts(f),
        }
    }

    /// Writes messages about parts, rules and the rest.
    fn parts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::MapValuesChanged { old, new } => {
                write!(f, "map values changed from {} to {}", old.as_str(), new.as_str())
            }
            What::ItemsChanged { described: true } => f.write_str("list items are now described"),
            What::ItemsChanged { described: false } => f.write_str("list items are no longer described"),
            What::JunctorChanged { keyword, added, removed } => f.write_str(&junctor(keyword, *added, *removed)),
            What::RuleChanged { old, new, .. } => f.write_str(&rule(self.direction, old.as_deref(), new.as_deref())),
            What::Annotated { keyword } => write!(f, "{keyword} changed"),
            What::NotUnderstood { keyword, old, new } => {
                let json = |value: &Option<Value>| value.as_ref().map(brief);
                change(f, &format!("keyword `{keyword}`"), json(old).as_ref(), json(new).as_ref())
            }
            _ => Ok(()),
        }
    }
}

fn bound(keyword: &str, old: Option<&str>, new: Option<&str>) -> String {
    match (old, new) {
        (Some(old), Some(new)) => {
            let number = |text: &str| text.split(' ').next().and_then(|text| text.parse::<f64>().ok());
            let verb = match (number(old), number(new)) {
                (Some(old), Some(new)) if old < new => "raised",
                (Some(old), Some(new)) if old > new => "lowered",
                _ => "changed",
            };
            format!("{keyword} {verb} from {old} to {new}")
        }
        (None, Some(new)) => format!("{keyword} {new} added"),
        (Some(old), None) => format!("{keyword} {old} removed"),
        (None, None) => keyword.to_owned(),
    }
}

fn change(f: &mut fmt::Formatter<'_>, noun: &str, old: Option<&String>, new: Option<&String>) -> fmt::Result {
    match (old, new) {
        (Some(old), Some(new)) => write!(f, "{noun} changed from {} to {}", one_line(old), one_line(new)),
        (None, Some(new)) => write!(f, "{noun} {} added", one_line(new)),
        (Some(old), None) => write!(f, "{noun} {} removed", one_line(old)),
        (None, None) => write!(f, "{noun} changed"),
    }
}

fn junctor(keyword: &str, added: usize, removed: usize) -> String {
    let branches = |count: usize| match count {
        1 => "1 branch".to_owned(),
        count => format!("{count} branches"),
    };
    match (added, removed) {
        (0, 0) => format!("{keyword} changed"),
        (added, 0) => format!("{keyword} gained {}", branches(added)),
        (0, removed) => format!("{keyword} lost {}", branches(removed)),
        (added, removed) => format!("{keyword} changed: {} gone, {} new", branches(removed), branches(added)),
    }
}

fn rule(direction: Direction, old: Option<&str>, new: Option<&str>) -> String {
    match (old, new) {
        (Some(old), Some(new)) => {
            let verb = match direction {
                Direction::Narrower => "tightened",
                Direction::Wider => "loosened",
                Direction::Harmless | Direction::Meaning | Direction::Unknown | Direction::Lossy => "changed",
            };
            format!("rule {verb} from `{}` to `{}`", one_line(old), one_line(new))
        }
        (None, Some(new)) => format!("rule `{}` added", one_line(new)),
        (Some(old), None) => format!("rule `{}` removed", one_line(old)),
        (None, None) => "rules changed".into(),
    }
}

fn list(values: &[Value]) -> String {
    let shown: Vec<_> = values.iter().take(6).map(brief).collect();
    let more = values.len().saturating_sub(shown.len());
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn brief(value: &Value) -> String {
    one_line(&value.to_string())
}

/// Puts a text on one short line.
fn one_line(text: &str) -> String {
    truncate(&text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_CHARS)
}
