//! Which features of the table a CRD uses.

use regex::Regex;

use super::Crd;
use crate::document::Span;
use crate::kubernetes::{FEATURES, Feature, Found};
use crate::schema::Rule;

/// The features that a CRD uses, each with the first place where it does.
pub fn features_of(crd: &Crd) -> Vec<(&'static Feature, Span)> {
    FEATURES
        .iter()
        .filter_map(|(feature, regex)| Some((feature, first_use(crd, &feature.found, regex.as_ref())?)))
        .collect()
}

fn first_use(crd: &Crd, found: &Found, regex: Option<&Regex>) -> Option<Span> {
    if let Some(wanted) = &found.review_versions_without {
        let versions = &crd.conversion.review_versions;
        let without = !versions.is_empty() && !versions.iter().any(|(name, _)| name == wanted);
        return without.then(|| crd.span_at("/spec/conversion/webhook/conversionReviewVersions"));
    }
    crd.versions.iter().find_map(|version| {
        if let Some(field) = &found.version_field {
            let entry = version.node.entry(field)?;
            let says_something = entry.value.as_bool() != Some(false) && !entry.value.is_null();
            return says_something.then(|| entry.key_span.to(entry.value.span));
        }
        let mut first = None;
        version.schema.as_ref()?.walk_all(&mut |_, schema| {
            if first.is_some() {
                return;
            }
            if let Some(keyword) = &found.keyword {
                first = schema.keyword(keyword).map(|keyword| keyword.span);
            } else if let Some(format) = &found.format {
                first = (schema.format.as_ref() == Some(format)).then(|| schema.keyword_span("format"));
            } else {
                first = schema.rules.iter().find(|rule| rule_uses(rule, found, regex)).map(|rule| rule.span);
            }
        });
        first
    })
}

fn rule_uses(rule: &Rule, found: &Found, regex: Option<&Regex>) -> bool {
    let key = match found.rule_key.as_deref() {
        Some("messageExpression") => rule.message_expression.is_some(),
        Some("reason") => rule.reason.is_some(),
        Some("fieldPath") => rule.field_path.is_some(),
        Some("optionalOldSelf") => rule.optional_old_self.is_some(),
        _ => false,
    };
    let texts = std::iter::once(&rule.rule).chain(&rule.message_expression);
    key || regex.is_some_and(|regex| texts.into_iter().any(|text| regex.is_match(&without_strings(text))))
}

/// A rule without its string literals, which could look like calls.
fn without_strings(rule: &str) -> String {
    let mut out = String::with_capacity(rule.len());
    let mut quote = None;
    let mut escaped = false;
    for c in rule.chars() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_no_calls() {
        assert_eq!(without_strings(r"self == 'ip(\'x\')' && ip(self)"), "self ==  && ip(self)");
    }
}
