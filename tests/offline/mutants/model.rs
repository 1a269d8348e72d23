//! Mutants as they are written in `fixtures/mutants`: a subject whose field map is the right converter, and faults around
//! it.

use serde::Deserialize;
use serde_json::Value;

use super::place::Place;

/// A converter with a known defect.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Mutant {
    /// The name of the file.
    pub(super) name: String,
    /// Where such a defect is known from: URLs, or pages in `docs`.
    pub(super) source: Vec<String>,
    /// The defect in one sentence.
    pub(super) what: String,
    /// The check that names the defect.
    pub(super) killed_by: String,
    /// A folder of `fixtures/mutants/subjects`.
    pub(super) subject: String,
    /// What the converter gets wrong.
    pub(super) faults: Vec<Fault>,
    /// What the previous release's converter did otherwise; it is asked where this is given.
    #[serde(default)]
    pub(super) baseline: Vec<Fault>,
    /// The day on which it is judged, where that matters.
    #[serde(default)]
    pub(super) today: Option<jiff::civil::Date>,
}

/// One thing that goes wrong, and when.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Fault {
    /// Only from these versions.
    #[serde(default)]
    pub(super) from: Vec<String>,
    /// Only to these versions.
    #[serde(default)]
    pub(super) to: Vec<String>,
    /// Only for such objects.
    #[serde(default)]
    pub(super) given: Given,
    /// Only in such calls.
    #[serde(default)]
    pub(super) call: Call,
    /// What goes wrong.
    #[serde(rename = "do")]
    pub(super) what: What,
}

/// What an object must be like.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Given {
    /// It has all of these.
    #[serde(default)]
    pub(super) has: Vec<Place>,
    /// It has none of these.
    #[serde(default)]
    pub(super) lacks: Vec<Place>,
    /// A field has this value.
    #[serde(default)]
    pub(super) equals: Option<(Place, Value)>,
    /// A number is larger than this.
    #[serde(default)]
    pub(super) above: Option<(Place, i64)>,
}

/// What a call must be like.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Call {
    /// Every n-th object only.
    #[serde(default)]
    pub(super) every: Option<u64>,
    /// Only with more objects than this.
    #[serde(default)]
    pub(super) over: Option<usize>,
    /// Only of this review version.
    #[serde(default)]
    pub(super) review: Option<String>,
    /// Only of this sort.
    #[serde(default)]
    pub(super) sort: Option<Sort>,
}

/// A sort of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Sort {
    /// While others are in flight.
    Together,
    /// Without objects.
    Empty,
    /// The answer is a refusal.
    Refused,
    /// The review has something that older servers do not send.
    Newer,
    /// The body is not a review.
    Malformed,
    /// Another method than POST.
    OtherMethod,
}

/// What goes wrong.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum What {
    // One object, as it was converted.
    /// A field is missing.
    Drop(Place),
    /// A field has a value wherever it has room.
    Put(Place, Value),
    /// A field that is missing has a value.
    Fill(Place, Value),
    /// A field that is there has another value.
    Replace(Place, Value),
    /// A field with this value is missing.
    Omit(Place, Value),
    /// Two fields change places.
    Swap(Place, Place),
    /// A list is in reverse order.
    Reverse(Place),
    /// The first item of a list stands there twice.
    Double(Place),
    /// All numbers go through floating point.
    Floats,
    /// An annotation of the input stays, whatever the right one would be.
    KeepAnnotation(String),
    /// An annotation is missing.
    DropAnnotation(String),
    /// An annotation of this many bytes.
    Pad(String, usize),
    /// A field is that of the object before.
    Leak(Place),
    // Ways of its own to keep what another version has no place for.
    /// A version's field is kept in an annotation, those of list items by their places.
    Carry { of: String, field: Place, annotation: String },
    /// A version's whole spec is kept in an annotation, and comes back whatever has been changed.
    CarrySpec { of: String, annotation: String },
    /// An annotation has another name than the right one.
    Rename { annotation: String, to: String },
    // Whole calls.
    /// The object is refused, in these words.
    Refuse(String),
    /// Nobody answers: the connection is closed.
    HangUp,
    /// Nobody answers: the request times out.
    Hang,
    /// Another HTTP answer.
    Http(u16, String),
    /// Another media type.
    ContentType(String),
    /// As many microseconds more for each object.
    Slow(u64),
    /// Something else at this JSON pointer of the answer.
    Answer(String, Value),
    /// Nothing at this JSON pointer of the answer.
    AnswerWithout(String),
    /// Objects come back in reverse order.
    Backwards,
    /// Only so many objects come back.
    Only(usize),
    /// All objects are taken for such of the first one's version.
    LikeFirst,
    /// Objects come back as they were.
    Echo,
}
