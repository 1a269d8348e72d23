//! Printer columns, selectable fields and scale name fields by path. The server accepts a path to a missing field for
//! columns and scale, which then stays empty or fails at run time.

use crate::checks::{Check, Evidence, Failure, Need, Severity, Verdict};
use crate::subject::Version;
use crdproof_schema::structural::{Schema, Type};

use super::shared_columns::columns;
use super::shared_jsonpath::{Found, resolve};

pub(crate) const CHECK: Check = Check {
    id: "manifest/paths-resolve",
    title: "printer columns, selectable fields and scale paths exist in the schema of their version",
    why: "A column whose path does not exist is always empty, a wrong scale path breaks autoscaling, and the API \
          server refuses a CRD with a selectable field that does not exist.",
    source: &[
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#additional-printer-columns",
        "docs/api-server-behaviour.md#field-selectors-belong-to-one-version",
        "docs/api-server-behaviour.md#printer-columns-belong-to-one-version",
        "docs/api-server-behaviour.md#scale-uses-the-paths-of-the-request-version",
    ],
    severity: Severity::Error,
    since: None,
    help: "correct the path, or add the field to the schema of this version",
    needs: &[Need::Manifest],
    judge,
};

fn judge(evidence: &Evidence<'_>) -> Verdict {
    let mut failures = Vec::new();
    for version in &evidence.crd.versions {
        let Some(schema) = &version.schema else {
            continue;
        };
        let mut found = Vec::new();
        columns(version, schema, &mut found);
        selectable_fields(version, schema, &mut found);
        scale(version, schema, &mut found);
        failures.extend(found.into_iter().map(|failure| failure.version(&version.name)));
    }
    Verdict::from_failures(failures, evidence.crd.versions.len())
}

fn selectable_fields(version: &Version, schema: &Schema, failures: &mut Vec<Failure>) {
    let fields = &version.selectable_fields;
    if fields.len() > 8 {
        failures.push(
            Failure::new(format!("{} selectable fields are too many; API servers accept 8", fields.len()))
                .at(fields[8].1),
        );
    }
    for (index, (path, span)) in fields.iter().enumerate() {
        let message = if fields[..index].iter().any(|(other, _)| other == path) {
            format!("the selectable field {path} is listed twice")
        } else if path.starts_with(".metadata") {
            format!("the selectable field {path} is in metadata")
        } else if path.contains('[') {
            format!("the selectable field {path} goes through a list")
        } else {
            match resolve(schema, path) {
                Found::Schema(found)
                    if found.ty.is_some_and(|ty| matches!(ty, Type::String | Type::Boolean | Type::Integer)) =>
                {
                    continue;
                }
                Found::Schema(_) | Found::Anything => {
                    format!("the selectable field {path} is not a string, boolean or integer")
                }
                Found::Nothing(at) => {
                    format!("the selectable field {path} does not exist: the schema has no {at}")
                }
            }
        };
        failures.push(Failure::new(message).at(*span));
    }
}

fn scale(version: &Version, schema: &Schema, failures: &mut Vec<Failure>) {
    let Some(scale) = &version.scale else { return };
    for (key, path, prefixes, needed) in [
        ("specReplicasPath", &scale.spec_replicas, &[".spec."][..], true),
        ("statusReplicasPath", &scale.status_replicas, &[".status."][..], true),
        ("labelSelectorPath", &scale.label_selector, &[".spec.", ".status."][..], false),
    ] {
        // An empty path is the same as none.
        let Some((path, span)) = path.as_ref().filter(|(path, _)| !path.is_empty()) else {
            if needed {
                failures.push(Failure::new(format!("scale has no {key}")).at(scale.span).help(format!("add {key}")));
            }
            continue;
        };
        if !prefixes.iter().any(|prefix| path.starts_with(prefix)) {
            let message = format!("{key} {path:?} does not start with {}", prefixes.join(" or "));
            failures.push(Failure::new(message).at(*span));
        } else if let Found::Nothing(at) = resolve(schema, path) {
            let message = format!("{key} is {path}, but the schema has no {at}, so scaling fails");
            failures.push(Failure::new(message).at(*span).severity(Severity::Warning));
        }
    }
}
