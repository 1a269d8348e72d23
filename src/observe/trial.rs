//! One input and what a converter made of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One input with its conversion legs, replies raw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trial {
    /// The CRD.
    pub crd: String,
    /// The version of the input.
    pub version: String,
    /// Where the input came from.
    pub origin: Origin,
    /// The object that was converted.
    pub input: Value,
    /// The conversions, each from the reply before it.
    pub legs: Vec<Leg>,
}

/// Where an input came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Origin {
    /// A sample of the subject, by its name.
    Sample(String),
    /// Made from the schema, with every field set.
    Schema,
}

/// One conversion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Leg {
    /// The version asked for.
    pub to: String,
    /// What came back.
    pub reply: Reply,
}

/// What a converter answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Reply {
    /// The converted object.
    Object(Value),
    /// A refusal, in the converter's words.
    Refused(String),
}

impl Trial {
    /// The object after the last leg, if every leg answered with one.
    pub fn output(&self) -> Option<&Value> {
        match self.legs.last().map(|leg| &leg.reply) {
            Some(Reply::Object(object)) => Some(object),
            Some(Reply::Refused(_)) | None => None,
        }
    }

    /// The versions it went through, as `v2→v1→v2`.
    pub fn route(&self) -> String {
        let mut route = self.version.clone();
        for leg in &self.legs {
            route.push('→');
            route.push_str(&leg.to);
        }
        route
    }
}
