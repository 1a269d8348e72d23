//! `migrate`: every object of a kind is stored at the storage version, with proof.

use std::time::Instant;

use anyhow::Result;
use crdproof::cluster::existing::Existing;
use crdproof::cluster::runtime;
use crdproof::journey::migrate::{Migrated, Pace};
use crdproof::journey::proof::{self, Outlook, Proof};

use super::args::migrate::MigrateArgs;
use super::console::Console;
use super::env::run::{access, told};
use super::exit::Exit;

/// Migrates, or says what would be migrated.
pub(crate) fn migrate(args: &MigrateArgs, console: Console) -> Result<Exit> {
    // Without leave it is a dry run: reading needs none.
    let access = access(&args.cluster, !args.cluster.allow_changes)?;
    let done = runtime::block_on(async {
        let cluster = Existing::connect(&access).await?;
        console.say(&format!("► {} is Kubernetes {}", cluster.shown(), cluster.identity().version));
        let api = cluster.api();
        let outlook = proof::outlook(api, &args.crd).await?;
        say_outlook(&args.crd, &outlook, console);
        if access.dry_run {
            console.say("○ nothing was changed; add --allow-changes to migrate");
            return Ok(Exit::Success);
        }
        let started = Instant::now();
        let mut told = Instant::now();
        let pace = Pace { together: args.together, ..Pace::default() };
        let mut progress = |pass: usize, so_far: &Migrated| {
            if told.elapsed().as_secs() >= 2 {
                told = Instant::now();
                console.say(&format!("  pass {pass}: {} seen, {} stored anew", so_far.seen, so_far.rewritten));
            }
        };
        let migrating = proof::migrate_until_proven(api, &outlook, pace, &mut progress);
        let Some(ended) = runtime::unless_interrupted(migrating).await else {
            console.say("○ interrupted; start it again, and it goes on where it is needed");
            return Ok(Exit::Incomplete);
        };
        let seconds = started.elapsed().as_secs_f64();
        match ended? {
            Proof::Proven { passes } => {
                say_passes(&passes, seconds, console);
                console.say(&format!("✔ nothing is stored at another version than {}", outlook.storage));
                if args.trim {
                    proof::trim(api, &args.crd, &outlook).await?;
                    console.say(&format!("✔ storedVersions is [{}]", outlook.storage));
                }
                Ok(Exit::Success)
            }
            Proof::Failed { passes } => {
                say_passes(&passes, seconds, console);
                let last = passes.last().cloned().unwrap_or_default();
                for (name, why) in &last.failed {
                    console.say(&format!("✗ {name}: {why}"));
                }
                console
                    .say(&format!("✗ {} objects could not be written; storedVersions is left as it is", last.failures));
                Ok(Exit::Findings)
            }
            Proof::Restless { passes } => {
                say_passes(&passes, seconds, console);
                console.say(
                    "✗ every pass stored objects anew, so nothing is proven; the converter may not be deterministic \
                     (`crdproof run --suite converter` says)",
                );
                Ok(Exit::Findings)
            }
        }
    });
    Ok(done.map_err(told)?.map_err(told)?)
}

fn say_outlook(crd: &str, outlook: &Outlook, console: Console) {
    console.say(&format!(
        "► {crd} stores {}; storedVersions is [{}]; objects are written through {}",
        outlook.storage,
        outlook.stored.join(", "),
        outlook.kind.version
    ));
}

fn say_passes(passes: &[Migrated], seconds: f64, console: Console) {
    for (number, pass) in (1..).zip(passes) {
        console.say(&format!(
            "► pass {number}: {} objects, {} stored anew, {} written or deleted by others",
            pass.seen, pass.rewritten, pass.overtaken
        ));
    }
    console.say(&format!("► {seconds:.1} s"));
}
