//! The webhook that CRDs name in the cluster where they are installed.

use serde_json::Value;

use crate::subject::{Crd, ServiceConfig, Subject, WebhookConfig};
use crdproof_envtest::api::{Permission, definitions};
use crdproof_envtest::existing::{Access, Existing};
use crdproof_envtest::{ClusterError, runtime};

/// The verbs of requests to a Service: `POST` for conversions, `GET` to see that it is there.
const PROXY_VERBS: [&str; 2] = ["get", "create"];

/// Returns the permissions for calling a webhook in this namespace, or in all of them if it is empty.
pub fn permissions(namespace: &str) -> Vec<Permission> {
    let verbs = PROXY_VERBS.into_iter();
    verbs.map(|verb| Permission::new(verb, "", "services").on_part("proxy").within(namespace)).collect()
}

/// Returns the webhook that the CRDs of a subject name where they are installed; `None` if none of them converts by a
/// webhook. Changes nothing.
pub fn installed(subject: &Subject, access: &Access) -> Result<Option<WebhookConfig>, ClusterError> {
    let access = Access { dry_run: true, ..access.clone() };
    runtime::block_on(async {
        let cluster = Existing::connect(&access).await?;
        let mut found: Option<(&Crd, WebhookConfig)> = None;
        for crd in &subject.crds {
            let Some(webhook) = webhook(&definition(&cluster, crd).await?) else { continue };
            match &found {
                Some((other, same)) if *same != webhook => {
                    return Err(ClusterError::NotAllowed {
                        why: format!("the CRDs {} and {} name different webhooks", other.name, crd.name),
                        help: "test one of them at a time, or name the webhook as `converter.webhook` in crdproof.yaml"
                            .into(),
                    });
                }
                Some(_) => {}
                None => found = Some((crd, webhook)),
            }
        }
        let Some((_, webhook)) = found else { return Ok(None) };
        let Some(service) = &webhook.service else { return Ok(Some(webhook)) };
        for permission in permissions(&service.namespace) {
            if !cluster.api().is_allowed(&permission).await? {
                return Err(ClusterError::NotAllowed {
                    why: format!("you may not {permission} in {}, which asks the webhook", service.namespace),
                    help:
                        "grant it (`crdproof env rbac --proxy`), or run --suite serving, which reads what the webhook \
                           converts at every version"
                            .into(),
                });
            }
        }
        Ok(Some(webhook))
    })?
}

/// Returns the CRD as it is installed in a cluster.
pub async fn definition(cluster: &Existing, crd: &Crd) -> Result<Value, ClusterError> {
    let answer = cluster.api().get(&definitions().path_of(&crd.name)).await?;
    if answer.status == 404 {
        return Err(ClusterError::Missing {
            what: format!("the CRD {}", crd.name),
            why: format!("it is not installed in {}", cluster.shown()),
            help: "install the CRD and its webhook, or leave --deployed out".into(),
        });
    }
    Ok(answer.ok()?.json())
}

/// The webhook of an installed CRD.
fn webhook(crd: &Value) -> Option<WebhookConfig> {
    let conversion = &crd["spec"]["conversion"];
    let client = &conversion["webhook"]["clientConfig"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let service = Some(&client["service"]).filter(|service| service.is_object()).map(|service| ServiceConfig {
        name: text(&service["name"]).unwrap_or_default(),
        namespace: text(&service["namespace"]).unwrap_or_default(),
        port: service["port"].as_u64().and_then(|port| port.try_into().ok()),
        // Without a path, API servers ask at the root.
        path: Some(text(&service["path"]).unwrap_or_else(|| "/".into())),
    });
    let (url, ca_bundle) = (text(&client["url"]), text(&client["caBundle"]));
    (conversion["strategy"] == "Webhook").then(|| WebhookConfig { url, service, ca_bundle, ..WebhookConfig::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_webhook_of_an_installed_crd_is_read() {
        let crd = |client: Value| json!({"spec": {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": client}}}});
        let of_service = webhook(&crd(json!({"service": {"name": "hook", "namespace": "system"}, "caBundle": "eA=="})));
        let of_service = of_service.unwrap();
        let service = of_service.service.unwrap();
        assert_eq!((service.name.as_str(), service.namespace.as_str(), service.port), ("hook", "system", None));
        assert_eq!(service.path.as_deref(), Some("/"));
        let of_url = webhook(&crd(json!({"url": "https://hooks.example.com/convert", "caBundle": "eA=="}))).unwrap();
        assert_eq!(of_url.url.as_deref(), Some("https://hooks.example.com/convert"));
        assert_eq!((of_url.ca_bundle.as_deref(), of_url.service), (Some("eA=="), None));
        assert_eq!(webhook(&json!({"spec": {"conversion": {"strategy": "None"}}})), None);
    }
}
