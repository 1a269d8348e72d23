//! Failures that are consequences of another one: a converter that drops a field fails a dozen checks, and users should
//! read about the field once.

use std::collections::BTreeSet;

use super::{Severity, Together};

/// The check of endpoints that hang or answer without end, whatever they are asked.
const UNBOUNDED: &str = "webhook/answers-bounded";

/// Checks whose findings are causes, the strongest first. What others find about the same field, or with the same complaint
/// of the converter, is a consequence.
const CAUSES: [&str; 13] = [
    UNBOUNDED,
    "manifest/review-versions-known",
    "manifest/samples-valid",
    "manifest/none-strategy-lossless",
    "converter/valid-always-converts",
    "converter/pairs-complete",
    "converter/round-trip-lossless",
    "converter/numbers-exact",
    "converter/nothing-invented",
    "converter/absent-null-empty-distinct",
    "converter/output-valid",
    "serving/crud-at-every-version",
    "apply/entries-follow-versions",
];

/// Causes that are about all conversions of a version, whatever the object.
const EVERY_CONVERSION: [&str; 2] = [UNBOUNDED, "converter/pairs-complete"];

/// Causes that explain only the same complaint: that two are about one field means nothing here.
const BY_COMPLAINT: [&str; 5] = [
    UNBOUNDED,
    "manifest/review-versions-known",
    "manifest/samples-valid",
    "serving/crud-at-every-version",
    "apply/entries-follow-versions",
];

/// The beginning of the names of causes that change only the form of values. They have one cause, whatever the field.
pub(super) const FORM: &str = "form";

/// Checks whose findings can be consequences: the families that look at objects on their way through versions, what a
/// wrong list of review versions lacks, and a bound for which samples are refused.
const CONSEQUENCES: [&str; 7] = [
    "apply/",
    "converter/",
    "manifest/review-v1-offered",
    "manifest/values-possible",
    "serving/",
    "storage/",
    "webhook/",
];

/// Returns the position of a check among the causes; everything else comes after them.
pub(crate) fn cause_rank(check: &str) -> usize {
    CAUSES.iter().position(|cause| *cause == check).unwrap_or(CAUSES.len())
}

/// The symptoms of one or several failures of a check on one CRD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Symptoms {
    check: String,
    severity: Option<Severity>,
    paths: BTreeSet<String>,
    complaints: BTreeSet<String>,
    /// True if they are only about the form of values.
    is_form: bool,
}

impl Symptoms {
    /// The symptoms of a check, none yet.
    pub(crate) fn new(check: &str, severity: Severity) -> Self {
        Self { check: check.to_owned(), severity: Some(severity), ..Self::default() }
    }

    /// Adds the symptom of a failure: its field, the complaint of a converter or server, and the cause that it shares
    /// with others.
    pub(crate) fn add(&mut self, path: Option<&str>, complaint: Option<&str>, together: Option<&Together>) {
        self.paths.extend(path.filter(|path| *path != ".").map(without_indices));
        self.complaints.extend(complaint.map(str::to_owned));
        self.is_form = together.is_some_and(|together| together.key.starts_with(FORM));
    }

    /// Returns true if the others are the cause of these symptoms: they have the same complaint of the converter, or
    /// the same fields. A server that complains about a field complains about none of its parts. A lesser finding is
    /// not the cause of a worse one, unless the complaint is the same.
    pub(crate) fn follow_from(&self, cause: &Self) -> bool {
        let is_concerned = CONSEQUENCES.iter().any(|family| self.check.starts_with(family));
        // A request to an endpoint fails for a cause elsewhere only where every conversion fails so.
        let is_request = self.check.starts_with("webhook/");
        let is_unrelated = is_request && !EVERY_CONVERSION.contains(&cause.check.as_str());
        if !is_concerned || is_unrelated || cause_rank(&cause.check) >= cause_rank(&self.check) {
            return false;
        }
        if self.is_form && cause.is_form {
            return true;
        }
        let has_complaint = !self.complaints.is_empty();
        if has_complaint && self.complaints.is_subset(&cause.complaints) {
            return true;
        }
        // An invalid response says little about other responses, but much about what a server does with it.
        let is_answer_alone = cause.check == "converter/output-valid" && self.check.starts_with("converter/");
        if BY_COMPLAINT.contains(&cause.check.as_str()) || is_answer_alone {
            return false;
        }
        // A converter that loses fields of whole objects also loses fields of their parts.
        if self.check == "converter/partial-objects-survive" && cause.check == "converter/round-trip-lossless" {
            return !self.paths.is_empty();
        }
        let is_part = |path: &String, known: &String| !has_complaint && is_within(known, path);
        let is_known = |path: &String| cause.paths.iter().any(|known| is_within(path, known) || is_part(path, known));
        cause.severity >= self.severity && !self.paths.is_empty() && self.paths.iter().all(is_known)
    }
}

