//! Commands that print manifests, and the permission to run commands of a subject.

use std::path::Path;
use std::time::Duration;

use super::tree::{or_dot, utf8};
use super::{InputError, Text, Trouble};
use crate::subject::{ConverterConfig, SubjectFile};
use crdproof_envtest::capture::{Capture, Captured, End, MAX_OUTPUT, is_program};
use crdproof_envtest::guard::{Guard, Spec};

/// The timeout of a command that prints manifests; it may download.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The permission to run commands of a subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Commands {
    /// All commands that the subject names.
    #[default]
    Allowed,
    /// No commands while the subject is loaded. Its converter and its migration may be named, but are not started.
    NotWhileLoading,
    /// No commands: a subject that names one is refused.
    Refused,
}

impl Commands {
    /// Returns why commands do not run while a subject is loaded, if they do not.
    pub(super) fn why_not(self) -> Option<&'static str> {
        match self {
            Self::Allowed => None,
            Self::NotWhileLoading => Some("`crdproof plan` starts nothing"),
            Self::Refused => Some("--no-exec is given"),
        }
    }

    /// Returns the first key of a subject file, as a JSON pointer, whose command may not run.
    pub(super) fn refused(self, file: &SubjectFile) -> Option<&'static str> {
        let loading = [
            ("/crds/command", !file.crds.command.is_empty()),
            ("/baseline/command", file.baseline.as_ref().is_some_and(|baseline| !baseline.command.is_empty())),
        ];
        let converter = file.converter.as_ref();
        let baseline = converter.and_then(|converter| converter.baseline.as_deref());
        let has_exec = |converter: Option<&ConverterConfig>| converter.is_some_and(|one| one.exec.is_some());
        let has_process = |converter: Option<&ConverterConfig>| converter.is_some_and(|one| one.process.is_some());
        let running = [
            ("/converter/exec", has_exec(converter)),
            ("/converter/process", has_process(converter)),
            ("/converter/baseline/exec", has_exec(baseline)),
            ("/converter/baseline/process", has_process(baseline)),
            ("/migration/command", file.migration.is_some()),
        ];
        let named = match self {
            Self::Allowed => Vec::new(),
            Self::NotWhileLoading => loading.to_vec(),
            Self::Refused => [&loading[..], &running[..]].concat(),
        };
        named.into_iter().find(|(_, is_named)| *is_named).map(|(pointer, _)| pointer)
    }
}

/// Runs a command in a folder and returns its output.
pub(super) fn run(command: &[String], folder: &Path) -> Result<Text, InputError> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(
            InputError::new(Trouble::Wrong, "the command is empty").help("write [kustomize, build, config/crd]")
        );
    };
    let name = format!("`{}`", command.join(" "));
    let failed = |why: &str| InputError::new(Trouble::Environment, format!("{name} failed: {why}"));
    if !is_program(program, folder) {
        let error = InputError::new(Trouble::Environment, format!("cannot run {name}: no such program"));
        return Err(error.help(format!("install {program} or correct the command")));
    }
    let io = |error: std::io::Error| failed(&error.to_string());
    let guard = Guard::new(None).map_err(io)?;
    let spec = Spec::new(program).args(arguments).folder(or_dot(folder));
    let captured = Capture::start(&guard, spec, Vec::new(), TIMEOUT).and_then(Capture::wait);
    let Captured { end, output, errors } = captured.map_err(io)?;
    match end {
        End::Exited(status) if status.success() => Ok(Text { text: utf8(&name, output)?, name }),
        End::Exited(status) => {
            let said = String::from_utf8_lossy(&errors);
            let last = said.lines().last().unwrap_or("it said nothing");
            let error = InputError::new(Trouble::Environment, format!("{name} failed ({status}): {last}"));
            Err(error.help("run the command by hand and mend what it complains about"))
        }
        End::TimedOut => Err(failed(&format!("it did not end within {} s", TIMEOUT.as_secs()))),
        End::TooMuchOutput => Err(failed(&format!("it wrote more than {} MiB", MAX_OUTPUT >> 20))),
    }
}
