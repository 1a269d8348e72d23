//! Paths of fields with wildcards, as the subject file writes them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crdproof_schema::text::glob;

/// The path of a field and of everything below it. `*` stands for one step or a part of its name, `[*]` for an item or
/// a key, `**` for any number of steps: `.spec.*.tls`, `.spec.ports[*].name`, `.**.password`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathGlob(String);

impl JsonSchema for PathGlob {
    fn schema_name() -> Cow<'static, str> {
        "PathGlob".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}

impl PathGlob {
    /// Returns the glob as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if it names a field: it begins with a dot, and a name follows.
    pub fn is_path(&self) -> bool {
        self.0.starts_with('.') && steps(&self.0).next().is_some()
    }

    /// Returns true if a field matches the glob, or is below a field that does. `field` may have concrete items,
    /// `.spec.ports[0]`, or not, `.spec.ports[*]`.
    pub fn covers(&self, field: &str) -> bool {
        self.walk(field, true)
    }

    /// Returns true if a field matches the glob.
    pub fn matches(&self, field: &str) -> bool {
        self.walk(field, false)
    }

    /// Tracks all alternatives at once, so that many `**` do not make it slow.
    fn walk(&self, field: &str, below: bool) -> bool {
        let globs: Vec<&str> = steps(&self.0).collect();
        let mut places = vec![false; globs.len() + 1];
        places[0] = true;
        skip_any_depth(&globs, &mut places);
        for step in steps(field) {
            if below && places[globs.len()] {
                return true;
            }
            let mut next = vec![false; places.len()];
            for (place, _) in places.iter().enumerate().filter(|(place, reached)| **reached && *place < globs.len()) {
                let (is_deep, is_match) = (globs[place] == "**", glob(globs[place], step));
                next[place] |= is_deep;
                next[place + 1] |= is_match;
            }
            places = next;
            skip_any_depth(&globs, &mut places);
        }
        places[globs.len()]
    }
}

/// Also steps over every `**`, which may match nothing.
fn skip_any_depth(globs: &[&str], places: &mut [bool]) {
    for (place, step) in globs.iter().enumerate() {
        if *step == "**" && places[place] {
            places[place + 1] = true;
        }
    }
}

/// Returns the steps of a path: `.spec.ports[*].name` is spec, ports, *, name.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|step| !step.is_empty())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(".spec.password", ".spec.password", true)]
    #[case(".spec.password", ".spec.password.key", true)]
    #[case(".spec.password", ".spec.passwords", false)]
    #[case(".spec.password", ".spec", false)]
    #[case(".spec.*.tls", ".spec.http.tls.cert", true)]
    #[case(".spec.*.tls", ".spec.http.inner.tls", false)]
    #[case(".spec.pass*", ".spec.passwordSecret.name", true)]
    #[case(".spec.ports[*].name", ".spec.ports[0].name", true)]
    #[case(".spec.ports[*].name", ".spec.ports[*].name", true)]
    #[case(".spec.ports[*].name", ".spec.ports[*].port", false)]
    #[case(".**.password", ".spec.db[3].password", true)]
    #[case(".**.password", ".password", true)]
    #[case(".spec.**", ".spec.anything", true)]
    #[case(".**", ".status.a", true)]
    fn a_glob_covers_fields_and_their_children(#[case] path: &str, #[case] field: &str, #[case] is_covered: bool) {
        assert_eq!(PathGlob(path.to_owned()).covers(field), is_covered);
    }

    #[test]
    fn only_covering_reaches_below() {
        let path = PathGlob(".spec.*".to_owned());
        assert!(path.matches(".spec.a") && !path.matches(".spec.a.b") && path.covers(".spec.a.b"));
        assert!(path.is_path() && !PathGlob("spec.a".into()).is_path() && !PathGlob(".".into()).is_path());
        let deep = PathGlob(".**".repeat(500) + ".x");
        assert!(!deep.covers(&".a".repeat(500)));
    }
}
