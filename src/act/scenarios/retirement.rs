//! Several managers own fields at several versions; the code of `crdproof retire` retires one version; afterwards all
//! managers apply at the remaining version.

use serde_json::{Value, json};

use crate::act::scenarios::apply::{MAX_FIELDS, bare, display_path, scalars, set, skeleton};
use crate::act::scenarios::session::{Request, Session};
use crate::act::scenarios::storage::{see_store, settled, store};
use crate::evidence::{Action, Cleaned, Listing, Names, Observation, RetirementStep};
use crate::operate::migrate::Pace;
use crate::operate::retire::{RetireEvent, RetireRequest, flip, retire};
use crate::subject::objects::Planned;
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{PatchKind, Query};

/// The managers that own a label, besides alice, who applied the objects: one updates at the retired version, one
/// applies at the remaining one.
const LABELS: [(&str, &str); 2] = [("bob", "crdproof.dev/bob"), ("carol", "crdproof.dev/carol")];

/// Number of objects of each version.
const OBJECTS_PER_VERSION: usize = 3;

/// Runs the scenario, from another served version to the storage version of the subject.
pub(in crate::act::scenarios) async fn run(session: &mut Session<'_>) -> Result<(), ClusterError> {
    let Some(new) = session.crd.storage().map(|version| version.name.clone()) else { return Ok(()) };
    let old = session.served().into_iter().find(|version| *version != new).map(str::to_owned);
    let (Some(old), true) = (old, session.served().contains(&new.as_str())) else { return Ok(()) };
    session.step(RetirementStep::Install);
    let before = session.definition(|crd| store(crd, &old));
    session.install(&before).await?;
    let mut objects = Vec::new();
    for version in session.served() {
        objects.extend(
            session.planned().into_iter().filter(|planned| planned.version == version).take(OBJECTS_PER_VERSION),
        );
    }
    own(session, &mut objects, &old, &new).await?;
    session.step(RetirementStep::OwnersBefore);
    claim(session, &objects, &new).await?;
    session.step(RetirementStep::Before);
    session.snapshot(&[&new], &Query::new()).await?;

    let wish = RetireRequest {
        crd: session.crd.name.clone(),
        version: old.clone(),
        to: Some(new.clone()),
        // All requests here are ours and have responses; `settle` verifies the storage version.
        drain: std::time::Duration::ZERO,
        pace: Pace::default(),
    };
    session.step(RetirementStep::Flip);
    let flipped = flip(&session.api, &wish).await?;
    if let Err(refusal) = flipped {
        refused(session, refusal.why);
        return Ok(());
    }
    settled(session, &objects, &new).await?;
    session.step(RetirementStep::Work);
    let mut done = Vec::new();
    let mut cleanings = Vec::new();
    let mut notify = |told: RetireEvent<'_>| match told {
        RetireEvent::Done(step) => done.push(step.as_str().to_owned()),
        RetireEvent::Cleaned(cleaned) => {
            cleanings.push(Cleaned { rewritten: cleaned.rewritten, losses: cleaned.losses });
        }
        _ => {}
    };
    let apis = session.server.apis();
    let retired = retire(&apis, &wish, &mut notify).await?;
    session.see(Observation::Names(Names { what: Listing::RetirementSteps, versions: vec![old.clone()], names: done }));
    session.see_all(cleanings.into_iter().map(Observation::Cleaned).collect());
    if let Err(refusal) = retired {
        refused(session, refusal.why);
        return Ok(());
    }
    session.step(RetirementStep::After);
    session.snapshot(&[&new], &Query::new()).await?;
    see_store(session).await?;
    session.step(RetirementStep::OwnersAfter);
    claim(session, &objects, &new).await?;
    session.step(RetirementStep::Apply);
    apply_as_every_manager(session, &objects, &new).await
}

fn refused(session: &mut Session<'_>, why: String) {
    session.see(Observation::Names(Names { what: Listing::Refused, versions: Vec::new(), names: vec![why] }));
}

