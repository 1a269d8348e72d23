//! The files that recorded verdicts are written to.
//!
//! Their form is fixed, so that a new recording shows as a small difference: sorted keys, one object to a line, and
//! numbers as Python writes them, since the first recordings came from a Python script.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

/// The responses to one case.
pub(super) struct RecordedCase {
    pub(super) name: String,
    pub(super) kind: String,
    /// The response to the definition, if the server refused it.
    pub(super) refusal: Option<Value>,
    /// Warnings about the definition.
    pub(super) warnings: Vec<String>,
    /// The response to each object.
    pub(super) objects: Vec<Value>,
}

/// Renders a file.
pub(super) fn render(kubernetes: &str, sha256: &str, theme: &str, cases: &[RecordedCase]) -> String {
    let mut text = String::from("{\n");
    for (key, value) in [("kubernetes", kubernetes), ("sha256", sha256), ("theme", theme)] {
        text.push_str(&format!(" \"{key}\": {},\n", compact(&value.into())));
    }
    let cases: Vec<String> = cases.iter().map(render_case).collect();
    text.push_str(&format!(" \"cases\": [\n{}\n ]\n}}\n", cases.join(",\n")));
    text
}

fn render_case(case: &RecordedCase) -> String {
    let mut lines = vec![
        format!("   \"crd\": {}", compact(case.refusal.as_ref().unwrap_or(&Value::Null))),
        format!("   \"kind\": {}", compact(&case.kind.as_str().into())),
        format!("   \"name\": {}", compact(&case.name.as_str().into())),
    ];
    if !case.warnings.is_empty() {
        lines.push(format!("   \"warnings\": {}", compact(&case.warnings.as_slice().into())));
    }
    let objects: Vec<String> = case.objects.iter().map(|object| format!("    {}", compact(object))).collect();
    lines.push(match objects.as_slice() {
        [] => "   \"objects\": []".to_owned(),
        objects => format!("   \"objects\": [\n{}\n   ]", objects.join(",\n")),
    });
    format!("  {{\n{}\n  }}", lines.join(",\n"))
}

/// Renders a value in one line, with sorted keys and a space after each comma and colon.
fn compact(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => value.to_string(),
        Value::Number(value) => number(value),
        Value::Array(items) => format!("[{}]", items.iter().map(compact).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            // Sort here, because the order of serde_json's map depends on the build.
            let sorted: BTreeMap<&String, &Value> = entries.iter().collect();
            let entries =
                sorted.into_iter().map(|(key, value)| format!("{}: {}", compact(&key.as_str().into()), compact(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Renders a number. API servers write whole floats below 1e21 as digits, so these are digits here, too; -0 is 0.
fn number(number: &Number) -> String {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return number.to_string() };
    if float.fract() == 0.0 && float.abs() < 1e21 {
        return (float + 0.0).to_string();
    }
    // The shortest digits that give the same float, and the exponent: "1.5e-7".
    let shortest = format!("{float:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) {
        return float.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde::Deserialize;

    use super::*;
    use crate::repository;

    #[derive(Deserialize)]
    struct File {
        kubernetes: String,
        sha256: String,
        theme: String,
        cases: Vec<FileCase>,
    }

    #[derive(Deserialize)]
    struct FileCase {
        name: String,
        kind: String,
        crd: Option<Value>,
        #[serde(default)]
        warnings: Vec<String>,
        objects: Vec<Value>,
    }

    #[test]
    fn every_recorded_file_is_rendered_byte_for_byte() {
        let mut count = 0;
        for release in fs::read_dir(repository().join("fixtures/verdicts/recorded")).unwrap().flatten() {
            for entry in fs::read_dir(release.path()).unwrap().flatten() {
                let text = fs::read_to_string(entry.path()).unwrap();
                let file: File = serde_json::from_str(&text).unwrap();
                let cases = file.cases.into_iter().map(|case| RecordedCase {
                    name: case.name,
                    kind: case.kind,
                    refusal: case.crd,
                    warnings: case.warnings,
                    objects: case.objects,
                });
                let cases: Vec<RecordedCase> = cases.collect();
                let rendered = render(&file.kubernetes, &file.sha256, &file.theme, &cases);
                assert!(rendered == text, "{} is rendered differently", entry.path().display());
                count += 1;
            }
        }
        assert!(count >= 19, "only {count} recorded files");
    }

    #[test]
    fn numbers_look_like_those_of_the_first_recordings() {
        for (input, expected) in [
            ("1", "1"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("18446744073709551615", "18446744073709551615"),
            ("100000000000000000000", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("1.5", "1.5"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1e-7", "1e-07"),
            ("-2.5e-10", "-2.5e-10"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("123456789.12345679", "123456789.12345679"),
            ("-0", "0"),
        ] {
            assert_eq!(compact(&serde_json::from_str(input).unwrap()), expected);
        }
    }

    #[test]
    fn keys_are_sorted_and_only_what_must_be_escaped_is() {
        let value: Value = serde_json::from_str(r#"{"b": [1, {"é": "\u0000\n\"ü\u007f"}], "a": {}}"#).unwrap();
        assert_eq!(compact(&value), "{\"a\": {}, \"b\": [1, {\"é\": \"\\u0000\\n\\\"ü\u{7f}\"}]}");
    }
}
