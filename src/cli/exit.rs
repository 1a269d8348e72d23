//! Exit codes, as documented.

use std::process::ExitCode;

use crate::subject::load::{InputError, Trouble};

/// The exit code of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing at or above `--fail-on`.
    Success,
    /// Findings at or above `--fail-on`.
    Findings,
    /// Wrong flags or a wrong subject file.
    Usage,
    /// A defect of crdproof itself.
    Internal,
    /// Nothing was tested.
    Nothing,
    /// The environment is not usable.
    Environment,
    /// Interrupted before the end.
    Incomplete,
    /// The exit code of the user's command.
    Command(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl Exit {
    /// The numeric exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Internal => 3,
            Self::Nothing => 4,
            Self::Environment => 5,
            Self::Incomplete => 6,
            Self::Command(code) => code,
        }
    }

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
