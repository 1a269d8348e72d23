//! Information for packagers and bug reports: the version, man pages, completions.

use super::{crdproof, listing, repository};

#[test]
fn the_version_shows_its_commit() {
    let version = env!("CARGO_PKG_VERSION");
    let short = crdproof(repository(), &["version"]).says(0, &[]).stdout;
    assert_eq!(short, format!("crdproof {version}\n"));
    assert_eq!(crdproof(repository(), &["--version"]).says(0, &[]).stdout, short);
    let long = crdproof(repository(), &["version", "--verbose"]).says(0, &[]).stdout;
    for line in ["commit: ", "rustc: ", "platform: ", "kubernetes: 1.16.15 to 1.37.1; ", "checks: "] {
        assert!(long.lines().any(|own| own.starts_with(line)), "{line}: {long}");
    }
}

#[test]
fn every_command_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    crdproof(folder.path(), &["man", "man1"]).says(0, &["man pages to man1"]);
    let pages = listing(&folder.path().join("man1"));
    assert!(pages.len() > 25, "{}", pages.len());
    for name in ["crdproof.1", "crdproof-run.1", "crdproof-env-use.1"] {
        let page = pages.iter().find(|(path, _)| path.ends_with(name)).unwrap_or_else(|| panic!("there is no {name}"));
        let text = String::from_utf8_lossy(&page.1);
        assert!(text.contains(".TH") && text.contains(".SH SYNOPSIS"), "{text}");
    }
}

#[test]
fn completions_are_packaged_for_each_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = crdproof(repository(), &["completions", shell]).says(0, &[]).stdout;
        assert!(script.contains("preflight"), "{shell}");
    }
}
