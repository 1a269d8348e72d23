//! The crates as they would be published: complete, and without files that users do not need.

use std::process::Command;

use crate::cli::repository;

#[test]
fn every_crate_can_be_packed() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO"));
    // Verifying would compile everything again.
    command.args([
        "package",
        "--workspace",
        "--exclude",
        "xtask",
        "--no-verify",
        "--allow-dirty",
        "--offline",
        "--locked",
    ]);
    let output = command.arg("--target-dir").arg(folder.path()).current_dir(repository()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    for name in ["crdproof", "crdproof-envtest", "crdproof-schema"] {
        let file = folder.path().join(format!("package/{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        let size = std::fs::metadata(&file).unwrap_or_else(|error| panic!("{}: {error}\n{said}", file.display())).len();
        assert!((50_000..3_000_000).contains(&size), "{name} has {size} bytes");
    }
}

/// Returns the paths outside of `src` that a source file embeds.
fn built_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("include_str!(\"").skip(1).filter_map(|rest| {
        let path = rest.split('"').next()?.trim_start_matches("../");
        ["fixtures/", "suites/"].iter().any(|folder| path.starts_with(folder)).then_some(path)
    })
}

#[test]
fn embedded_files_are_packed() {
    let arguments = ["package", "--list", "--allow-dirty", "--offline", "--locked", "--package", "crdproof"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(repository()).output().unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    let mut seen = 0;
    for file in listed.lines().filter(|path| path.starts_with("src/")) {
        let text = std::fs::read_to_string(repository().join(file)).unwrap_or_default();
        for path in built_in(&text) {
            assert!(listed.lines().any(|line| line == path), "{file} needs {path}: add it to `include` in Cargo.toml");
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
    let tests = listed.lines().find(|line| line.starts_with("tests/") || line.starts_with("fixtures/checks"));
    assert_eq!(tests, None);
}
