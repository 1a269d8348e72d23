//! Known defects of releases that a minimum would allow and that later releases have fixed.

use crate::subject::Subject;
use crdproof_schema::kubernetes::{KubeVersion, RULES, ServerRule, ServerVersion, Standing, Weight};
use serde::Serialize;

use super::answer::{Tested, list};
use super::requirements::Requirements;

/// A known defect that may affect the subject, and the installed releases that have it by table.
pub struct Suspect {
    rule: &'static ServerRule,
    releases: Vec<KubeVersion>,
}

impl Suspect {
    /// Returns true if the release has the defect by table.
    pub fn has(&self, release: KubeVersion) -> bool {
        self.releases.contains(&release)
    }
}

/// Returns the known defects that may affect a subject, with the installed releases to test for them: the manifests
/// allow them, and later releases have a fix. `any` includes defects that no CRD suggests.
pub fn suspects(subject: &Subject, requirements: &Requirements, installed: &[KubeVersion], any: bool) -> Vec<Suspect> {
    let suspects = severe_rules(subject, any).map(|rule| {
        let is_testable = |release: &&KubeVersion| {
            requirements.allow(**release) && fix(rule, **release).is_some_and(|fix| fix.is_some())
        };
        Suspect { rule, releases: installed.iter().filter(is_testable).copied().collect() }
    });
    suspects.filter(|one| !one.releases.is_empty()).collect()
}

/// Returns the rules of severity error that may affect a subject.
fn severe_rules(subject: &Subject, any: bool) -> impl Iterator<Item = &'static ServerRule> {
    let crds: String = subject.crds.iter().map(|crd| crd.node.to_value().to_string()).collect();
    RULES.iter().filter(move |rule| rule.severity == Weight::Error && rule.may_affect(&crds, any))
}

/// Returns the release that fixes the defect, if any; `None` if the release does not have it.
#[expect(clippy::option_option, reason = "not having a defect and having no fix for it are two things")]
fn fix(rule: &ServerRule, release: KubeVersion) -> Option<Option<KubeVersion>> {
    let server: ServerVersion = release.to_string().parse().ok()?;
    match rule.judge(&server) {
        Standing::Bad { fixed_in } => Some(fixed_in),
        Standing::Good | Standing::Unclear { .. } => None,
    }
}

/// A known defect of releases that the minimum would allow.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Excluded {
    /// `server/…`.
    pub rule: String,
    /// The rule's id.
    pub id: &'static str,
    /// The guarantee.
    pub title: &'static str,
    /// The windows as text.
    pub windows: Vec<String>,
    /// The installed releases that have it by table.
    pub releases: Vec<KubeVersion>,
    /// The releases that were tested and fail.
    pub seen: Vec<KubeVersion>,
    /// The releases that were tested and work.
    pub works: Vec<KubeVersion>,
    /// The nearest release without it, for the newest of them.
    pub fixed_in: Option<KubeVersion>,
}

impl Excluded {
    /// Returns a line for the releases that failed, one for those that passed, and one for those that were not tested.
    pub fn lines(&self) -> Vec<String> {
        let Self { rule, id, releases, seen, works, fixed_in, .. } = self;
        let fix = fixed_in.map_or_else(|| "no release has a fix".to_owned(), |fix| format!("needs >={fix}"));
        let rest: Vec<KubeVersion> =
            releases.iter().filter(|release| !seen.contains(release) && !works.contains(release)).copied().collect();
        let mut lines = Vec::new();
        if !seen.is_empty() {
            let windows = self.windows.join(", ");
            lines.push(format!("✗ excluded window {windows} for {rule} ({id}), seen on {}; {fix}", list(seen)));
        }
        if !works.is_empty() {
            lines.push(format!("✔ {} works, and has {rule} ({id}) by table", list(works)));
        }
        if !rest.is_empty() {
            let rest = list(&rest);
            lines.push(format!("⚠ excluded window, by table and not tested: {rest} for {rule} ({id}); {fix}"));
        }
        lines
    }
}

/// Returns severe known defects of installed releases that the minimum allows, including those that no CRD suggests:
/// users may rely on features that no CRD names.
pub(super) fn excluded(
    subject: &Subject,
    minimum: KubeVersion,
    installed: &[KubeVersion],
    tested: &[Tested],
    suspects: &[Suspect],
) -> Vec<Excluded> {
    let mut excluded = Vec::new();
    for rule in severe_rules(subject, true) {
        let bad =
            installed.iter().filter(|release| **release >= minimum).filter(|release| fix(rule, **release).is_some());
        let releases: Vec<KubeVersion> = bad.copied().collect();
        let Some(newest) = releases.last() else { continue };
        // Only a release that was tested because of this rule says something about it.
        let tried = suspects.iter().any(|one| one.rule.id == rule.id);
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
            fixed_in: fix(rule, *newest).flatten(),
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

    use super::super::ReleaseResult;
    use crate::subject::load::from_file;

    use super::*;

    fn releases(texts: &[&str]) -> Vec<KubeVersion> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn named(suspects: &[Suspect]) -> Vec<(&str, String)> {
        suspects.iter().map(|one| (one.rule.id.as_str(), list(&one.releases))).collect()
    }

    fn preserved() -> Subject {
        from_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/minimum/preserved/crdproof.yaml")).unwrap()
    }

    #[test]
    fn a_window_is_tested_if_it_may_affect_the_subject() {
        let subject = preserved();
        let requirements = Requirements::of(&subject);
        let installed = releases(&["1.22.16", "1.23.2", "1.23.3", "1.36.2", "1.37.1"]);
        let by_crds = suspects(&subject, &requirements, &installed, false);
        assert_eq!(named(&by_crds), [("V13", "1.23.2".to_owned())]);
        // A command may test apply, too.
        let by_question = suspects(&subject, &requirements, &installed, true);
        assert_eq!(named(&by_question), [("V13", "1.23.2".to_owned()), ("V34", "1.36.2".to_owned())]);
    }

    #[test]
    fn tested_releases_are_distinguished_from_the_table() {
        let subject = preserved();
        // 1.26.13 has a defect of rules, but the subject has no rules.
        let installed = releases(&["1.22.16", "1.23.2", "1.26.13", "1.36.2", "1.37.1"]);
        let suspects = suspects(&subject, &Requirements::of(&subject), &installed, false);
        let said = |good: bool| {
            let tested = [Tested { release: installed[1], good, result: ReleaseResult::default() }];
            excluded(&subject, installed[0], &installed, &tested, &suspects)
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
