//! The scale subresource: constraints on the fields that it reads.

use serde_json::Value;

use super::verdict::{Reason, Violation};

/// The paths of the scale subresource, such as `.spec.replicas`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScalePaths<'a> {
    /// `specReplicasPath`.
    pub spec_replicas: &'a str,
    /// `statusReplicasPath`.
    pub status_replicas: &'a str,
    /// `labelSelectorPath`.
    pub label_selector: Option<&'a str>,
}

/// Checks that replicas are in the range of a scale, and that the selector is a string.
pub(super) fn judge_scale(object: &Value, scale: &ScalePaths<'_>, found: &mut Vec<Violation>) {
    let mut refuse = |path: &str, message: String| {
        let pointer = path.replace('.', "/");
        found.push(Violation { field: path.to_owned(), pointer, reason: Reason::Invalid, keyword: "scale", message });
    };
    let at = |path: &str| path.split('.').skip(1).try_fold(object, |value, name| value.get(name));
    for path in [scale.spec_replicas, scale.status_replicas] {
        match at(path).map(|value| (value, value.as_i64())) {
            None => {}
            Some((_, Some(count))) if (0..=i64::from(i32::MAX)).contains(&count) => {}
            Some((value, _)) => refuse(path, format!("must be a whole number from 0 to {}, is {value}", i32::MAX)),
        }
    }
    if let Some(path) = scale.label_selector
        && let Some(value) = at(path).filter(|value| !value.is_string())
    {
        refuse(path, format!("must be a string, is {value}"));
    }
}
