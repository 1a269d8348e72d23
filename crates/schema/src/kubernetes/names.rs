//! The syntax of names in Kubernetes, and the order of API versions.

use std::cmp::Ordering;

/// Returns true for lower-case letters, digits and dashes that start with a letter and end with a letter or digit; at
/// most 63 characters. Versions, plurals and short names are such labels.
pub fn is_dns_label_1035(name: &str) -> bool {
    name.len() <= 63
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Returns true for labels of lower-case letters, digits and dashes, joined by dots; at most 253 characters.
pub fn is_dns_subdomain_1123(name: &str) -> bool {
    let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= 253
        && name.split('.').all(|label| {
            label.starts_with(alphanumeric)
                && label.ends_with(alphanumeric)
                && label.chars().all(|c| alphanumeric(c) || c == '-')
        })
}

/// Returns true if a version name has the form `v1`, `v1beta2` or `v2alpha1`.
pub fn is_kubernetes_version_name(name: &str) -> bool {
    parse(name).is_some()
}

/// The order in which API servers prefer versions: stable before beta before alpha, higher numbers
/// first, all other names last and by alphabet. `Less` means preferred.
pub fn api_version_order(left: &str, right: &str) -> Ordering {
    match (parse(left), parse(right)) {
        (Some(left), Some(right)) => right.cmp(&left),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

/// Stability (alpha 0, beta 1, stable 2), major, minor.
fn parse(name: &str) -> Option<(u8, u64, u64)> {
    let rest = name.strip_prefix('v')?;
    let number = |text: &str| {
        let valid = !text.is_empty() && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
        if valid { text.parse().ok() } else { None }
    };
    for (word, stability) in [("alpha", 0), ("beta", 1)] {
        if let Some((major, minor)) = rest.split_once(word) {
            return Some((stability, number(major)?, number(minor)?));
        }
    }
    Some((2, number(rest)?, 0))
}

/// Checks the key of a label or annotation: `name` or `prefix/name`. `Err` is the problem.
pub fn qualified_name(key: &str) -> Result<(), &'static str> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if prefix.is_some_and(|prefix| !is_dns_subdomain_1123(&prefix.to_lowercase())) {
        return Err("the part before the slash is not a domain");
    }
    if name.is_empty() { Err("there is no name after the slash") } else { label_value(name) }
}

/// Checks the value of a label, which is also the form of a key's part after the slash. `Err` is the problem.
pub fn label_value(text: &str) -> Result<(), &'static str> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_as_api_servers_prefer_them() {
        let mut names = ["foo1", "v1alpha1", "v10", "v2beta1", "v1", "v2", "v1beta2", "bar", "v11alpha2", "v1beta10"];
        names.sort_by(|left, right| api_version_order(left, right));
        assert_eq!(
            names,
            ["v10", "v2", "v1", "v2beta1", "v1beta10", "v1beta2", "v11alpha2", "v1alpha1", "bar", "foo1"]
        );
    }

    #[test]
    fn labels_and_subdomains() {
        assert!(is_dns_label_1035("v1beta1") && !is_dns_label_1035("1v") && !is_dns_label_1035("v1.0"));
        assert!(!is_dns_label_1035("") && !is_dns_label_1035("a-") && !is_dns_label_1035("vA"));
        assert!(is_dns_subdomain_1123("a-1.example.com") && !is_dns_subdomain_1123("a..b"));
        assert!(!is_dns_subdomain_1123("") && !is_dns_subdomain_1123("A.b"));
    }
}
