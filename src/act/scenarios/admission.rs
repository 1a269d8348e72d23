//! Writes through every version while an admission webhook is registered for each version.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::session::{Request, Session};
use crate::converter::proxy::{AdmissionRecorder, Fault, RECORDED};
use crate::evidence::{Action, Observation, ServingStep};
use crate::subject::objects::Planned;
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Api, PatchKind, Query, Resource};

/// The timeout of a registration to take effect.
const EFFECT_TIMEOUT: Duration = Duration::from_secs(20);

/// An admission recorder that is registered on a server.
pub(super) struct Registered {
    pub(super) recorder: AdmissionRecorder,
    path: String,
    api: Api,
}

impl Registered {
    /// Registers a recorder for each of these versions, and waits until the server calls it. `None` if the server
    /// cannot reach us, or does not call it.
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
        // A registration that an earlier scenario could not remove would call a listener that is gone.
        registered.api.delete(&registered.path).await?;
        registered.api.post(&hooks.path(), &wish).await?.ok()?;
        let reaches_webhooks = registered.reaches_webhooks(session, planned, versions.len()).await;
        match reaches_webhooks {
            Ok(true) => Ok(Some(registered)),
            Ok(false) => registered.withdraw().await.map(|()| None),
            Err(error) => registered.withdraw().await.and(Err(error)),
        }
    }

    /// Returns true once dry runs reach all webhooks.
    async fn reaches_webhooks(
        &self,
        session: &Session<'_>,
        planned: &Planned,
        webhooks: usize,
    ) -> Result<bool, ClusterError> {
        let path = Query::new().dry_run().on(session.kind.at(&planned.version).path());
        let object = labelled(planned, "recorder-probe");
        let end = Instant::now() + EFFECT_TIMEOUT;
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

    /// Removes the registration, and then the listener.
    pub(super) async fn withdraw(self) -> Result<(), ClusterError> {
        let answer = self.api.delete(&self.path).await?;
        self.recorder.stop().await;
        if answer.status == 404 { Ok(()) } else { answer.ok().map(drop) }
    }
}

/// An object that the recorder receives.
fn labelled(planned: &Planned, name: &str) -> Value {
    let mut object = planned.object.clone();
    object["metadata"]["name"] = json!(name);
    object["metadata"]["labels"][RECORDED.0] = json!(RECORDED.1);
    object
}

/// Creates and changes objects through every version, while a webhook is registered for each.
pub(super) async fn run(session: &mut Session<'_>, objects: &[Planned]) -> Result<(), ClusterError> {
    session.step(ServingStep::Admission);
    let served = session.served();
    let Some(first) = objects.first() else { return Ok(()) };
    let Some(registered) = Registered::new(session, &served, first).await? else { return Ok(()) };
    let shown = write_through_versions(session, objects, &registered.recorder).await;
    let broken = match shown {
        Ok(()) => write_unconvertible(session, objects, &registered.recorder).await,
        Err(error) => Err(error),
    };
    if let Some(proxy) = &session.proxy {
        proxy.fail(None);
    }
    // In any case, no writes may depend on us afterwards.
    registered.withdraw().await.and(broken)
}

async fn write_through_versions(
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

/// Writes an object that cannot be converted for its webhook, so the server must refuse the write.
async fn write_unconvertible(
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
    // Storing it needs no conversion; only the admission review does.
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
