//! Known defects that some releases have and later ones have not, on releases that a minimum would allow.

use crate::subject::Subject;
use crdproof_schema::kubernetes::{KubeVersion, RULES, ServerRule, ServerVersion, Standing, Weight};
use serde::Serialize;

use super::answer::{Derived, Tested, list};

/// A rule that may touch the question, and the installed releases that have the defect by table.
pub(super) struct Touched {
    rule: &'static ServerRule,
    releases: Vec<KubeVersion>,
}

impl Touched {
    pub(super) fn has(&self, release: KubeVersion) -> bool {
        self.releases.contains(&release)
    }
}

/// Rules that may touch a subject, with the installed releases that are worth a try for them: later ones are mended, and
/// the manifests allow them.
pub(super) fn touched(subject: &Subject, derived: &Derived, installed: &[KubeVersion], whatever: bool) -> Vec<Touched> {
    let touched = grave(subject, whatever).map(|rule| {
        let worth = |release: &&KubeVersion| {
            derived.allows(**release) && mended(rule, **release).is_some_and(|fix| fix.is_some())
        };
        Touched { rule, releases: installed.iter().filter(worth).copied().collect() }
    });
    touched.filter(|one| !one.releases.is_empty()).collect()
}

/// Rules about what loses or blocks, and may touch a subject.
fn grave(subject: &Subject, whatever: bool) -> impl Iterator<Item = &'static ServerRule> {
    let crds: String = subject.crds.iter().map(|crd| crd.node.to_value().to_string()).collect();
    RULES.iter().filter(move |rule| rule.severity == Weight::Error && rule.may_touch(&crds, whatever))
}

/// What mends a release that has the defect; `None` where it does not have it.
#[expect(clippy::option_option, reason = "not having a defect and having no fix for it are two things")]
fn mended(rule: &ServerRule, release: KubeVersion) -> Option<Option<KubeVersion>> {
    let server: ServerVersion = release.to_string().parse().ok()?;
    match rule.judge(&server) {
        Standing::Bad { mended } => Some(mended),
        Standing::Good | Standing::Unclear { .. } => None,
    }
}

/// A known defect of releases that the minimum would allow.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Excluded {
    rule: String,
    pub(super) id: &'static str,
    title: &'static str,
    /// The windows, in words.
    pub(super) windows: Vec<String>,
    /// The installed releases that have it by table.
    releases: Vec<KubeVersion>,
    /// Those that were tried, and do not work.
    pub(super) seen: Vec<KubeVersion>,
    /// Those that were tried, and work all the same.
    works: Vec<KubeVersion>,
    /// The nearest release without it, for the newest of them.
    mended: Option<KubeVersion>,
}

impl Excluded {
    /// One line for what was seen, one for what was not, and one for what stands in the table alone.
    pub(super) fn lines(&self) -> Vec<String> {
        let Self { rule, id, releases, seen, works, mended, .. } = self;
        let mended = mended.map_or_else(|| "no release has a fix".to_owned(), |mended| format!("needs >={mended}"));
        let rest: Vec<KubeVersion> =
            releases.iter().filter(|release| !seen.contains(release) && !works.contains(release)).copied().collect();
        let mut lines = Vec::new();
        if !seen.is_empty() {
            let windows = self.windows.join(", ");
            lines.push(format!("✗ excluded window {windows} for {rule} ({id}), seen on {}; {mended}", list(seen)));
        }
        if !works.is_empty() {
            lines.push(format!("✔ {} works, and has {rule} ({id}) by table", list(works)));
        }
        if !rest.is_empty() {
            let rest = list(&rest);
            lines.push(format!("⚠ excluded window, by table and not tested: {rest} for {rule} ({id}); {mended}"));
        }
        lines
    }
}

/// Known defects that lose or block, on installed releases that the minimum allows. Those of a server as such are among them:
/// somebody may need what no CRD names.
pub(super) fn excluded(
    subject: &Subject,
    minimum: KubeVersion,
    installed: &[KubeVersion],
    tested: &[Tested],
    touched: &[Touched],
) -> Vec<Excluded> {
    let mut excluded = Vec::new();
    for rule in grave(subject, true) {
        let bad =
            installed.iter().filter(|release| **release >= minimum).filter(|release| mended(rule, **release).is_some());
        let releases: Vec<KubeVersion> = bad.copied().collect();
        let Some(newest) = releases.last() else { continue };
        // Only a release that was tried because of this rule says something about it.
        let tried = touched.iter().any(|one| one.rule.id == rule.id);
        let of = |good: bool| -> Vec<KubeVersion> {
            let those = tested.iter().filter(|one| tried && one.good == good && releases.contains(&one.release));
            those.map(|one| one.release).collect()
        };
        let (seen, works) = (of(false), of(true));
        let windows = rule.bad.iter().filter(|window| seen.iter().any(|release| window.has_all_of(*release)));
        excluded.push(Excluded {
            rule: format!("server/{}", rule.name),
            id: &rule.id,
            title: &rule.title,
            windows: windows.map(ToString::to_string).collect(),
            mended: mended(rule, *newest).flatten(),
            seen,
            works,
            releases,
        });
    }
    excluded
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::operate::minimum::Sight;
    use crate::subject::load::from_file;

    use super::*;

    fn releases(texts: &[&str]) -> Vec<KubeVersion> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn named(touched: &[Touched]) -> Vec<(&str, String)> {
        touched.iter().map(|one| (one.rule.id.as_str(), list(&one.releases))).collect()
    }

    fn preserved() -> Subject {
        from_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/minimum/preserved/crdproof.yaml")).unwrap()
    }

    #[test]
    fn a_window_is_tried_where_it_may_touch_the_question() {
        let subject = preserved();
        let derived = Derived::of(&subject);
        let installed = releases(&["1.22.16", "1.23.2", "1.23.3", "1.36.2", "1.37.1"]);
        let by_words = touched(&subject, &derived, &installed, false);
        assert_eq!(named(&by_words), [("V13", "1.23.2".to_owned())]);
        // What a command asks may be a matter of apply, too.
        let by_chance = touched(&subject, &derived, &installed, true);
        assert_eq!(named(&by_chance), [("V13", "1.23.2".to_owned()), ("V34", "1.36.2".to_owned())]);
    }

    #[test]
    fn what_was_seen_is_told_from_what_stands_in_the_table() {
        let subject = preserved();
        // 1.26.13 has a defect of rules, of which the subject has none.
        let installed = releases(&["1.22.16", "1.23.2", "1.26.13", "1.36.2", "1.37.1"]);
        let touched = touched(&subject, &Derived::of(&subject), &installed, false);
        let said = |good: bool| {
            let tested = [Tested { release: installed[1], good, sight: Sight::default() }];
            excluded(&subject, installed[0], &installed, &tested, &touched)
                .iter()
                .flat_map(Excluded::lines)
                .collect::<Vec<_>>()
        };
        let table = "⚠ excluded window, by table and not tested: 1.36.2 for server/empty-containers-apply (V34); needs >=1.36.3";
        let bad =
            "✗ excluded window 1.23.0 to 1.23.2 for server/preserved-arrays-kept (V13), seen on 1.23.2; needs >=1.23.3";
        assert_eq!(said(false), [bad, table]);
        assert_eq!(said(true), ["✔ 1.23.2 works, and has server/preserved-arrays-kept (V13) by table", table]);
    }
}
