//! Runs the `console` blocks of a page, as a person would type them into one shell.
//!
//! A line with `$ ` is a command. The lines that follow are a part of its output, in this order. `…` stands for lines
//! that are left out. A comment in the page names the folder to work in; the test uses a copy of it:
//!
//! ```text
//! <!-- Run by a test in FOLDER. -->
//! <!-- Run by a test in FOLDER after PAGE, on an API server. -->
//! ```

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The pages whose commands need an API server. The tests on servers run them.
pub(crate) const ON_SERVERS: [&str; 2] = ["docs/how-to/migrate-storage.md", "docs/tutorial/retire-a-version.md"];

/// Marks the end of one command's output; its exit code follows.
const MARK: &str = "::ended ";

/// A command, and the lines of its output that the page shows.
pub(crate) struct Step {
    command: String,
    shown: Vec<String>,
}

/// A page with its commands.
pub(crate) struct Page {
    /// Its path below the repository.
    pub(crate) path: String,
    pub(crate) steps: Vec<Step>,
    /// The folder to work in; without one it is the repository itself.
    folder: Option<String>,
    after: Option<String>,
    pub(crate) needs_server: bool,
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

impl Page {
    /// Reads a page, by its path below the repository.
    pub(crate) fn read(path: &str) -> Result<Self, String> {
        let text = std::fs::read_to_string(repository().join(path)).map_err(|error| format!("{path}: {error}"))?;
        let note = text.split_once("<!-- Run by a test in ").and_then(|(_, rest)| rest.split_once(". -->"));
        let note = note.map(|(note, _)| note.to_owned());
        let needs_server = note.as_ref().is_some_and(|note| note.ends_with(", on an API server"));
        let place = note.map(|note| note.trim_end_matches(", on an API server").to_owned());
        let (folder, after) = match place.as_ref().and_then(|place| place.split_once(" after ")) {
            Some((folder, after)) => (Some(folder.to_owned()), Some(after.to_owned())),
            None => (place, None),
        };
        Ok(Self { path: path.to_owned(), steps: steps(&text), folder, after, needs_server })
    }

    /// Runs all commands, starting with those of the page before it. The error says where the output differs from the
    /// page.
    pub(crate) fn run(&self) -> Result<(), String> {
        let before = self.after.as_deref().map(Self::read).transpose()?;
        let steps: Vec<&Step> = before.iter().chain([self]).flat_map(|page| &page.steps).collect();
        let said = self.type_into_shell(&steps).map_err(|error| format!("{}: {error}", self.path))?;
        let mut rest = said.as_str();
        for step in steps {
            let wrong = |why: String| format!("{}: {}: {why}\n{said}", self.path, step.command);
            let (own, after) = rest.split_once(MARK).ok_or_else(|| wrong("it never ended".into()))?;
            let (code, after) = after.split_once('\n').unwrap_or((after, ""));
            rest = after;
            let mut lines = own.lines();
            for shown in &step.shown {
                let same = |line: &str| line.starts_with(shown.trim_end_matches('…'));
                if !lines.any(same) {
                    return Err(wrong(format!("it does not say, in this order: {shown}")));
                }
            }
            let may_fail = step.shown.iter().any(|line| line.contains('✗') || line.starts_with("error["));
            if code != "0" && !(code == "1" && may_fail) {
                return Err(wrong(format!("exit code {code}")));
            }
        }
        Ok(())
    }
}

impl Page {
    /// Types commands into one shell, and returns the whole output. A shell that a command starts reads the remaining
    /// input.
    fn type_into_shell(&self, steps: &[&Step]) -> io::Result<String> {
        let copied = self.folder.as_ref().map(|folder| git_copy(&repository().join(folder))).transpose()?;
        let binaries = Path::new(env!("CARGO_BIN_EXE_crdproof")).parent().unwrap_or(Path::new("/")).display();
        let mut shell = Command::new("bash");
        shell.env("PATH", format!("{binaries}:{}", std::env::var("PATH").unwrap_or_default()));
        match &copied {
            Some(folder) => shell.current_dir(folder.path()),
            // Keep the repository unchanged.
            None => shell.current_dir(repository()).env("CRDPROOF_NO_COUNTEREXAMPLES", "yes"),
        };
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "KUBECONFIG"] {
            shell.env_remove(name);
        }
        let output = tempfile::NamedTempFile::new()?;
        // Use a process group, so that background processes can be ended.
        let mut shell = shell.process_group(0).stdin(Stdio::piped()).stdout(output.reopen()?).spawn()?;
        let typed: String = steps.iter().map(|step| format!("{}\necho \"{MARK}$?\"\n", step.command)).collect();
        if let Some(mut input) = shell.stdin.take() {
            input.write_all(format!("exec 2>&1\n{typed}").as_bytes())?;
        }
        shell.wait()?;
        Command::new("kill").args(["--", &format!("-{}", shell.id())]).stderr(Stdio::null()).status()?;
        std::fs::read_to_string(output.path())
    }
}

/// The commands of all `console` blocks.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in text.split("```console\n").skip(1).filter_map(|rest| rest.split("\n```").next()) {
        let mut lines = block.lines();
        while let Some(line) = lines.next() {
            let Some(command) = line.strip_prefix("$ ") else {
                if let Some(step) = steps.last_mut().filter(|_| line != "…") {
                    step.shown.push(line.to_owned());
                }
                continue;
            };
            let mut command = command.to_owned();
            while is_open(&command)
                && let Some(line) = lines.next()
            {
                command.push('\n');
                command.push_str(line);
            }
            steps.push(Step { command, shown: Vec::new() });
        }
    }
    steps
}

/// Returns true if a command continues on the next line: in a here-document, or in quotes.
fn is_open(command: &str) -> bool {
    let quotes = command.matches('\'').count();
    if command.contains("<<'EOF'") { !command.ends_with("\nEOF") } else { quotes % 2 == 1 }
}

/// A copy of a folder as the only commit of a Git repository, tagged `v1.0.0`.
fn git_copy(from: &Path) -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let script = "cp -r \"$0\"/. . && rm -rf .crdproof && git init -q && git add -A && git -c user.name=test \
                  -c user.email=test@example.com commit -qm first && git tag v1.0.0";
    let status = Command::new("bash").args(["-c", script]).arg(from).current_dir(folder.path()).status()?;
    if status.success() { Ok(folder) } else { Err(io::Error::other(format!("cannot copy {}", from.display()))) }
}
