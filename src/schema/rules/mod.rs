//! stub
use super::Schema;
use super::ratchet::Correlation;
use super::verdict::Findings;
use crate::kubernetes::KubeVersion;
use serde_json::Value;
#[derive(Debug)]
pub(super) struct Rules<'a>(&'a Schema);
impl<'a> Rules<'a> {
    pub(super) fn compile(_schema: &'a Schema, _kubernetes: KubeVersion) -> Option<Self> {
        None
    }
    pub(super) fn judge(&self, _value: &Value, _old: Option<&Value>, _c: Option<Correlation<'_>>, _f: &mut Findings) {}
}
