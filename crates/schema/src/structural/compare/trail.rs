//! The path to a node. It is only built if there is a difference to report: most nodes of most schemas do not change.

use super::super::{Path, Step};

/// A node's place, linked to that of its parent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trail<'a> {
    up: Option<(&'a Trail<'a>, Hop<'a>)>,
    /// True if the API server can match a new value with its old one.
    pub(super) correlates: bool,
    /// True if an object without this field is refused.
    pub(super) required: bool,
    /// True if an object without this field was refused.
    pub(super) was_required: bool,
}

/// One step downwards, borrowed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hop<'a> {
    Field(&'a str),
    Item,
    Value,
}

impl<'a> Trail<'a> {
    pub(super) fn root() -> Self {
        Self { up: None, correlates: true, required: true, was_required: false }
    }

    pub(super) fn then(&'a self, hop: Hop<'a>) -> Self {
        Self { up: Some((self, hop)), correlates: self.correlates, required: false, was_required: false }
    }

    pub(super) fn is_root(&self) -> bool {
        self.up.is_none()
    }

    pub(super) fn is_item(&self) -> bool {
        matches!(self.up, Some((_, Hop::Item)))
    }

    pub(super) fn path(&self) -> Path {
        let Some((up, hop)) = &self.up else {
            return Path::root();
        };
        up.path().then(match hop {
            Hop::Field(name) => Step::Field((*name).to_owned()),
            Hop::Item => Step::Item,
            Hop::Value => Step::Value,
        })
    }
}
