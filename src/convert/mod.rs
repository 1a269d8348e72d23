//! Asking a converter. Only strategy None is here yet; it is a pure function.

mod none;

use crate::subject::{Crd, Subject};

pub use none::convert as convert_by_none;

/// A way to convert the objects of a CRD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Converter {
    /// The API server rewrites `apiVersion` and prunes.
    None,
}

/// The converter of a CRD, or why there is none to ask.
pub fn converter_of(subject: &Subject, crd: &Crd) -> Result<Converter, String> {
    let _ = subject;
    if crd.versions.len() < 2 {
        return Err("one version, so nothing is converted".into());
    }
    match crd.conversion.strategy.as_str() {
        "None" => Ok(Converter::None),
        strategy => Err(format!("strategy {strategy} needs a converter that can be asked")),
    }
}
