//! The journey: several managers own fields at several versions; one version is retired by the very code of
//! `crdproof retire`; afterwards everybody goes on at the version that stays.

use serde_json::{Value, json};

use crate::act::scenarios::apply::{FIELDS, bare, scalars, set, shown, skeleton};
use crate::act::scenarios::stage::{Ask, Stage};
use crate::act::scenarios::storage::{see_store, settled, store};
use crate::evidence::{Names, Seen};
use crate::operate::migrate::Pace;
use crate::operate::retire::{Told, Wish, flip, retire};
use crate::subject::objects::Planned;
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{PatchKind, Query};

/// Who owns a label, beside alice, who applied the objects: one updates at the version that goes, one applies at the one
/// that stays.
const LABELS: [(&str, &str); 2] = [("bob", "crdproof.dev/bob"), ("carol", "crdproof.dev/carol")];

/// Objects of each version that take part.
const EACH: usize = 3;

/// The journey, from another served version to the one that the subject stores.
pub(in crate::act::scenarios) async fn travel(stage: &mut Stage<'_>) -> Result<(), ClusterError> {
    let Some(new) = stage.crd.storage().map(|version| version.name.clone()) else { return Ok(()) };
    let old = stage.served().into_iter().find(|version| *version != new).map(str::to_owned);
    let (Some(old), true) = (old, stage.served().contains(&new.as_str())) else { return Ok(()) };
    stage.step("install");
    let before = stage.definition(|crd| store(crd, &old));
    stage.install(&before).await?;
    let mut objects = Vec::new();
    for version in stage.served() {
        objects.extend(stage.planned().into_iter().filter(|planned| planned.version == version).take(EACH));
    }
    own(stage, &mut objects, &old, &new).await?;
    stage.step("owners-before");
    claim(stage, &objects, &new).await?;
    stage.step("before");
    stage.snapshot(&[&new], &Query::new()).await?;

    let wish = Wish {
        crd: stage.crd.name.clone(),
        version: old.clone(),
        to: Some(new.clone()),
        // All requests here are ours, and answered; that the flip took effect is looked up.
        drain: std::time::Duration::ZERO,
        pace: Pace::default(),
    };
    stage.step("flip");
    let flipped = flip(&stage.api, &wish).await?;
    if let Err(refusal) = flipped {
        refused(stage, refusal.why);
        return Ok(());
    }
    settled(stage, &objects, &new).await?;
    stage.step("work");
    let mut done = Vec::new();
    let mut counts = Vec::new();
    let mut tell = |told: Told<'_>| match told {
        Told::Done(step) => done.push(step.as_str().to_owned()),
        Told::Cleaned(cleaned) => {
            counts.push(("objects whose entries were rewritten", cleaned.rewritten));
            counts.push(("fields whose owner was lost", cleaned.losses));
        }
        _ => {}
    };
    let apis = stage.server.apis();
    let retired = retire(&apis, &wish, &mut tell).await?;
    stage.see(Seen::Names(Names { what: "steps".into(), versions: vec![old.clone()], names: done }));
    for (what, count) in counts {
        stage.count(what, usize::try_from(count).unwrap_or(usize::MAX));
    }
    if let Err(refusal) = retired {
        refused(stage, refusal.why);
        return Ok(());
    }
    stage.step("after");
    stage.snapshot(&[&new], &Query::new()).await?;
    see_store(stage).await?;
    stage.step("owners-after");
    claim(stage, &objects, &new).await?;
    stage.step("apply");
    everybody(stage, &objects, &new).await
}

fn refused(stage: &mut Stage<'_>, why: String) {
    stage.see(Seen::Names(Names { what: "refused".into(), versions: Vec::new(), names: vec![why] }));
}

/// Alice applies each object at its version, others own labels and status. Objects that cannot be applied are left out.
async fn own(stage: &mut Stage<'_>, objects: &mut Vec<Planned>, old: &str, new: &str) -> Result<(), ClusterError> {
    stage.step("own");
    let mut made = Vec::new();
    for planned in objects.drain(..) {
        let name = planned.name.as_str();
        let by = |manager: &str| Query::new().manager(manager);
        let ask = Ask::new("apply", &planned.version, name);
        if !stage.patch(ask, PatchKind::Apply, &by("alice"), &planned.object).await?.is_success() {
            continue;
        }
        let [(bob, his), (carol, hers)] = LABELS;
        let label = json!({"metadata": {"labels": {his: "yes"}}});
        stage.patch(Ask::new("update", old, name), PatchKind::Merge, &by(bob), &label).await?;
        let intent = labelled(stage, &planned, new, hers);
        stage.patch(Ask::new("apply a label", new, name), PatchKind::Apply, &by(carol), &intent).await?;
        let by_itself = stage.crd.version(old).is_some_and(|version| version.status.is_some());
        if let (Some(status), true) = (&planned.status, by_itself) {
            let part = by("controller").on(stage.kind.at(old).part_of(name, "status"));
            let changes = json!({"status": status});
            let answer = stage.api.patch(&part, PatchKind::Merge, &changes).await?;
            stage.note(&Ask::new("status", old, name), changes, &answer, Value::Null);
        }
        made.push(planned);
    }
    *objects = made;
    Ok(())
}

/// Nothing but a label, to apply at a version.
fn labelled(stage: &Stage<'_>, planned: &Planned, version: &str, label: &str) -> Value {
    let mut intent = skeleton(&planned.object);
    intent["apiVersion"] = json!(format!("{}/{version}", stage.crd.group));
    intent["metadata"]["labels"] = json!({label: "yes"});
    intent
}

/// A stranger claims some fields of each object, in vain where they have owners. Nothing is stored.
async fn claim(stage: &mut Stage<'_>, objects: &[Planned], version: &str) -> Result<(), ClusterError> {
    let stranger = Query::new().manager("mallory").dry_run();
    for planned in objects {
        let content = bare(&stage.api.get(&stage.path(version, &planned.name)).await?.json());
        let mut fields: Vec<(Vec<String>, Value)> = scalars(&content).into_iter().take(FIELDS).collect();
        let labels = LABELS.map(|(_, label)| (["metadata", "labels", label].map(str::to_owned).to_vec(), json!("no")));
        fields.extend(labels);
        for (path, other) in fields {
            let mut theirs = skeleton(&content);
            set(&mut theirs, &path, other);
            let what = format!("claim {}", shown(&path));
            let ask = Ask::new(&what, version, &planned.name);
            stage.patch(ask, PatchKind::Apply, &stranger, &theirs).await?;
        }
    }
    Ok(())
}

/// Every manager applies what is theirs at the version that stays.
async fn everybody(stage: &mut Stage<'_>, objects: &[Planned], version: &str) -> Result<(), ClusterError> {
    for planned in objects {
        let mut content = bare(&stage.api.get(&stage.path(version, &planned.name)).await?.json());
        if let Some(labels) = content["metadata"]["labels"].as_object_mut() {
            labels.retain(|name, _| LABELS.iter().all(|(_, label)| name != label));
        }
        let mut wishes = vec![("alice", content)];
        wishes.extend(LABELS.map(|(manager, label)| (manager, labelled(stage, planned, version, label))));
        for (manager, intent) in wishes {
            let what = format!("apply as {manager}");
            let query = Query::new().manager(manager);
            stage.patch(Ask::new(&what, version, &planned.name), PatchKind::Apply, &query, &intent).await?;
        }
    }
    Ok(())
}
