//! Field maps must speak of CRDs, versions and fields that exist.

use super::InputError;
use crate::field_map::FieldMap;
use crate::names;
use crate::schema::{Path, Schema};
use crate::subject::{Crd, Subject};

/// The first mistake in the field maps of a subject.
pub(super) fn stray(subject: &Subject) -> Option<InputError> {
    subject.file.field_maps.iter().enumerate().find_map(|(index, map)| {
        let mistake = mistake(subject, map)?;
        let span = subject.file_span(&format!("/fieldMaps/{index}{}", mistake.pointer))?;
        Some(InputError::at(&subject.sources, span, mistake.message).help(mistake.help))
    })
}

struct Mistake {
    /// Below the field map.
    pointer: String,
    message: String,
    help: String,
}

fn mistake(subject: &Subject, map: &FieldMap) -> Option<Mistake> {
    let say = |pointer: String, message: String, help: String| Some(Mistake { pointer, message, help });
    let Some(crd) = subject.crd(&map.crd) else {
        let near = names::closest(&map.crd, subject.crds.iter().map(|crd| crd.name.as_str()));
        let help =
            near.map_or_else(|| "name one of the subject's CRDs".to_owned(), |near| format!("did you mean `{near}`?"));
        return say("/crd".into(), format!("the subject has no CRD {:?}", map.crd), help);
    };
    for (side, version) in map.between.iter().enumerate() {
        if crd.version(version).is_none() {
            let names: Vec<_> = crd.versions.iter().map(|version| version.name.as_str()).collect();
            let message = format!("{} has no version {version:?}", crd.name);
            return say(format!("/between/{side}"), message, format!("its versions: {}", names.join(", ")));
        }
    }
    let [left, right] = &map.between;
    let pair = format!("this map relates {left} and {right}");
    for (index, paths) in map.rename.iter().enumerate() {
        for (version, path) in paths {
            if !map.between.contains(version) {
                return say(
                    format!("/rename/{index}/{version}"),
                    format!("{version:?} is not one of the two versions"),
                    pair,
                );
            }
            if let Some(message) = no_field(crd, version, path) {
                return say(format!("/rename/{index}/{version}"), message, "correct the path".into());
            }
        }
        if paths.len() != 2 {
            return say(format!("/rename/{index}"), "a rename names the path in both versions".into(), pair);
        }
    }
    let stashes = map
        .stash
        .iter()
        .enumerate()
        .map(|(index, stash)| (format!("/stash/{index}"), &stash.from, &stash.to, &stash.path));
    let losses =
        map.lost.iter().enumerate().map(|(index, loss)| (format!("/lost/{index}"), &loss.from, &loss.to, &loss.path));
    stashes.chain(losses).find_map(|(pointer, from, to, path)| {
        if !map.relates(from, to) {
            return say(format!("{pointer}/from"), format!("it goes from {from} to {to}"), pair.clone());
        }
        let message = no_field(crd, from, path)?;
        say(format!("{pointer}/path"), message, format!("the path is that of the field in {from}"))
    })
}

/// Why a path such as `.spec.endpoint.host` leads nowhere in a version.
fn no_field(crd: &Crd, version: &str, path: &str) -> Option<String> {
    let Some(rest) =
        path.strip_prefix('.').filter(|rest| rest.split('.').all(|step| !step.is_empty() && !step.contains('[')))
    else {
        return Some(format!("{path:?} is no path of fields, such as .spec.endpoint.host"));
    };
    let schema = crd.version(version)?.schema.as_ref()?;
    let mut node: &Schema = schema;
    let mut walked = Path::root();
    for step in rest.split('.') {
        walked = walked.field(step);
        match node.child(step) {
            Some(child) => node = child,
            None if node.preserves_unknown() || walked.is_meta() => return None,
            None => return Some(format!("{version} has no field {walked}")),
        }
    }
    None
}
