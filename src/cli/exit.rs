//! Exit codes, as documented.

use std::process::ExitCode;

use crdproof::input::{InputError, Trouble};

/// What a process tells its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing at or above `--fail-on`.
    Success = 0,
    /// Findings at or above `--fail-on`.
    Findings = 1,
    /// Wrong flags or a wrong subject file.
    Usage = 2,
    /// A defect of crdproof itself.
    Internal = 3,
    /// Nothing was tested.
    Nothing = 4,
    /// The environment is not usable.
    Environment = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// The code for an error that ended a command.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        match error.downcast_ref::<InputError>().map(|error| error.trouble) {
            Some(Trouble::Wrong) => Self::Usage,
            Some(Trouble::Nothing) => Self::Nothing,
            Some(Trouble::Environment) => Self::Environment,
            None => Self::Internal,
        }
    }
}