/// Alice applies each object at its version; others own labels and status. Leaves out objects that cannot be applied.
async fn own(session: &mut Session<'_>, objects: &mut Vec<Planned>, old: &str, new: &str) -> Result<(), ClusterError> {
    session.step(RetirementStep::Own);
    let mut made = Vec::new();
    for planned in objects.drain(..) {
        let name = planned.name.as_str();
        let by = |manager: &str| Query::new().manager(manager);
        let request = Request::new(Action::Apply, &planned.version, name);
        if !session.patch(request, PatchKind::Apply, &by("alice"), &planned.object).await?.is_success() {
            continue;
        }
        let [(bob, his), (carol, hers)] = LABELS;
        let label = json!({"metadata": {"labels": {his: "yes"}}});
        session.patch(Request::new(Action::Update, old, name), PatchKind::Merge, &by(bob), &label).await?;
        let intent = labelled(session, &planned, new, hers);
        session.patch(Request::new(Action::ApplyALabel, new, name), PatchKind::Apply, &by(carol), &intent).await?;
        let by_itself = session.crd.version(old).is_some_and(|version| version.status.is_some());
        if let (Some(status), true) = (&planned.status, by_itself) {
            let part = by("controller").on(session.kind.at(old).part_of(name, "status"));
            let changes = json!({"status": status});
            let answer = session.api.patch(&part, PatchKind::Merge, &changes).await?;
            session.note(&Request::new(Action::Status, old, name), changes, &answer, Value::Null);
        }
        made.push(planned);
    }
    *objects = made;
    Ok(())
}

/// An object with only a label, to apply at a version.
fn labelled(session: &Session<'_>, planned: &Planned, version: &str, label: &str) -> Value {
    let mut intent = skeleton(&planned.object);
    intent["apiVersion"] = json!(format!("{}/{version}", session.crd.group));
    intent["metadata"]["labels"] = json!({label: "yes"});
    intent
}

/// Another manager claims some fields of each object, which must fail for fields with owners. Stores nothing.
async fn claim(session: &mut Session<'_>, objects: &[Planned], version: &str) -> Result<(), ClusterError> {
    let stranger = Query::new().manager("mallory").dry_run();
    for planned in objects {
        let content = bare(&session.api.get(&session.path(version, &planned.name)).await?.json());
        let mut fields: Vec<(Vec<String>, Value)> = scalars(&content).into_iter().take(MAX_FIELDS).collect();
        let labels = LABELS.map(|(_, label)| (["metadata", "labels", label].map(str::to_owned).to_vec(), json!("no")));
        fields.extend(labels);
        for (path, other) in fields {
            let mut theirs = skeleton(&content);
            set(&mut theirs, &path, other);
            let action = Action::Claim(display_path(&path));
            let request = Request::new(action, version, &planned.name);
            session.patch(request, PatchKind::Apply, &stranger, &theirs).await?;
        }
    }
    Ok(())
}

/// Every manager applies its own fields at the remaining version.
async fn apply_as_every_manager(
    session: &mut Session<'_>,
    objects: &[Planned],
    version: &str,
) -> Result<(), ClusterError> {
    for planned in objects {
        let mut content = bare(&session.api.get(&session.path(version, &planned.name)).await?.json());
        if let Some(labels) = content["metadata"]["labels"].as_object_mut() {
            labels.retain(|name, _| LABELS.iter().all(|(_, label)| name != label));
        }
        let mut wishes = vec![("alice", content)];
        wishes.extend(LABELS.map(|(manager, label)| (manager, labelled(session, planned, version, label))));
        for (manager, intent) in wishes {
            let action = Action::ApplyAs(manager.to_owned());
            let query = Query::new().manager(manager);
            session.patch(Request::new(action, version, &planned.name), PatchKind::Apply, &query, &intent).await?;
        }
    }
    Ok(())
}
