//! Mutants as they are written in `fixtures/mutants`: a subject whose field map is the correct converter, and faults
//! around it.

use serde::Deserialize;
use serde_json::Value;

use super::place::Place;

/// A converter with a known defect.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Mutant {
    /// The name of the file.
    pub(super) name: String,
    /// Sources that describe such a defect: URLs, or pages in `docs`.
    pub(super) source: Vec<String>,
    /// The defect in one sentence.
    pub(super) what: String,
    /// The check that names the defect.
    pub(super) killed_by: String,
    /// A folder of `fixtures/mutants/subjects`.
    pub(super) subject: String,
    /// The mistakes of the converter.
    pub(super) faults: Vec<Fault>,
    /// The faults of the previous release's converter, which is asked only if there are any.
    #[serde(default)]
    pub(super) baseline: Vec<Fault>,
    /// The date on which the mutant is judged, if that matters.
    #[serde(default)]
    pub(super) today: Option<jiff::civil::Date>,
}

/// One mistake, and the condition for it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Fault {
    /// Only from these versions.
    #[serde(default)]
    pub(super) from: Vec<String>,
    /// Only to these versions.
    #[serde(default)]
    pub(super) to: Vec<String>,
    /// Only for objects that match.
    #[serde(default)]
    pub(super) given: Given,
    /// Only in calls that match.
    #[serde(default)]
    pub(super) call: Call,
    /// The mistake.
    #[serde(rename = "do")]
    pub(super) what: What,
}

/// A condition on an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Given {
    /// The object has all of these.
    #[serde(default)]
    pub(super) has: Vec<Place>,
    /// The object has none of these.
    #[serde(default)]
    pub(super) lacks: Vec<Place>,
    /// The field has this value.
    #[serde(default)]
    pub(super) equals: Option<(Place, Value)>,
    /// The number is larger than this.
    #[serde(default)]
    pub(super) above: Option<(Place, i64)>,
}

/// A condition on a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Call {
    /// Only every n-th object.
    #[serde(default)]
    pub(super) every: Option<u64>,
    /// Only with more objects than this.
    #[serde(default)]
    pub(super) over: Option<usize>,
    /// Only with this review version.
    #[serde(default)]
    pub(super) review: Option<String>,
    /// Only calls of this kind.
    #[serde(default)]
    pub(super) sort: Option<Sort>,
}

/// A kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Sort {
    /// While other calls are in flight.
    Together,
    /// Without objects.
    Empty,
    /// The response is a refusal.
    Refused,
    /// The review has fields that older servers do not send.
    Newer,
    /// The body is not a review.
    Malformed,
    /// A method other than POST.
    OtherMethod,
}

/// A mistake of a converter.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum What {
    // Mistakes with one converted object.
    /// A field is missing.
    Drop(Place),
    /// A field is set wherever its parent exists.
    Put(Place, Value),
    /// A missing field is set.
    Fill(Place, Value),
    /// An existing field has another value.
    Replace(Place, Value),
    /// A field with this value is missing.
    Omit(Place, Value),
    /// Two fields change places.
    Swap(Place, Place),
    /// A list is in reverse order.
    Reverse(Place),
    /// The first item of a list appears twice.
    Double(Place),
    /// All numbers go through floating point.
    Floats,
    /// An annotation of the input is kept, whatever the correct value is.
    KeepAnnotation(String),
    /// An annotation is missing.
    DropAnnotation(String),
    /// An annotation of this many bytes.
    Pad(String, usize),
    /// A field has the value of the previous object.
    Leak(Place),
    // Wrong ways to keep fields that another version does not have.
    /// A version's field is kept in an annotation; fields of list items are kept by index.
    Carry { of: String, field: Place, annotation: String },
    /// A version's whole spec is kept in an annotation and restored, even if it was changed in between.
    CarrySpec { of: String, annotation: String },
    /// An annotation has another name than the correct one.
    Rename { annotation: String, to: String },
    // Mistakes with whole calls.
    /// The object is refused with this message.
    Refuse(String),
    /// Nobody answers: the connection is closed.
    HangUp,
    /// Nobody answers: the request times out.
    Hang,
    /// Another HTTP answer.
    Http(u16, String),
    /// Another media type.
    ContentType(String),
    /// A delay of this many microseconds for each object.
    Slow(u64),
    /// Another value at this JSON pointer of the response.
    Answer(String, Value),
    /// No value at this JSON pointer of the response.
    AnswerWithout(String),
    /// The objects are returned in reverse order.
    Backwards,
    /// Only this many objects are returned.
    Only(usize),
    /// All objects are converted as if they had the version of the first one.
    LikeFirst,
    /// The objects are returned unchanged.
    Echo,
}
