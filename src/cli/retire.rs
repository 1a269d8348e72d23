//! `retire`: removes a version of a CRD from a cluster, step by step; every step is verified before the next one.

use crate::operate::migrate::Pace;
use crate::operate::retire::dependents::dependents;
use crate::operate::retire::{self, Cleaned, Plan, Refusal, RetireEvent, RetireRequest, Step};
use anyhow::Result;
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::Api;

use super::args::migrate::RetireArgs;
use super::console::Console;
use super::exit::Exit;
use super::migrate::{guarded, of_pass, say_passes};
use super::progress::Live;

/// Retires a version, or prints what would be done.
pub(crate) fn retire(args: &RetireArgs, console: Console) -> Result<Exit> {
    let wish = RetireRequest {
        crd: args.crd.clone(),
        version: args.version.clone(),
        to: args.to.clone(),
        drain: args.drain.0,
        pace: Pace { together: args.together.max(1), ..Pace::default() },
    };
    guarded(&args.cluster, console, async |api, dry_run| {
        let plan = match retire::plan(api, &wish).await? {
            Ok(plan) => plan,
            Err(refusal) => return Ok(say_refusal(&refusal, console)),
        };
        say_plan(&wish, &plan, console);
        say_dependents(api, &wish, console).await?;
        if dry_run {
            console.say("○ nothing was changed; add --allow-changes to retire it");
            return Ok(Exit::Success);
        }
        let live = Live::new(console, false);
        let mut notify = |what: RetireEvent<'_>| match what {
            RetireEvent::Passes(pass, so_far) => live.show(of_pass(pass, so_far)),
            RetireEvent::Begins(step) => console.say(&format!("► {}: {}", step.as_str(), meaning(step, &wish, &plan))),
            RetireEvent::Waits(left) => {
                live.show(format!("waiting {} s for requests that began before the change", left.as_secs_f64().ceil()));
            }
            RetireEvent::Proven(passes) => {
                live.clear();
                say_passes(passes, console);
            }
            RetireEvent::Cleaned(cleaned) => say_cleaned(cleaned, console),
            RetireEvent::Done(step) => {
                live.clear();
                console.say(&format!("✔ {}", step.as_str()));
            }
        };
        Ok(match retire::retire(std::slice::from_ref(api), &wish, &mut notify).await? {
            Ok(plan) if !plan.listed => {
                console.say(&format!("✔ no entry names {}", wish.version));
                Exit::Success
            }
            Ok(_) => {
                console.say(&format!(
                    "✔ {} is retired; remove it from the manifest of {}, too, or the next installation restores it",
                    wish.version, wish.crd
                ));
                Exit::Success
            }
            Err(refusal) => say_refusal(&refusal, console),
        })
    })
}

fn meaning(step: Step, wish: &RetireRequest, plan: &Plan) -> String {
    let (gone, to) = (&wish.version, &plan.to);
    match step {
        Step::Flip => format!("{to} becomes the storage version"),
        Step::Migrate => format!("every object is stored at {to}, with proof"),
        Step::Clean => format!("entries of managedFields at {gone} become entries at {}", plan.kind.version),
        Step::Trim => format!("storedVersions becomes [{to}]"),
        Step::Unserve => format!("{gone} is no longer served"),
        Step::Check => format!("no entry is at {gone}, and nothing is stored at another version than {to}"),
        Step::Remove => format!("{gone} is removed from the CRD"),
    }
}

fn say_plan(wish: &RetireRequest, plan: &Plan, console: Console) {
    console.say(&format!(
        "► {} stores {}; storedVersions is [{}]; objects are written through {}",
        wish.crd,
        plan.storage,
        plan.stored.join(", "),
        plan.kind.version
    ));
    if !plan.listed {
        console.say(&format!("► {} has no version {}; only entries that name it are cleaned", wish.crd, wish.version));
    }
    for (number, step) in (1..).zip(&plan.steps) {
        console.say(&format!("  {number}. {}: {}", step.as_str(), meaning(*step, wish, plan)));
    }
}

/// Dependents are objects of others, so they are only reported.
async fn say_dependents(api: &Api, wish: &RetireRequest, console: Console) -> Result<(), ClusterError> {
    let found = dependents(api, &wish.crd, &wish.version, wish.pace).await?;
    if !found.unread.is_empty() {
        console.say(&format!("! owner references could not be looked at in: {}", found.unread.join(", ")));
    }
    if found.count > 0 {
        console.say(&format!(
            "! {} objects name an owner at {}; garbage collection will no longer find it; change these references to a version that stays:",
            found.count, wish.version
        ));
        for name in &found.named {
            console.say(&format!("    {name}"));
        }
    }
    Ok(())
}

fn say_cleaned(cleaned: &Cleaned, console: Console) {
    console.say(&format!("  {} objects, entries of {} rewritten", cleaned.seen, cleaned.rewritten));
    if cleaned.losses > 0 {
        console.say(&format!(
            "! {} fields lost their owner, because their new place is unknown; the next manager that applies them owns them:",
            cleaned.losses
        ));
        for field in &cleaned.lost {
            console.say(&format!("    {field}"));
        }
    }
}

fn say_refusal(refusal: &Refusal, console: Console) -> Exit {
    console.say(&format!("✗ {}\n  = help: {}", refusal.why, refusal.help));
    Exit::Findings
}
