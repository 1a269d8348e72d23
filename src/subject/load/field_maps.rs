//! Checks that field maps name existing CRDs, versions and fields, and can be compiled.

use super::InputError;
use crate::subject::field_map::{FieldMap, Problem, Relation};
use crate::subject::{Crd, Subject};
use crdproof_schema::names;

/// The first mistake in the field maps of a subject.
pub(super) fn first_mistake(subject: &Subject) -> Option<InputError> {
    let (index, problem) = subject
        .file
        .field_maps
        .iter()
        .enumerate()
        .find_map(|(index, map)| Some((index, unknown_name(subject, map)?)))
        .or_else(|| subject.crds.iter().find_map(|crd| uncompilable(subject, crd)))?;
    let span = subject.file_span(&format!("/fieldMaps/{index}{}", problem.pointer))?;
    Some(InputError::at(&subject.sources, span, problem.message).help(problem.help))
}

/// A CRD or a version that does not exist.
fn unknown_name(subject: &Subject, map: &FieldMap) -> Option<Problem> {
    let say = |pointer: String, message: String, help: String| Some(Problem { pointer, message, help });
    let Some(crd) = subject.crd(&map.crd) else {
        let near = names::closest(&map.crd, subject.crds.iter().map(|crd| crd.name.as_str()));
        let help =
            near.map_or_else(|| "name one of the subject's CRDs".to_owned(), |near| format!("did you mean `{near}`?"));
        return say("/crd".into(), format!("the subject has no CRD {:?}", map.crd), help);
    };
    let (side, version) = map.between.iter().enumerate().find(|(_, version)| crd.version(version).is_none())?;
    let names: Vec<_> = crd.versions.iter().map(|version| version.name.as_str()).collect();
    let message = format!("{} has no version {version:?}", crd.name);
    say(format!("/between/{side}"), message, format!("its versions: {}", names.join(", ")))
}

/// A map of a CRD that cannot be compiled, with its index among all maps of the subject.
fn uncompilable(subject: &Subject, crd: &Crd) -> Option<(usize, Problem)> {
    let maps = subject.field_maps_of(crd).map(|(_, map)| map);
    let wrong = Relation::new(maps, |version| crd.version(version)?.schema.as_ref()).err()?;
    let (index, _) = subject.field_maps_of(crd).nth(wrong.map)?;
    Some((index, wrong.problem))
}
