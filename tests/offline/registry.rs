//! The registry, the files and the fixtures agree. Each failure says what to do.

use std::collections::BTreeSet;
use std::path::Path;

use crdproof::checks::ALL;

use crate::docs::source_problem;
use crate::fixture::{folders, name, root};

fn families() -> BTreeSet<&'static str> {
    ALL.iter().map(|check| check.family()).collect()
}

#[test]
fn the_registry_is_sorted_and_without_duplicates() {
    let ids: Vec<_> = ALL.iter().map(|check| check.id).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(ids, sorted, "keep checks::ALL sorted by id, each id once");
}

#[test]
fn every_check_file_is_registered_under_its_own_name() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/checks");
    for family in families() {
        for entry in std::fs::read_dir(source.join(family)).unwrap().flatten() {
            let stem = entry.path().file_stem().unwrap().to_string_lossy().into_owned();
            if stem == "mod" || stem.starts_with("shared") {
                continue;
            }
            let id = format!("{family}/{}", stem.replace('_', "-"));
            assert!(
                ALL.iter().any(|check| check.id == id),
                "add {id} to checks::ALL, or remove {}",
                entry.path().display()
            );
        }
    }
    for check in ALL {
        let file = source.join(check.family()).join(format!("{}.rs", check.name().replace('-', "_")));
        assert!(file.is_file(), "{} must live in {}", check.id, file.display());
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= 150, "{} has {lines} lines; move what others could use to a shared file", file.display());
    }
}

#[test]
fn every_check_has_a_pass_and_a_fail_fixture() {
    for check in ALL {
        let kinds: Vec<_> = folders(&root().join("checks").join(check.id)).iter().map(|folder| name(folder)).collect();
        for kind in ["pass", "fail"] {
            assert!(
                kinds.iter().any(|name| name.starts_with(kind)),
                "{} needs a {kind} fixture: make fixtures/checks/{}/{kind} (scripts/new-check does it)",
                check.id,
                check.id
            );
        }
    }
    for family in folders(&root().join("checks")) {
        for check in folders(&family) {
            let id = format!("{}/{}", name(&family), name(&check));
            assert!(ALL.iter().any(|check| check.id == id), "fixtures for {id}, which is not a check");
        }
    }
}

#[test]
fn every_check_explains_itself() {
    for check in ALL {
        let id = check.id;
        assert!(!check.title.is_empty() && !check.title.ends_with('.'), "{id}: the title is a clause without a period");
        assert!(check.title.chars().next().is_some_and(char::is_lowercase), "{id}: the title starts in lower case");
        assert!(check.why.ends_with('.'), "{id}: why is a sentence");
        assert!(!check.help.is_empty() && !check.help.ends_with('.'), "{id}: help is an imperative without a period");
        assert!(!check.needs.is_empty(), "{id}: say what it needs");
        assert!(
            id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'/'),
            "{id}: ids are kebab-case"
        );
    }
}

#[test]
fn every_source_can_be_opened() {
    for check in ALL {
        assert!(!check.source.is_empty(), "{}: name a source", check.id);
        for (index, source) in check.source.iter().enumerate() {
            assert_eq!(source_problem(source), None, "{}: {source}", check.id);
            assert!(!check.source[..index].contains(source), "{}: {source} stands there twice", check.id);
        }
        assert!(check.source_urls().all(|url| url.starts_with("https://")), "{}", check.id);
    }
}

#[test]
fn unreachable_sources_are_rejected() {
    for source in ["https://kubernetes.io/docs/", "docs/features.md", "docs/server-defects.md#v01"] {
        assert_eq!(source_problem(source), None, "{source}");
    }
    let wrong =
        ["W12", "http://kubernetes.io/", "https://a b", "docs/nothing.md", "docs/features.md#nothing", "README.md"];
    for source in wrong {
        assert!(source_problem(source).is_some(), "{source}");
    }
}
