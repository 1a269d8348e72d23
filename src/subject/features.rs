//! The features of the table that a CRD uses.

use std::collections::BTreeMap;

use regex::Regex;

use super::Crd;
use crdproof_schema::document::{Node, Span};
use crdproof_schema::kubernetes::{FEATURES, Feature, Found, KubeVersion};
use crdproof_schema::structural::{Rule, Schema, selects_reserved_word};

/// A feature that a CRD uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsedFeature {
    /// The row of the table.
    pub feature: &'static Feature,
    /// The first release that has it by default.
    pub since: KubeVersion,
    /// The first place where it is used.
    pub span: Span,
}

/// The features that a CRD uses and that not every release with `apiextensions.k8s.io/v1` has. A part that needs no
/// newer release than the whole is not listed.
pub fn features_of(crd: &Crd) -> Vec<UsedFeature> {
    let newer = |used: &UsedFeature| {
        let whole = used.feature.whole().and_then(Feature::since).unwrap_or(KubeVersion::OLDEST);
        used.since > whole.max(KubeVersion::OLDEST)
    };
    recognised(crd).filter(newer).collect()
}

fn recognised(crd: &Crd) -> impl Iterator<Item = UsedFeature> {
    let uses = Uses::of(crd);
    FEATURES.iter().filter_map(move |(feature, regex)| {
        let span = uses.first(crd, feature.found.as_ref()?, regex.as_ref())?;
        Some(UsedFeature { feature, since: feature.since()?, span })
    })
}

/// The features that the schemas of a CRD use, each with the first place, in the order of the file.
#[derive(Default)]
struct Uses<'a> {
    keywords: BTreeMap<&'a str, Span>,
    /// By their names without dashes.
    formats: BTreeMap<String, Span>,
    rules: Vec<RuleUse<'a>>,
}

struct RuleUse<'a> {
    rule: &'a Rule,
    /// The rule and its message, without string literals, which could look like code.
    texts: Vec<String>,
    selects_reserved_word: bool,
}

impl<'a> Uses<'a> {
    fn of(crd: &'a Crd) -> Self {
        let mut uses = Self::default();
        for schema in crd.versions.iter().filter_map(|version| version.schema.as_ref()) {
            schema.walk_all(&mut |_, schema| uses.add(schema));
        }
        uses
    }

    fn add(&mut self, schema: &'a Schema) {
        for keyword in &schema.keywords {
            self.keywords.entry(&keyword.name).or_insert(keyword.span);
        }
        if let Some(format) = &schema.format {
            self.formats.entry(undashed(format)).or_insert_with(|| schema.keyword_span("format"));
        }
        self.rules.extend(schema.rules.iter().map(|rule| {
            let texts = std::iter::once(&rule.rule).chain(&rule.message_expression);
            RuleUse {
                rule,
                texts: texts.map(|text| without_strings(text)).collect(),
                selects_reserved_word: selects_reserved_word(schema, &rule.rule),
            }
        }));
    }

    /// The first place where a feature is used.
    fn first(&self, crd: &Crd, found: &Found, regex: Option<&Regex>) -> Option<Span> {
        if let Some(wanted) = &found.review_versions_without {
            let versions = &crd.conversion.review_versions;
            let without = !versions.is_empty() && !versions.iter().any(|(name, _)| name == wanted);
            return without.then(|| crd.span_at("/spec/conversion/webhook/conversionReviewVersions"));
        }
        if let Some(path) = &found.spec_field {
            return field(crd.node.get("spec")?, path);
        }
        if let Some(path) = &found.version_field {
            return crd.versions.iter().find_map(|version| field(&version.node, path));
        }
        if let Some(keyword) = &found.keyword {
            return self.keywords.get(keyword.as_str()).copied();
        }
        if let Some(formats) = &found.formats {
            return formats.iter().filter_map(|format| self.formats.get(&undashed(format))).min().copied();
        }
        self.rules.iter().find(|used| used.has(found, regex)).map(|used| used.rule.span)
    }
}

/// Returns the location of a field that is set.
fn field(node: &Node, path: &str) -> Option<Span> {
    if let Some((first, rest)) = path.split_once('.') {
        return field(node.get(first)?, rest);
    }
    let entry = node.entry(path)?;
    let says_something = entry.value.as_bool() != Some(false) && !entry.value.is_null();
    says_something.then(|| entry.key_span.to(entry.value.span))
}

/// Removes dashes, which do not count in names of formats.
fn undashed(format: &str) -> String {
    format.replace('-', "")
}

impl RuleUse<'_> {
    fn has(&self, found: &Found, regex: Option<&Regex>) -> bool {
        let rule = self.rule;
        let key = match found.rule_key.as_deref() {
            Some("messageExpression") => rule.message_expression.is_some(),
            Some("reason") => rule.reason.is_some(),
            Some("fieldPath") => rule.field_path.is_some(),
            Some("optionalOldSelf") => rule.optional_old_self.is_some(),
            _ => false,
        };
        let reserved = found.rule_selects.as_deref() == Some("reserved word") && self.selects_reserved_word;
        key || reserved || regex.is_some_and(|regex| self.texts.iter().any(|text| regex.is_match(text)))
    }
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
    use crdproof_schema::document::{Sources, parse};

    /// A CRD that uses every feature of the table.
    const EVERYTHING: &str = include_str!("features_tests.yaml");

    fn crd(text: &str) -> Crd {
        let mut sources = Sources::default();
        let id = sources.add("crd.yaml", text);
        Crd::read(parse(&sources, id).unwrap().remove(0)).unwrap()
    }

    #[test]
    fn every_row_is_recognised() {
        let crd = crd(EVERYTHING);
        let found: Vec<&str> = recognised(&crd).map(|used| used.feature.id.as_str()).collect();
        let rows = FEATURES.iter().map(|(feature, _)| feature).filter(|feature| feature.found.is_some());
        let missing: Vec<_> = rows.filter(|row| !found.contains(&row.id.as_str())).map(|row| &row.id).collect();
        assert!(missing.is_empty(), "not recognised: {missing:?}");
    }

    #[test]
    fn only_features_that_raise_the_minimum_are_listed() {
        let crd = crd(EVERYTHING);
        let told = features_of(&crd);
        assert!(told.iter().all(|used| used.since > KubeVersion::OLDEST));
        let told: Vec<&str> = told.iter().map(|used| used.feature.id.as_str()).collect();
        for told_elsewhere in ["defaults", "formats", "cel-old-self", "cel-urls", "deprecation-warning"] {
            assert!(!told.contains(&told_elsewhere), "{told_elsewhere}");
        }
        for newer in ["cel-rules", "cel-reason", "cel-quantity", "map-type", "selectable-fields", "review-v1-only"] {
            assert!(told.contains(&newer), "{newer}");
        }
    }

    #[test]
    fn string_literals_are_not_calls() {
        assert_eq!(without_strings(r"self == 'ip(\'x\')' && ip(self)"), "self ==  && ip(self)");
    }
}
