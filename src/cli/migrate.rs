//! `migrate`: stores every object of a kind at the storage version, and verifies that.

use std::time::Instant;

use crate::operate::migrate::{Migrated, Pace};
use crate::operate::proof::{self, Outlook, Proof};
use anyhow::Result;
use crdproof_envtest::api::Api;
use crdproof_envtest::existing::Existing;
use crdproof_envtest::{ClusterError, runtime};

use super::args::env::ClusterArgs;
use super::args::migrate::MigrateArgs;
use super::console::Console;
use super::env::run::access;
use super::exit::Exit;
use super::progress::Live;
use super::servers::cluster_error;

/// Migrates, or prints what would be migrated.
pub(crate) fn migrate(args: &MigrateArgs, console: Console) -> Result<Exit> {
    guarded(&args.cluster, console, async |api, dry_run| {
        let outlook = proof::outlook(api, &args.crd).await?;
        say_outlook(&args.crd, &outlook, console);
        if dry_run {
            console.say("○ nothing was changed; add --allow-changes to migrate");
            return Ok(Exit::Success);
        }
        let started = Instant::now();
        let pace = Pace { together: args.together, ..Pace::default() };
        let live = Live::new(console, false);
        let mut progress = |pass: usize, so_far: &Migrated| live.show(of_pass(pass, so_far));
        let proof = proof::migrate_until_proven(api, &outlook, pace, &mut progress).await?;
        drop(live);
        let seconds = started.elapsed().as_secs_f64();
        match proof {
            Proof::Proven { passes } => {
                say_passes(&passes, console);
                console.say(&format!("► {seconds:.1} s"));
                console.say(&format!("✔ nothing is stored at another version than {}", outlook.storage));
                if args.trim {
                    proof::trim(api, &args.crd, &outlook).await?;
                    console.say(&format!("✔ storedVersions is [{}]", outlook.storage));
                }
                Ok(Exit::Success)
            }
            Proof::Failed { passes } => {
                say_passes(&passes, console);
                let last = passes.last().cloned().unwrap_or_default();
                for (name, why) in &last.failed {
                    console.say(&format!("✗ {name}: {why}"));
                }
                console
                    .say(&format!("✗ {} objects could not be written; storedVersions is left as it is", last.failures));
                Ok(Exit::Findings)
            }
            Proof::Restless { passes } => {
                say_passes(&passes, console);
                console.say(
                    "✗ every pass had to rewrite objects, so nothing is proved; the converter may not be deterministic \
                     (`crdproof run --suite converter` says)",
                );
                Ok(Exit::Findings)
            }
        }
    })
}

/// Calls a function with an existing cluster. Without permission it is a dry run: reading needs none.
pub(super) fn guarded(
    cluster: &ClusterArgs,
    console: Console,
    work: impl AsyncFnOnce(&Api, bool) -> Result<Exit, ClusterError>,
) -> Result<Exit> {
    let access = access(cluster, !cluster.allow_changes)?;
    let done = runtime::block_on(async {
        let cluster = Existing::connect(&access).await?;
        console.say(&format!("► {} is Kubernetes {}", cluster.shown(), cluster.identity().version));
        let done = runtime::unless_interrupted(work(cluster.api(), access.dry_run)).await;
        done.unwrap_or_else(|| {
            console.say("○ interrupted; run the command again to continue");
            Ok(Exit::Incomplete)
        })
    });
    Ok(done.map_err(cluster_error)?.map_err(cluster_error)?)
}

/// Returns the progress of a pass.
pub(super) fn of_pass(pass: usize, so_far: &Migrated) -> String {
    format!("pass {pass}: {} seen, {} rewritten", so_far.seen, so_far.rewritten)
}

fn say_outlook(crd: &str, outlook: &Outlook, console: Console) {
    console.say(&format!(
        "► {crd} stores {}; storedVersions is [{}]; objects are written through {}",
        outlook.storage,
        outlook.stored.join(", "),
        outlook.kind.version
    ));
}

pub(super) fn say_passes(passes: &[Migrated], console: Console) {
    for (number, pass) in (1..).zip(passes) {
        console.say(&format!(
            "► pass {number}: {} objects, {} rewritten, {} written or deleted by others",
            pass.seen, pass.rewritten, pass.overtaken
        ));
    }
}
