//! Probes of schemas.

use serde_json::json;

use super::ProbeResult;
use super::bench::{Bench, said, survived};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{PatchKind, Query, definitions};

/// V12: null was not allowed as a value of an enum.
pub(super) async fn null_in_enum(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let spec = json!({"type": "object", "properties": {
        "a": {"type": "string", "nullable": true, "enum": ["x", null]}}});
    match bench.plain(spec).await {
        Ok(()) => Ok(ProbeResult::Good("the CRD is accepted".into())),
        // The message repeats the whole definition; the error is at its end.
        Err(ClusterError::Refused { status: 422, message, .. }) => {
            let reason = message.rsplit(": ").next().unwrap_or_default();
            Ok(ProbeResult::Bad(format!("422 {reason}")))
        }
        Err(error) => Err(error),
    }
}

/// V13: items lost their fields.
pub(super) async fn preserved_array(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let free = json!({"x-kubernetes-preserve-unknown-fields": true});
    bench.plain(json!({"type": "object", "properties": {"free": free}})).await?;
    let sent = json!([{"foo": true}]);
    bench.create("v1", &json!({"free": sent})).await?.ok()?;
    let read = bench.get("v1").await?["spec"]["free"].clone();
    Ok(ProbeResult::of(read == sent, format!("{sent} is stored as {read}")))
}

/// V05: a field of integer or string made the server panic.
pub(super) async fn int_or_string(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let both = json!({"x-kubernetes-int-or-string": true});
    match bench.plain(json!({"type": "object", "properties": {"size": both}})).await {
        Err(ClusterError::Refused { status, message, .. }) if status >= 500 => return Ok(ProbeResult::Bad(message)),
        installed => installed?,
    }
    let sight = survived(bench.create("v1", &json!({"size": 1})).await)?;
    if !matches!(sight, ProbeResult::Good(_)) {
        return Ok(sight);
    }
    let text = json!({"spec": {"size": "50%"}});
    survived(bench.api.patch(&bench.path("v1"), PatchKind::Merge, &text).await)
}

/// V32: formats of numbers were reported as unknown.
pub(super) async fn format_warnings(bench: &Bench<'_>) -> Result<ProbeResult, ClusterError> {
    let mut fields = json!({"none": {"type": "string", "format": NO_FORMAT}});
    for (kind, format) in NUMBERS {
        fields[format] = json!({"type": kind, "format": format});
    }
    let crd = bench.crd(&[("v1", json!({"type": "object", "properties": fields}))]);
    let answer = bench.api.post(&Query::new().dry_run().on(definitions().path()), &crd).await?;
    if !answer.is_success() {
        return Ok(ProbeResult::Unclear(said(&answer)));
    }
    Ok(warned(&answer.warnings()))
}

const NO_FORMAT: &str = "crdproof-knows-none";
const NUMBERS: [(&str, &str); 4] =
    [("integer", "int32"), ("integer", "int64"), ("number", "float"), ("number", "double")];

fn warned(warnings: &[String]) -> ProbeResult {
    // Quotes within a header are escaped by a backslash.
    let about =
        |format: &str| warnings.iter().find(|warning| warning.replace('\\', "").contains(&format!("\"{format}\"")));
    match NUMBERS.iter().find_map(|(_, format)| about(format)) {
        Some(warning) => ProbeResult::Bad(warning.clone()),
        None if about(NO_FORMAT).is_some() => ProbeResult::Good("warns of the unknown format alone".into()),
        None if warnings.is_empty() => ProbeResult::Good("warns of no format, right or wrong".into()),
        None => ProbeResult::Unclear(warnings.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::bench::tests::word;
    use super::*;

    #[rstest]
    #[case(&[], "good")]
    #[case(&[r#"299 - "unrecognized format \"crdproof-knows-none\"""#], "good")]
    #[case(&["unrecognized format \"crdproof-knows-none\"", "unrecognized format \"int32\""], "bad")]
    #[case(&["something else"], "unclear")]
    fn warnings_name_formats(#[case] warnings: &[&str], #[case] expected: &str) {
        let warnings: Vec<String> = warnings.iter().map(|&warning| warning.to_owned()).collect();
        assert_eq!(word(&warned(&warnings)), expected);
    }
}
