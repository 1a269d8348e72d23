//! One input and all its conversions.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{NO_ANSWER, OUT_OF_PROPORTION, Object};
use crdproof_schema::generate::Phase;

/// One input with its hops and the raw responses. Hops form a tree: each starts from the input or from the result of an
/// earlier hop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversionRun {
    /// The CRD.
    pub crd: Arc<str>,
    /// The version of the input.
    pub version: Arc<str>,
    /// The origin of the input.
    pub origin: Origin,
    /// The validity of the input.
    #[serde(default, skip_serializing_if = "Validity::is_valid")]
    pub fit: Validity,
    /// The converted object, in the form in which an API server holds it.
    pub input: Object,
    /// The hops, in order.
    pub hops: Vec<Hop>,
}

/// The origin of an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Origin {
    /// A sample of the subject, by its name.
    Sample(String),
    /// A generated object.
    Generated {
        /// The phase that generated it.
        phase: Phase,
        /// The seed.
        seed: u64,
        /// Its number within the phase.
        index: u64,
    },
    /// A saved counterexample, by its file name.
    #[serde(alias = "case")]
    Saved(String),
}

/// The validity of an input.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Validity {
    /// An API server admits it.
    #[default]
    Valid,
    /// A part of an object, as server-side apply sends it. Names the missing parts.
    Partial(String),
    /// It violates one constraint: the keyword.
    Invalid(String),
}

impl Validity {
    /// Returns true if an API server admits the input.
    pub fn is_valid(&self) -> bool {
        *self == Self::Valid
    }
}

/// One action in a conversion run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hop {
    /// The start of the hop: 0 is the input, n is the result of the n-th hop.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub of: usize,
    /// The action.
    #[serde(default, skip_serializing_if = "Act::is_convert")]
    pub act: Act,
    /// The version that the object has afterwards.
    pub to: Arc<str>,
    /// Its outcome.
    pub reply: Reply,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The action of a hop.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Act {
    /// Calls the converter.
    #[default]
    Convert,
    /// Calls the converter again with the same object, together with other objects.
    Again,
    /// Calls the previous release's converter.
    Baseline,
    /// Changes the object, as a client does.
    Edit(Edit),
}

impl Act {
    fn is_convert(&self) -> bool {
        *self == Self::Convert
    }
}

/// A change by a client between two conversions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Edit {
    /// Adds a label.
    Label,
    /// Changes the value at this JSON pointer.
    Value(String),
    /// Reverses the list at this JSON pointer.
    Reverse(String),
    /// Removes the first item of the list at this JSON pointer.
    Remove(String),
    /// Removes the annotations that the input did not have.
    Strip,
}

impl Edit {
    /// The label that [`Edit::Label`] adds, with its value.
    pub const LABEL: (&str, &str) = ("crdproof.dev/edited", "yes");

    /// Copies an object and adds [`Edit::LABEL`]. `None` if its metadata cannot hold a label.
    pub fn add_label(object: &Value) -> Option<Value> {
        let (name, value) = Self::LABEL;
        let mut labelled = object.clone();
        let labels = labelled.get_mut("metadata")?.as_object_mut()?.entry("labels").or_insert(Value::Null);
        if labels.is_null() {
            *labels = Value::Object(Map::new());
        }
        labels.as_object_mut()?.insert(name.to_owned(), value.into());
        Some(labelled)
    }
}

/// The outcome of a hop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Reply {
    /// An object that an API server accepts.
    Object(Answer),
    /// An object that an API server refuses, and why.
    Unusable(Value, String),
    /// A refusal that the converter explains.
    Refused(String),
    /// No usable response: a crash, a closed connection, an HTTP error. Describes what happened.
    Failed(String),
}

/// A converted object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    /// The response, unchanged.
    pub raw: Object,
    /// The object as an API server uses it, if it differs: metadata restored, pruned, without nulls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Object>,
}

impl Answer {
    /// The object as an API server uses it.
    pub fn served(&self) -> &Object {
        self.served.as_ref().unwrap_or(&self.raw)
    }
}

