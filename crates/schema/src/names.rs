//! Similar names: keys, check ids, suites.

/// The candidate that a misspelt word most likely meant, if one is near enough.
///
/// ```
/// assert_eq!(crdproof_schema::names::closest("convertor", ["converter", "crds"]), Some("converter"));
/// assert_eq!(crdproof_schema::names::closest("xyz", ["converter", "crds"]), None);
/// ```
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, candidate)| candidate)
}
