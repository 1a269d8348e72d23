//! Installing CRDs, and waiting until the server really serves them.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Answer, Api, Query, Resource};
use crate::{ClusterError, wait};

/// The timeout for a version to be served.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Returns the resource of CRDs themselves.
pub fn definitions() -> Resource {
    Resource::cluster_wide("apiextensions.k8s.io", "v1", "customresourcedefinitions")
}

impl Api {
    /// Installs CRDs and returns when every served version of each has answered a real request.
    pub async fn install_crds(&self, crds: &[Value]) -> Result<(), ClusterError> {
        for crd in crds {
            self.post(&definitions().path(), crd).await?.ok()?;
        }
        self.until_served(crds).await
    }

    /// Waits until every served version of each of these CRDs answers a list.
    pub async fn until_served(&self, crds: &[Value]) -> Result<(), ClusterError> {
        for crd in crds {
            let spec = &crd["spec"];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let kind = Resource::cluster_wide(&text(&spec["group"]), "", &text(&spec["names"]["plural"]));
            for version in spec["versions"].as_array().into_iter().flatten() {
                if version["served"] == json!(true) {
                    self.until_listed(&kind.at(&text(&version["name"]))).await?;
                }
            }
        }
        Ok(())
    }

    async fn until_listed(&self, kind: &Resource) -> Result<(), ClusterError> {
        let path = Query::new().limit(1).on(kind.path());
        let answered = wait::until(TIMEOUT, Duration::from_millis(50), || async {
            self.get(&path).await.ok().filter(Answer::is_success)
        });
        match answered.await {
            Some(_) => Ok(()),
            None => Err(ClusterError::Deadline { call: format!("GET {path}"), seconds: TIMEOUT.as_secs() }),
        }
    }
}