impl Hop {
    /// The object as an API server uses it, if there is one.
    pub fn served(&self) -> Option<&Object> {
        self.answer().map(Answer::served)
    }

    /// The converted object, if it can be used.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.reply {
            Reply::Object(answer) => Some(answer),
            Reply::Unusable(..) | Reply::Refused(_) | Reply::Failed(_) => None,
        }
    }

    /// The reason why there is no usable object.
    pub fn complaint(&self) -> Option<&str> {
        match &self.reply {
            Reply::Object(_) => None,
            Reply::Unusable(_, why) | Reply::Refused(why) | Reply::Failed(why) => Some(why),
        }
    }
}

impl Reply {
    /// Returns the converter's explanation, if it refused without crashing.
    pub fn explained_refusal(&self) -> Option<&str> {
        match self {
            Self::Refused(why) if !is_crash(why) => Some(why),
            Self::Refused(_) | Self::Failed(_) | Self::Object(_) | Self::Unusable(..) => None,
        }
    }

    /// Returns a description of the failure, if the converter crashed or gave no response.
    pub fn crash(&self) -> Option<&str> {
        match self {
            Self::Failed(why) => Some(why),
            Self::Refused(why) if is_crash(why) => Some(why),
            Self::Refused(_) | Self::Object(_) | Self::Unusable(..) => None,
        }
    }
}

/// Returns true if a refusal is a crash that a framework caught and turned into a message.
fn is_crash(why: &str) -> bool {
    const MARKS: [&str; 8] = [
        "panic",
        // The message of controller-runtime for a panic.
        "internal error occurred during conversion",
        "runtime error:",
        "nil pointer dereference",
        "index out of range",
        "NullPointerException",
        "Traceback (most recent call last)",
        "stack overflow",
    ];
    MARKS.iter().any(|mark| why.contains(mark))
}

/// Returns a message without the parts that differ between objects: quoted texts and numbers. The same defect gives the
/// same text.
pub fn normalised(why: &str) -> String {
    // How long was waited, and how large an answer was, depends on the request.
    if let Some(known) = [NO_ANSWER, OUT_OF_PROPORTION].iter().find(|known| why.starts_with(**known)) {
        return (*known).to_owned();
    }
    let mut text = String::new();
    let mut quote = None;
    let mut before = ' ';
    for letter in why.chars() {
        match quote {
            Some(end) if letter == end => quote = None,
            Some(_) => {}
            // An apostrophe inside a word does not start a quotation.
            None if matches!(letter, '"' | '`') || letter == '\'' && !before.is_alphanumeric() => {
                quote = Some(letter);
                text.push('…');
            }
            None if letter.is_ascii_digit() => {}
            None => text.push(letter),
        }
        before = letter;
    }
    for kind in ["array", "bool", "number", "object", "string"] {
        text = text.replace(&format!("cannot unmarshal {kind} into"), "cannot unmarshal … into");
    }
    text.chars().take(120).collect()
}

/// A hop with its start.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The number of the hop's result, from which later hops can start.
    pub number: usize,
    /// The version before.
    pub from: &'a str,
    /// The object before.
    pub sent: &'a Object,
    /// The hop.
    pub hop: &'a Hop,
}

