//! Where objects live on servers of our own.

use serde_json::json;

use crate::cluster::ClusterError;
use crate::cluster::api::Api;

/// A namespace on a server of our own.
pub(super) async fn own_namespace(api: &Api) -> Result<String, ClusterError> {
    let name = "crdproof";
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let made = api.post("/api/v1/namespaces", &body).await?;
    if made.status != 409 {
        made.ok()?;
    }
    Ok(name.to_owned())
}
