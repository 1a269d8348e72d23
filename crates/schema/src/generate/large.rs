//! Objects near the limit of etcd, and many of them.

use serde_json::Value;

use super::case::Meant;
use super::generator::Generator;
use super::make::Want;
use super::plan::Kind;
use super::random::Random;
use crate::structural::Path;

/// The number of objects of a long list.
pub(super) const LIST: usize = 500;

impl Generator<'_> {
    pub(super) fn large(&self, random: &mut Random, index: usize) -> Option<(Value, Option<Meant>)> {
        if let Some(number) = index.checked_sub(1) {
            let mut object = self.random(random)?;
            // Objects of one list have different names, unless the schema prevents that.
            let name = format!("{}-{number}", object["metadata"]["name"].as_str().unwrap_or("item"));
            let mut renamed = object.clone();
            renamed["metadata"]["name"] = name.into();
            if self.admits(&renamed) {
                object = renamed;
            }
            return Some((object, Some(Self::meant(&Path::root(), "list"))));
        }
        let plan = &self.maker.plan;
        let ids =
            (0..plan.nodes.len()).filter(|id| matches!(&plan.node(*id).kind, Kind::Text(text) if text.most.is_none()));
        ids.take(64).find_map(|id| {
            let node = plan.node(id);
            let Kind::Text(text) = &node.kind else { return None };
            let value: Value = text.of_length(random, self.options.large)?.into();
            let object = self.pinned(random, &node.path, Want::Exactly(&value))?;
            Some((object, Some(Self::meant(&node.path, "size"))))
        })
    }
}
