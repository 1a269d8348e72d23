//! Combined constraints of several schemas on one value.

use super::{Habit, Text};
use crate::kubernetes::KubeVersion;
use crate::structural::{Path, Schema, Step, text_format};

/// The greatest of some bounds.
pub(super) fn greatest(bounds: impl Iterator<Item = i64>) -> usize {
    bounds.max().and_then(|bound| usize::try_from(bound).ok()).unwrap_or_default()
}

/// The smallest of some bounds.
pub(super) fn smallest(bounds: impl Iterator<Item = i64>) -> usize {
    bounds.min().map_or(usize::MAX, |bound| usize::try_from(bound).unwrap_or_default())
}

/// The keywords of a scalar, without its enum.
pub(super) fn without_parts(schema: &Schema) -> Schema {
    let mut bare = Schema::empty(schema.span);
    bare.ty = schema.ty;
    bare.format.clone_from(&schema.format);
    bare.int_or_string = schema.int_or_string;
    bare.nullable = schema.nullable;
    bare.minimum.clone_from(&schema.minimum);
    bare.maximum.clone_from(&schema.maximum);
    bare.exclusive_minimum = schema.exclusive_minimum;
    bare.exclusive_maximum = schema.exclusive_maximum;
    bare.multiple_of.clone_from(&schema.multiple_of);
    bare.min_length = schema.min_length;
    bare.max_length = schema.max_length;
    bare.pattern.clone_from(&schema.pattern);
    bare
}

/// The constraints of a string.
pub(super) fn text_of(schemas: &[&Schema], path: &Path, kubernetes: KubeVersion) -> Text {
    let mut text = Text {
        least: greatest(schemas.iter().filter_map(|schema| schema.min_length)),
        most: schemas
            .iter()
            .filter_map(|schema| schema.max_length)
            .min()
            .map(|most| usize::try_from(most).unwrap_or(0)),
        ..Text::default()
    };
    for schema in schemas {
        text.patterns.extend(schema.pattern.clone().filter(|pattern| !pattern.text.is_empty()));
        if let (Some(name), Some(test)) = (&schema.format, text_format(schema, kubernetes)) {
            text.formats.push((name.clone(), test));
        }
    }
    let last = path.steps().last();
    let name = match last {
        Some(Step::Field(name)) => name.to_ascii_lowercase(),
        _ => String::new(),
    };
    let ends = |words: &[&str]| words.iter().any(|word| name.ends_with(word));
    text.habit = if ends(&["timeout", "interval", "duration", "period"]) {
        Habit::Durations
    } else if ends(&["memory", "storage", "quantity"]) {
        Habit::Quantities
    } else {
        Habit::Words
    };
    text
}
