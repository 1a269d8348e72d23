//! Rules of this repository that the compiler does not enforce.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders of `src/`, lowest first: each imports only from those before it. Cargo keeps the crates below them apart.
const ORDER: [&str; 9] = ["subject", "evidence", "converter", "checks", "report", "operate", "act", "run", "cli"];

/// Files that may be longer than 400 lines, and why.
const LONG: [(&str, &str); 0] = [];

/// One source file: its path below the repository, and its text.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    /// Lines that are code, with their numbers; comments are left out.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        lines.filter(|(_, line)| !line.starts_with("//"))
    }

    /// The top-level module that the file belongs to.
    fn module(&self) -> &str {
        let below = self.path.strip_prefix("src/").unwrap_or(&self.path);
        below.split('/').next().unwrap_or(below).trim_end_matches(".rs")
    }
}

pub(crate) fn files(folders: &[&str]) -> Vec<File> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pending: Vec<PathBuf> = folders.iter().map(|folder| repository.join(folder)).collect();
    let mut found = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(std::fs::read_dir(path).unwrap().flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push(File { path: path.strip_prefix(repository).unwrap().display().to_string(), text });
        }
    }
    assert!(!found.is_empty());
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found
}

/// Asserts that no line of code contains any of these words.
#[track_caller]
fn never(files: &[File], words: &[&str], rule: &str) {
    for file in files {
        for (number, line) in file.code() {
            for word in words {
                assert!(!line.contains(word), "{}:{number}: `{word}`: {rule}", file.path);
            }
        }
    }
}

#[test]
fn imports_go_upward_only() {
    let rank = |module: &str| ORDER.iter().position(|known| *known == module);
    for file in files(&["src"]) {
        let module = file.module();
        if matches!(module, "lib" | "main" | "facade") {
            continue;
        }
        let Some(own) = rank(module) else { panic!("{}: give {module} a place in ORDER", file.path) };
        for (number, line) in file.code() {
            for (at, _) in line.match_indices("crate::") {
                let imported: String =
                    line[at + 7..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
                if let Some(theirs) = rank(&imported) {
                    assert!(theirs <= own, "{}:{number}: {module} may not import from {imported}", file.path);
                }
            }
        }
    }
}

#[test]
fn every_module_of_the_library_is_in_the_import_order() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let modules = text.lines().filter_map(|line| line.strip_prefix("pub mod ").or(line.strip_prefix("mod ")));
    let modules = modules.filter_map(|module| module.strip_suffix(';')).filter(|module| *module != "facade");
    let mut modules: Vec<_> = modules.collect::<BTreeSet<_>>().into_iter().collect();
    let mut known = ORDER.to_vec();
    modules.sort_unstable();
    known.sort_unstable();
    assert_eq!(modules, known);
}

#[test]
fn only_the_command_line_prints_and_reads_the_environment() {
    let mut library = files(&["src", "crates"]);
    // Tests of other projects that start a server find the cache without a command line.
    let may = ["src/main.rs", "crates/envtest/src/binaries/store.rs", "crates/envtest/src/binaries/mod.rs"];
    library.retain(|file| !file.path.starts_with("src/cli/") && !may.contains(&file.path.as_str()));
    // Unit tests may print; they stand at the end of a file.
    for file in &mut library {
        file.text.truncate(file.text.find("#[cfg(test)]").unwrap_or(file.text.len()));
    }
    never(
        &library,
        &["println!", "eprintln!", "print!(", "eprint!(", "dbg!", "io::stdout", "io::stderr"],
        "only cli prints",
    );
    never(&library, &["env::var", "env::args", "env::set_var"], "only cli reads the environment; pass values");
    never(&library, &["clap::", "anyhow::", "anstream::"], "these belong to cli");
}

#[test]
fn judges_do_not_wait_or_look_at_the_clock() {
    let words = ["std::time", "Instant", "SystemTime", "sleep", "::now()", "std::fs", "TcpStream", "std::process"];
    never(&files(&["src/checks"]), &words, "a judge is a pure function of its evidence");
}

#[test]
fn objects_under_test_stay_raw_json() {
    let why = "a typed struct drops what it does not know; use serde_json::Value";
    let typed = ["k8s_openapi::", "kube_core", "kube::core", "kube::api", "kube::Api"];
    never(&files(&["src", "crates"]), &typed, why);
    // The client carries bytes to API servers; nothing else uses it.
    never(&files(&["src"]), &["kube::"], why);
    let pure = ["src/subject", "src/evidence", "src/checks", "src/report"];
    never(&files(&pure), &["tokio::"], "only what acts on the world waits for it");
}

#[test]
fn lints_are_expected_with_a_reason_never_allowed() {
    never(
        &files(&["src", "crates", "tests", "examples"]),
        &[concat!("#[", "allow("), concat!("#![", "allow(")],
        "use #[expect(.., reason)]",
    );
}

#[test]
fn files_stay_short() {
    for file in files(&["src", "crates", "tests", "examples"]) {
        let lines = file.text.lines().count();
        let known = LONG.iter().any(|(path, _)| *path == file.path);
        assert!(known || lines <= 400, "{} has {lines} lines; split it", file.path);
        assert!(!known || lines > 400, "{} is short again; take it off the list", file.path);
    }
}

#[test]
fn every_suite_file_is_built_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let built_in: Vec<_> = crdproof::run::SUITES.iter().map(|(name, _)| *name).collect();
    assert_eq!(built_in, names, "keep run::SUITES sorted and complete");
}