/// Returns true if a path is that of a field, or of a part of it.
fn is_within(path: &str, field: &str) -> bool {
    path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Returns a path with `[*]` for every item of a list.
fn without_indices(path: &str) -> String {
    let mut text = String::new();
    let mut parts = path.split('[');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let rest = part.split_once(']').map_or("", |(_, rest)| rest);
        text.push_str("[*]");
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symptoms(check: &str, severity: Severity, paths: &[&str], complaint: Option<&str>) -> Symptoms {
        let mut symptoms = Symptoms::new(check, severity);
        for path in paths {
            symptoms.add(Some(path), None, None);
        }
        symptoms.add(None, complaint, None);
        symptoms
    }

    #[test]
    fn a_lost_field_explains_its_consequences() {
        let lost = symptoms("converter/round-trip-lossless", Severity::Error, &[".spec.a", ".spec.b[*].c"], None);
        let edit = |paths: &[&str]| symptoms("converter/edit-survives", Severity::Error, paths, None);
        assert!(edit(&[".spec.a"]).follow_from(&lost));
        assert!(edit(&[".spec.a.deeper", ".spec.b[3].c"]).follow_from(&lost));
        assert!(!edit(&[".spec.a", ".spec.other"]).follow_from(&lost));
        assert!(!edit(&[".spec.ab"]).follow_from(&lost));
        assert!(!edit(&[]).follow_from(&lost));
        assert!(!lost.follow_from(&edit(&[".spec.a", ".spec.b[*].c"])), "causes do not follow from consequences");
        let manifest = symptoms("manifest/printer-columns-valid", Severity::Error, &[".spec.a"], None);
        assert!(!manifest.follow_from(&lost));
    }

    #[test]
    fn a_warning_explains_no_error_unless_the_complaint_is_the_same() {
        let zero = symptoms("converter/absent-null-empty-distinct", Severity::Warning, &[".spec.a"], None);
        let edit = symptoms("converter/edit-survives", Severity::Error, &[".spec.a"], None);
        assert!(!edit.follow_from(&zero));
        let refused = symptoms("converter/valid-always-converts", Severity::Warning, &[], Some("invalid duration …"));
        let partial = |why| symptoms("converter/partial-objects-survive", Severity::Error, &[], Some(why));
        assert!(partial("invalid duration …").follow_from(&refused));
        assert!(!partial("spec is missing").follow_from(&refused));
    }

    #[test]
    fn a_bound_that_refuses_samples_is_one_cause_with_them() {
        let samples =
            symptoms("manifest/samples-valid", Severity::Error, &[".spec.a"], Some("the maximum … is too wide"));
        let bound = |why| symptoms("manifest/values-possible", Severity::Warning, &[".spec.a"], Some(why));
        assert!(bound("the maximum … is too wide").follow_from(&samples));
        assert!(!bound("the minimum … is too wide").follow_from(&samples));
    }

    #[test]
    fn an_endpoint_that_hangs_explains_requests_without_an_answer() {
        let hangs = symptoms(UNBOUNDED, Severity::Error, &[], Some("no answer within"));
        let large = |why| symptoms("webhook/large-batch-converted", Severity::Error, &[], Some(why));
        assert!(large("no answer within").follow_from(&hangs));
        assert!(!large("connection closed").follow_from(&hangs));
        let refused = |check| symptoms(check, Severity::Error, &[], Some("connection closed"));
        assert!(!large("connection closed").follow_from(&refused("converter/valid-always-converts")));
        assert!(large("connection closed").follow_from(&refused("converter/pairs-complete")));
    }

    #[test]
    fn a_refusal_is_a_consequence_of_the_field_that_it_names() {
        let lost = symptoms("converter/round-trip-lossless", Severity::Error, &[".spec.selector", ".spec.a.b"], None);
        let refused = |path| symptoms("apply/entries-follow-versions", Severity::Error, &[path], Some("422 invalid"));
        assert!(refused(".spec.selector").follow_from(&lost));
        assert!(!refused(".spec.a").follow_from(&lost), "what is lost inside of it does not make it null");
        assert!(!symptoms("apply/entries-follow-versions", Severity::Error, &[], Some("500")).follow_from(&lost));
    }
}