impl ConversionRun {
    /// Every hop with its start.
    pub fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        self.steps_that(|_| true)
    }

    /// Every call of the converter itself.
    pub fn conversions(&self) -> impl Iterator<Item = Step<'_>> {
        self.steps_that(|hop| hop.act.is_convert())
    }

    /// The conversions of the input itself.
    pub fn first_conversions(&self) -> impl Iterator<Item = Step<'_>> {
        self.steps_that(|hop| hop.of == 0 && hop.act.is_convert())
    }

    /// Every conversion of the input to another version, with the conversion back.
    pub fn round_trips(&self) -> impl Iterator<Item = (Step<'_>, Step<'_>)> {
        self.first_conversions().filter_map(|there| {
            let is_back = |hop: &Hop| hop.of == there.number && hop.act.is_convert() && hop.to == self.version;
            let back = self.steps_that(is_back).next()?;
            Some((there, back))
        })
    }

    /// Returns the hops that start from the result of a hop.
    pub fn after(&self, number: usize) -> impl Iterator<Item = Step<'_>> {
        self.steps_that(move |hop| hop.of == number)
    }

    fn steps_that(&self, wanted: impl Fn(&Hop) -> bool) -> impl Iterator<Item = Step<'_>> {
        let hops = self.hops.iter().zip(1..).filter(move |(hop, _)| wanted(hop));
        hops.filter_map(|(hop, number)| {
            let (from, sent) = self.object(hop.of)?;
            Some(Step { number, from, sent, hop })
        })
    }

    /// Version and object with this number.
    fn object(&self, number: usize) -> Option<(&str, &Object)> {
        let Some(index) = number.checked_sub(1) else { return Some((&self.version, &self.input)) };
        let hop = self.hops.get(index)?;
        Some((&hop.to, hop.served()?))
    }

    /// The versions on the route to a hop's result, as `v2→v1→v2`.
    pub fn route(&self, number: usize) -> String {
        self.way(number).join("→")
    }

    /// The versions on the route to a hop's result, starting with the input's. Edits do not add any.
    pub fn way(&self, number: usize) -> Vec<&str> {
        let Some(hop) = number.checked_sub(1).and_then(|index| self.hops.get(index)) else {
            return vec![&self.version];
        };
        // A recording may be damaged: a hop must start from an earlier one.
        let mut way = if hop.of < number { self.way(hop.of) } else { vec![] };
        if !matches!(hop.act, Act::Edit(_)) {
            way.push(&hop.to);
        }
        way
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("Failure: time: invalid duration \"x1\"", "Failure: time: invalid duration …")]
    #[case(
        "quantities must match the regular expression '^([+-]?[0-9.]+)$'",
        "quantities must match the regular expression …"
    )]
    #[case("can't read item 17", "can't read item ")]
    #[case("no answer within 0.3 s to 3 requests, so it is not asked again", "no answer within")]
    fn complaints_are_normalised(#[case] why: &str, #[case] meant: &str) {
        assert_eq!(normalised(why), meant);
    }

    #[rstest]
    #[case(Reply::Refused("invalid hostPort".into()), Some("invalid hostPort"), None)]
    #[case(Reply::Refused("panic: nil pointer dereference".into()), None, Some("panic: nil pointer dereference"))]
    #[case(Reply::Failed("HTTP 500".into()), None, Some("HTTP 500"))]
    fn crashes_are_distinguished_from_refusals(
        #[case] reply: Reply,
        #[case] explained: Option<&str>,
        #[case] crash: Option<&str>,
    ) {
        assert_eq!((reply.explained_refusal(), reply.crash()), (explained, crash));
    }

    #[rstest]
    #[case(json!({"labels": {"a": "1"}}), Some(json!({"labels": {"a": "1", "crdproof.dev/edited": "yes"}})))]
    #[case(json!({"labels": null}), Some(json!({"labels": {"crdproof.dev/edited": "yes"}})))]
    #[case(json!({"name": "x"}), Some(json!({"name": "x", "labels": {"crdproof.dev/edited": "yes"}})))]
    #[case(json!({"labels": "a"}), None)]
    #[case(json!("x"), None)]
    #[case(Value::Null, None)]
    fn a_label_needs_metadata_that_can_hold_it(#[case] metadata: Value, #[case] labelled: Option<Value>) {
        let deep = (0..300).fold(json!(1), |inner, _| json!([inner]));
        let with = |metadata: Value| json!({"metadata": metadata, "spec": deep});
        assert_eq!(Edit::add_label(&with(metadata)), labelled.map(with));
        assert_eq!(Edit::add_label(&json!({"kind": "A"})), None);
    }
}
