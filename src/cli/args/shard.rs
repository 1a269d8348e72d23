//! The part of the work that a run does.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::run::{Shard, ShardError};

/// The part of the work to do.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What to check")]
pub(crate) struct ShardArgs {
    /// Do only one of several parts of the work, such as 2/4; `report merge` makes one report of all parts.
    ///
    /// index/4 takes the number from `JOB_COMPLETION_INDEX`, which Kubernetes sets in the pods of an Indexed Job.
    #[arg(long, value_name = "NUMBER/COUNT")]
    pub(crate) shard: Option<ShardArg>,
    /// Balance shards by the durations in an earlier report of this subject: that of a shard, or a merged one.
    /// All shards of a run need the same file.
    #[arg(long, value_name = "REPORT", requires = "shard")]
    pub(crate) timings: Option<PathBuf>,
}

/// A shard by its number, or by its index in a Kubernetes Job.
#[derive(Debug, Clone)]
pub(crate) enum ShardArg {
    Number(Shard),
    /// The index is in the environment; this is the number of shards.
    Index(NonZeroUsize),
}

impl FromStr for ShardArg {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        match text.strip_prefix("index/") {
            Some(count) => count.parse().map(Self::Index).map_err(|_| ShardError),
            None => text.parse().map(Self::Number),
        }
    }
}
