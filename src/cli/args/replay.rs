//! The arguments of `replay`, and what `run` does with saved cases.

use std::path::PathBuf;

use clap::Args;
use clap::builder::FalseyValueParser;

use super::SubjectArgs;

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Saved cases [default: all that stand beside the subject file].
    #[arg(value_name = "CASE")]
    pub(crate) cases: Vec<PathBuf>,
    /// The subject file [default: crdproof.yaml].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// A webhook to ask instead of the subject's converter.
    #[arg(long, value_name = "URL")]
    pub(crate) target: Option<String>,
    /// The CA that signed its certificate, in PEM [default: those of the machine].
    #[arg(long, value_name = "FILE", requires = "target")]
    pub(crate) ca: Option<PathBuf>,
    /// Remove the cases that pass.
    #[arg(long)]
    pub(crate) prune: bool,
    #[command(flatten)]
    pub(crate) secrets: SecretArgs,
}

impl ReplayArgs {
    pub(crate) fn subject(&self) -> SubjectArgs {
        SubjectArgs { sources: Vec::new(), file: self.file.clone() }
    }
}

/// What may be shown.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SecretArgs {
    /// Show values of fields that look secret, instead of •••.
    #[arg(long)]
    pub(crate) show_secrets: bool,
}

/// What a run keeps.
#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// Save no objects that break something beside the subject file.
    #[arg(long, env = "CRDPROOF_NO_CASES", value_parser = FalseyValueParser::new())]
    pub(crate) no_cases: bool,
}
