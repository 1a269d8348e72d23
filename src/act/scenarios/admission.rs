//! Admission webhooks that are registered for one version each are shown writes through every version.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::session::{Request, Session};
use crate::converter::proxy::{AdmissionRecorder, Fault, RECORDED};
use crate::evidence::{Action, Observation, ServingStep};
use crate::subject::objects::Planned;
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Api, PatchKind, Query, Resource};

/// The timeout for a registration to take effect.
const HEEDED: Duration = Duration::from_secs(20);

/// A recorder that is registered on a server.
pub(super) struct Registered {
    pub(super) recorder: AdmissionRecorder,
    path: String,
    api: Api,
}

impl Registered {
    /// Registers a recorder for each of these versions, and waits until the server asks it. `None` where the server
    /// cannot reach us, or does not ask.
    pub(super) async fn new(
        session: &Session<'_>,
        versions: &[&str],
        planned: &Planned,
    ) -> Result<Option<Self>, ClusterError> {
        let Some(access) = session.server.host_access() else { return Ok(None) };
        let recorder = AdmissionRecorder::start(&access).await?;
        let hooks = Resource::cluster_wide("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations");
        let name = "crdproof-recorder";
        let registered = Self { recorder, path: hooks.path_of(name), api: session.api.clone() };
        let crd = session.crd;
        let wish = registered.recorder.configuration(name, &crd.group, &crd.names.plural, versions);
        // What an earlier scenario could not take away would ask a listener that is gone.
        registered.api.delete(&registered.path).await?;
        registered.api.post(&hooks.path(), &wish).await?.ok()?;
        let heeded = registered.heeded(session, planned, versions.len()).await;
        match heeded {
            Ok(true) => Ok(Some(registered)),
            Ok(false) => registered.withdraw().await.map(|()| None),
            Err(error) => registered.withdraw().await.and(Err(error)),
        }
    }

    /// Returns whether writes that only pretend come to be shown to all webhooks.
    async fn heeded(&self, session: &Session<'_>, planned: &Planned, webhooks: usize) -> Result<bool, ClusterError> {
        let path = Query::new().dry_run().on(session.kind.at(&planned.version).path());
        let object = labelled(planned, "recorder-probe");
        let end = Instant::now() + HEEDED;
        while Instant::now() < end {
            let before = self.recorder.count();
            session.api.post(&path, &object).await?;
            if self.recorder.count() >= before + webhooks {
                return Ok(true);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(false)
    }

    /// Takes the registration away, and the listener after it.
    pub(super) async fn withdraw(self) -> Result<(), ClusterError> {
        let answer = self.api.delete(&self.path).await?;
        self.recorder.stop().await;
        if answer.status == 404 { Ok(()) } else { answer.ok().map(drop) }
    }
}

/// An object that the recorder is shown.
fn labelled(planned: &Planned, name: &str) -> Value {
    let mut object = planned.object.clone();
    object["metadata"]["name"] = json!(name);
    object["metadata"]["labels"][RECORDED.0] = json!(RECORDED.1);
    object
}

/// Objects are created and changed through every version, while a webhook is registered for each.
pub(super) async fn run(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    session.step(ServingStep::Admission);
    let served = session.served();
    let Some(first) = objects.first() else { return Ok(()) };
    let Some(registered) = Registered::new(session, &served, first).await? else { return Ok(()) };
    let shown = show(session, objects, &registered.recorder).await;
    let broken = match shown {
        Ok(()) => blind(session, objects, &registered.recorder).await,
        Err(error) => Err(error),
    };
    if let Some(proxy) = &session.proxy {
        proxy.fail(None);
    }
    // However it went, nobody's writes may depend on us afterwards.
    registered.withdraw().await.and(broken)
}

async fn show(
    session: &mut Session<'_>,
    objects: &[Planned],
    recorder: &AdmissionRecorder,
) -> Result<(), ClusterError> {
    let served = session.served();
    for version in &served {
        let Some(planned) = objects.iter().find(|planned| planned.version == *version) else { continue };
        let name = format!("recorded-{version}");
        let before = recorder.count();
        let made = session
            .create(Request::new(Action::Create, version, &name), &Query::new(), &labelled(planned, &name))
            .await?;
        if !made.is_success() {
            continue;
        }
        for other in &served {
            session.get(Request::new(Action::Created, other, &name)).await?;
        }
        let change = json!({"metadata": {"labels": {"crdproof.dev/changed": "yes"}}});
        session.patch(Request::new(Action::Change, version, &name), PatchKind::Merge, &Query::new(), &change).await?;
        for other in &served {
            session.get(Request::new(Action::Changed, other, &name)).await?;
        }
        recorder.since(before).into_iter().for_each(|seen| session.see(Observation::Admission(seen)));
        session.delete(Request::new(Action::Delete, version, &name)).await?;
    }
    Ok(())
}

/// Writes what cannot be converted: it cannot be read, so the write must be refused.
async fn blind(
    session: &mut Session<'_>,
    objects: &[Planned],
    recorder: &AdmissionRecorder,
) -> Result<(), ClusterError> {
    session.step(ServingStep::AdmissionBlind);
    let served = session.served();
    let Some(storage) = session.crd.storage().filter(|version| version.served) else { return Ok(()) };
    let Some(other) = served.iter().find(|version| **version != storage.name) else { return Ok(()) };
    let Some(planned) = objects.iter().find(|planned| planned.version == storage.name) else { return Ok(()) };
    let Some(proxy) = &session.proxy else { return Ok(()) };
    let before = recorder.count();
    proxy.fail(Some(Fault::Towards((*other).to_owned())));
    let object = labelled(planned, "unshown");
    // Storing it needs no conversion; only showing it does.
    let made =
        session.create(Request::new(Action::CreateUnshown, &storage.name, "unshown"), &Query::new(), &object).await?;
    if let Some(proxy) = &session.proxy {
        proxy.fail(None);
    }
    recorder.since(before).into_iter().for_each(|seen| session.see(Observation::Admission(seen)));
    if made.is_success() {
        session.delete(Request::new(Action::Delete, &storage.name, "unshown")).await?;
    }
    Ok(())
}