/// Words that a Kubernetes engineer would have to learn, and what is said instead.
const RETIRED: [(&str, &str); 28] = [
    ("journey", "scenario"),
    ("journeys", "scenarios"),
    ("itinerary", "server matrix"),
    ("travel", "run"),
    ("travelled", "ran"),
    ("tour", "run"),
    ("breach", "finding, or failure of a check"),
    ("breaches", "findings"),
    ("undecided", "inconclusive"),
    ("server fact", "known server issue"),
    ("server facts", "known server issues"),
    ("witness", "admission recorder"),
    ("tap", "conversion proxy"),
    ("ledger", "ownership"),
    ("veil", "redact"),
    ("veiled", "redacted"),
    ("scrub", "redact"),
    ("masked", "redacted"),
    ("patience", "timeout"),
    ("farewell", "shutdown or cleanup"),
    ("altogether", "timeout"),
    ("experiment", "probe"),
    ("experiments", "probes"),
    ("at hand", "installed, or available"),
    ("on trial", "under test"),
    ("law", "check"),
    ("laws", "checks"),
    ("lawful", "valid"),
];

#[test]
fn retired_words_are_not_used() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders =
        ["src", "crates/schema/src", "crates/envtest/src", "tests", "examples", "benches", "docs", "xtask", "suites"];
    // The changelog names the words that were replaced.
    let pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];
    let mut pending: Vec<PathBuf> = folders.iter().chain(&pages).map(|path| repository.join(path)).collect();
    let mut wrong = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(std::fs::read_dir(path).unwrap().flatten().map(|entry| entry.path()));
            continue;
        }
        // These files must contain the retired words.
        let is_text =
            path.extension().is_some_and(|ending| ["rs", "md", "yaml", "jinja"].iter().any(|one| ending == *one));
        if !is_text || ["tests/offline/house.rs", "xtask/src/compare_reports.rs"].iter().any(|one| path.ends_with(one))
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
        // Parts of identifiers are words, too.
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        for (retired, instead) in RETIRED {
            let found = match retired.split_once(' ') {
                None => words.contains(&retired),
                Some((first, second)) => words.windows(2).any(|pair| *pair == [first, second]),
            };
            if found {
                wrong.push(format!(
                    "{}: say {instead}, not {retired}",
                    path.strip_prefix(repository).unwrap().display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Documentation starts with a verb or a noun phrase, never with a clause.
#[test]
fn documentation_does_not_start_with_a_clause() {
    const CLAUSES: [&str; 11] =
        ["Whether", "What", "How", "Where", "Which", "Who", "Whom", "Whose", "When", "Why", "Those"];
    let mut wrong = Vec::new();
    for file in files(&["src", "crates", "xtask", "tests", "benches", "examples"]) {
        let mut is_first = true;
        for (index, line) in file.text.lines().map(str::trim).enumerate() {
            let text = line.strip_prefix("/// ").or(line.strip_prefix("//! "));
            let word = text.and_then(|text| text.split([' ', '\'', ',']).next()).unwrap_or_default();
            if is_first && CLAUSES.contains(&word) {
                wrong.push(format!("{}:{}: {line}", file.path, index + 1));
            }
            is_first = text.is_none() && !line.starts_with("///") && !line.starts_with("//!");
        }
    }
    assert!(wrong.is_empty(), "start with a verb or a noun phrase:\n{}", wrong.join("\n"));
}

/// Otherwise the tests that build these crates would compile every dependency again.
#[test]
fn crates_outside_the_workspace_share_the_build_profile() {
    let profile = |path: &str| -> Vec<String> {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let lines = text.lines().skip_while(|line| !line.starts_with("[profile.dev]"));
        lines.take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    assert!(profile("Cargo.toml").len() > 4);
    for other in ["tests/external/Cargo.toml", "examples/operator/Cargo.toml"] {
        assert_eq!(profile(other), profile("Cargo.toml"), "{other}");
    }
}

/// Returns what `cargo tree` prints.
fn cargo_tree(arguments: &[&str]) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    command.args(["tree", "--offline", "--locked", "--prefix", "none"]).args(arguments);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_schema_crate_needs_no_runtime() {
    let tree = cargo_tree(&["-p", "crdproof-schema", "-e", "normal"]);
    assert!(tree.starts_with("crdproof-schema "), "{tree}");
    for package in ["tokio", "kube", "k8s-openapi", "hyper", "reqwest"] {
        assert!(!tree.lines().any(|line| line.starts_with(&format!("{package} "))), "{package} is in\n{tree}");
    }
}

/// A dependency whose features differ between builds and tests is compiled twice, with everything that depends on it.
#[test]
fn builds_and_tests_share_compiled_dependencies() {
    let packages = |arguments: &[&str]| -> BTreeSet<String> {
        let tree = cargo_tree(&[arguments, &["-f", "{p} {f}"]].concat());
        let lines = tree.lines().map(|line| line.trim_end_matches(" (*)").replace(" (proc-macro)", ""));
        lines.filter(|line| !line.starts_with("crdproof")).collect()
    };
    let built = packages(&["-e", "normal,build"]);
    let tested = packages(&["--workspace", "-e", "normal,build,dev"]);
    let apart: Vec<&String> = built.difference(&tested).collect();
    assert!(built.len() > 100 && apart.is_empty(), "tests give other features to {apart:#?}");
}

#[test]
fn only_the_facade_is_public() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let public = lines.iter().enumerate().filter(|(_, line)| line.starts_with("pub mod "));
    let (mut count, guard) = (0, "#[cfg(feature = \"internals\")]");
    for (number, line) in public {
        count += 1;
        assert_eq!(lines[number - 2..number], [guard, "#[doc(hidden)]"], "{line}");
    }
    assert!(count > 0, "no module is there for tests");
}
