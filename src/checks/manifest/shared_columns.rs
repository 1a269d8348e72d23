//! Printer columns of a version.

use crate::checks::{Failure, Severity};
use crate::subject::Version;
use crdproof_schema::document::Span;
use crdproof_schema::structural::Schema;

use super::shared_jsonpath::{Found, resolve};

const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];

/// Formats; an empty one is the same as none.
const FORMATS: [&str; 9] = ["", "byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/// Finds columns that API servers refuse, and columns whose path does not exist.
pub(super) fn columns(version: &Version, schema: &Schema, failures: &mut Vec<Failure>) {
    for column in &version.columns {
        let name = &column.name;
        let mut say = |message: String, span: Span, severity: Severity| {
            failures.push(Failure::new(message).at(span).severity(severity));
        };
        if !TYPES.contains(&column.ty.as_str()) {
            let message =
                format!("the column {name:?} has the type {:?}, which is not one of {}", column.ty, TYPES.join(", "));
            say(message, column.span, Severity::Error);
        }
        if name.is_empty() {
            say("a column has no name".into(), column.span, Severity::Error);
        }
        if let Some((format, span)) = column.format.as_ref().filter(|(format, _)| !FORMATS.contains(&format.as_str())) {
            let message =
                format!("the column {name:?} has the format {format:?}, which is not one of {}", FORMATS.join(", "));
            say(message, *span, Severity::Error);
        }
        match &column.path {
            None => say(format!("the column {name:?} has no jsonPath"), column.span, Severity::Error),
            Some((path, span)) if !path.starts_with('.') => {
                say(
                    format!("the jsonPath {path:?} of the column {name:?} does not start with a dot"),
                    *span,
                    Severity::Error,
                );
            }
            Some((path, span)) => {
                if let Found::Nothing(at) = resolve(schema, path) {
                    say(
                        format!("the column {name:?} shows {path}, but the schema has no {at}"),
                        *span,
                        Severity::Warning,
                    );
                }
            }
        }
    }
}
