//! Keys and values of labels and annotations, which checks of names share.

use crate::subject::is_dns_subdomain_1123;

/// `name` or `prefix/name`, as labels and annotations are keyed. `Err` says what is wrong.
pub(super) fn qualified_name(key: &str) -> Result<(), &'static str> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if prefix.is_some_and(|prefix| !is_dns_subdomain_1123(&prefix.to_lowercase())) {
        return Err("the part before the slash is no domain");
    }
    if name.is_empty() { Err("there is no name after the slash") } else { label_value(name) }
}

/// The value of a label, and the part of a key behind the slash. `Err` says what is wrong.
pub(super) fn label_value(text: &str) -> Result<(), &'static str> {
    let alphanumeric = |c: char| c.is_ascii_alphanumeric();
    if text.len() > 63 {
        Err("it is longer than 63 characters")
    } else if !text.is_empty() && (!text.starts_with(alphanumeric) || !text.ends_with(alphanumeric))
        || !text.chars().all(|c| alphanumeric(c) || matches!(c, '-' | '_' | '.'))
    {
        Err("it may have letters, digits, dashes, underscores and dots, and must start and end with a letter or digit")
    } else {
        Ok(())
    }
}
