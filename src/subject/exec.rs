//! A converter command in the subject file.

use std::fmt;

use schemars::{JsonSchema, Schema, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::Period;

/// A command that answers reviews. A list of words is short for its command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = or_words)]
pub struct ExecConfig {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// True if it is long-lived: one review per line on stdin, one response per line on stdout. Otherwise it is started
    /// for each review.
    #[serde(default)]
    pub long_lived: bool,
    /// The timeout of a response; `30s` by default, as for API servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Period>,
}

fn or_words(schema: &mut Schema) {
    let whole = schema.clone();
    *schema = json_schema!({"anyOf": [whole, {"type": "array", "items": {"type": "string"}}]});
}

/// The long form.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Whole {
    command: Vec<String>,
    #[serde(default)]
    long_lived: bool,
    #[serde(default)]
    timeout: Option<Period>,
}

/// Implemented by hand, so that errors in both forms keep their location.
impl<'de> Deserialize<'de> for ExecConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = ExecConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of words, or an object with `command`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, words: A) -> Result<ExecConfig, A::Error> {
                let command = Vec::deserialize(SeqAccessDeserializer::new(words))?;
                Ok(ExecConfig { command, long_lived: false, timeout: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<ExecConfig, A::Error> {
                let Whole { command, long_lived, timeout } = Whole::deserialize(MapAccessDeserializer::new(keys))?;
                Ok(ExecConfig { command, long_lived, timeout })
            }
        }

        deserializer.deserialize_any(Either)
    }
}
