//! Asking a converter. Strategy None and field maps are pure functions; what talks to a process or a
//! network comes beside them.

pub mod review;

use serde_json::Value;

use crate::field_map;
use crate::schema;
use crate::subject::{Crd, Subject};

/// A way to convert the objects of a CRD.
#[derive(Debug, Clone, Copy)]
pub enum Converter<'a> {
    /// The API server rewrites `apiVersion` and prunes.
    None(&'a Crd),
    /// The declared field maps.
    FieldMap(&'a Subject, &'a Crd),
}

/// The converter of a CRD, or why there is none to ask.
pub fn converter_of<'a>(subject: &'a Subject, crd: &'a Crd) -> Result<Converter<'a>, String> {
    if crd.versions.len() < 2 {
        return Err("one version, so nothing is converted".into());
    }
    let declared = subject.file.converter.as_ref();
    match crd.conversion.strategy.as_str() {
        "None" => Ok(Converter::None(crd)),
        _ if declared.is_some_and(|converter| converter.field_map.is_some()) => Ok(Converter::FieldMap(subject, crd)),
        _ if declared.is_some() => Err("this release asks field maps only, no running converter".into()),
        strategy => Err(format!("strategy {strategy}, and the subject names no converter to ask")),
    }
}

impl Converter<'_> {
    /// Converts an object. `Err` is the refusal, in the converter's words. As the API server does
    /// after every conversion, what the target version does not know is pruned.
    pub fn convert(&self, object: &Value, from: &str, to: &str) -> Result<Value, String> {
        let (crd, mut converted) = match self {
            Self::None(crd) => (crd, object.clone()),
            Self::FieldMap(subject, crd) => {
                let map = subject.field_maps_of(crd).map(|(_, map)| map).find(|map| map.relates(from, to));
                let map = map.ok_or_else(|| format!("no field map relates {from} and {to}"))?;
                (crd, field_map::convert(map, object, from, to))
            }
        };
        let version = crd.version(to).ok_or_else(|| format!("{} has no version {to}", crd.name))?;
        // A document that is no object can pass for a sample of a CRD that names neither group nor kind.
        let fields = converted.as_object_mut().ok_or("this is no object")?;
        fields.insert("apiVersion".into(), Value::String(format!("{}/{to}", crd.group)));
        if let Some(schema) = &version.schema {
            schema::prune(schema, &mut converted);
        }
        Ok(converted)
    }
}
