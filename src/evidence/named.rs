//! Enums whose values are plain texts in recordings.

/// An error for a text that names no value of an enum.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {what}")]
pub struct UnknownName {
    pub(super) text: String,
    pub(super) what: &'static str,
}

/// Declares an enum whose values are plain texts in recordings. Values `with` a parameter are a prefix and the parameter.
macro_rules! named {
    (
        $(#[$meta:meta])* $name:ident, $what:literal {
            $($(#[$doc:meta])* $variant:ident => $text:literal,)*
        }
        $(with { $($(#[$with_doc:meta])* $with:ident => $prefix:literal,)* })?
    ) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$doc])* $variant,)*
            $($($(#[$with_doc])* $with(String),)*)?
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant => f.write_str($text),)*
                    $($(Self::$with(parameter) => write!(f, concat!($prefix, "{}"), parameter),)*)?
                }
            }
        }

        impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, UnknownName> {
                match text {
                    $($text => return Ok(Self::$variant),)*
                    _ => {}
                }
                $($(
                    if let Some(parameter) = text.strip_prefix($prefix) {
                        return Ok(Self::$with(parameter.to_owned()));
                    }
                )*)?
                Err(UnknownName { text: text.to_owned(), what: $what })
            }
        }

        as_text!($name);
    };
}

/// Serialises a type as its text.
macro_rules! as_text {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(super) use {as_text, named};
