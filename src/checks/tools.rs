//! Compiled schemas and field maps for judges of conversions, compiled once for a CRD.

use std::collections::BTreeMap;

use super::Evidence;
use crate::subject::field_map::Relation;
use crate::subject::{Crd, Subject};
use crdproof_schema::structural::Validator;

/// Compiled schemas and field maps of one CRD.
pub struct Tools<'a> {
    validators: BTreeMap<&'a str, Validator<'a>>,
    relation: Result<Relation<'a>, String>,
}

impl<'a> Tools<'a> {
    /// Compiles those of a CRD.
    pub fn of(subject: &'a Subject, crd: &'a Crd) -> Self {
        let validator = |version: &'a crate::subject::Version| {
            let schema = version.schema.as_ref()?;
            Some((version.name.as_str(), Validator::new(schema, schema.newest_release())))
        };
        Self { validators: crd.versions.iter().filter_map(validator).collect(), relation: subject.relation_of(crd) }
    }

    /// Returns the validator of a version that has a schema.
    pub(super) fn validator(&self, version: &str) -> Option<&Validator<'a>> {
        self.validators.get(version)
    }

    /// The declared relation of the versions. `Err` is the problem.
    pub(crate) fn relation(&self) -> Result<&Relation<'a>, &str> {
        self.relation.as_ref().map_err(String::as_str)
    }
}

impl std::fmt::Debug for Tools<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tools").field("versions", &self.validators.keys()).finish_non_exhaustive()
    }
}

impl Evidence<'_> {
    /// Calls a function with the existing tools, or with new ones.
    pub(super) fn with_tools<T>(&self, act: impl FnOnce(&Tools<'_>) -> T) -> T {
        match self.tools {
            Some(tools) => act(tools),
            None => act(&Tools::of(self.subject, self.crd)),
        }
    }
}
