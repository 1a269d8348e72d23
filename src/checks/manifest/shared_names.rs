//! Keys of labels and annotations, which checks of names share.

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
    let alphanumeric = |c: char| c.is_ascii_alphanumeric();
    if name.is_empty() {
        Err("there is no name after the slash")
    } else if name.len() > 63 {
        Err("the name is longer than 63 characters")
    } else if !name.starts_with(alphanumeric)
        || !name.ends_with(alphanumeric)
        || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    {
        Err("a name has letters, digits, dashes, underscores and dots, and starts and ends with a letter or digit")
    } else {
        Ok(())
    }
}
