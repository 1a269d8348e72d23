//! A webhook that runs in a cluster, called through the API server's proxy for Services.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::endpoint::{Endpoint, Request};
use super::http::runtime;
use crate::evidence::{NO_ANSWER, Outcome};
use crate::subject::{ServiceConfig, WebhookConfig};
use crdproof_envtest::api::{Answer, Api};
use crdproof_envtest::error_chain;
use crdproof_envtest::existing::{Access, Existing};

/// The timeout of API servers for a conversion.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A webhook behind a Service. Its certificate is not visible: the API server's proxy accepts any.
pub struct Service {
    runtime: &'static Runtime,
    api: Api,
    path: String,
    timeout: Duration,
}

impl Service {
    /// Connects to the cluster of the configuration, or of these kubeconfig files. Changes nothing there.
    pub fn open(
        config: &WebhookConfig,
        service: &ServiceConfig,
        folder: &Path,
        kubeconfig: &[PathBuf],
    ) -> Result<Self, String> {
        let own = config.kubeconfig.as_ref().map(|path| vec![folder.join(path)]);
        let kubeconfig = own.unwrap_or_else(|| kubeconfig.to_vec());
        if kubeconfig.is_empty() {
            return Err("no kubeconfig says in which cluster; name one as `converter.webhook.kubeconfig`".into());
        }
        let access = Access { kubeconfig, context: config.context.clone(), dry_run: true, ..Access::default() };
        let runtime = runtime()?;
        let cluster = runtime.block_on(Existing::connect(&access));
        let cluster = cluster.map_err(|error| format!("{} ({})", error_chain(&error), error.help()))?;
        let timeout = config.timeout.map_or(TIMEOUT, |timeout| timeout.0);
        Ok(Self { runtime, api: cluster.api().clone(), path: path(service), timeout })
    }

    async fn attempt(&self, request: &Request) -> Outcome {
        let asked = self.api.forward(request.method, &self.path, request.body.to_vec());
        match tokio::time::timeout(self.timeout, asked).await {
            Ok(Ok(answer)) => outcome(&answer),
            Ok(Err(error)) => Outcome::Failed(error_chain(&error)),
            Err(_) => Outcome::Failed(format!("{NO_ANSWER} {} s", self.timeout.as_secs_f32())),
        }
    }
}

/// Returns the path of the API server's proxy.
fn path(service: &ServiceConfig) -> String {
    let port = service.port.unwrap_or(443);
    let path = service.path.as_deref().unwrap_or("/convert");
    format!("/api/v1/namespaces/{}/services/https:{}:{port}/proxy{path}", service.namespace, service.name)
}

/// Returns the response of the webhook. A refusal by the API server itself is not a response.
fn outcome(answer: &Answer) -> Outcome {
    let said = answer.json();
    if !answer.is_success() && said["kind"] == "Status" && said["apiVersion"] == "v1" {
        return Outcome::Failed(format!("the API server answered {}: {}", answer.status, answer.message()));
    }
    let content_type = answer.headers.get("content-type").and_then(|value| value.to_str().ok());
    Outcome::Answered {
        status: answer.status,
        content_type: content_type.map(str::to_owned),
        body: String::from_utf8_lossy(&answer.body).into_owned(),
    }
}

impl Endpoint for Service {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        let started = Instant::now();
        let outcome = self.runtime.block_on(self.attempt(request));
        (outcome, started.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_reached_over_tls_at_its_port_and_path() {
        let service = ServiceConfig { name: "hook".into(), namespace: "system".into(), port: None, path: None };
        assert_eq!(path(&service), "/api/v1/namespaces/system/services/https:hook:443/proxy/convert");
        let other = ServiceConfig { port: Some(9443), path: Some("/v1/crd".into()), ..service };
        assert_eq!(path(&other), "/api/v1/namespaces/system/services/https:hook:9443/proxy/v1/crd");
    }
}
