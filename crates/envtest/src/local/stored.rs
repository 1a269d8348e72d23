//! Reading etcd, which shows at which version an object is really stored.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{ClusterError, Local};
use crate::error_chain;

impl Local {
    /// The objects of a kind as they are stored, in no particular order.
    pub async fn stored(&self, group: &str, plural: &str) -> Result<Vec<Value>, ClusterError> {
        let prefix = format!("/registry/{group}/{plural}/");
        // All keys with the prefix: up to the prefix with its last byte incremented.
        let end = format!("/registry/{group}/{plural}0");
        let question = json!({"key": STANDARD.encode(prefix), "range_end": STANDARD.encode(end)});
        let answer = self.ask_etcd("/v3/kv/range", &question).await?;
        let entries = answer["kvs"].as_array().into_iter().flatten();
        let decoded = entries.filter_map(|entry| STANDARD.decode(entry["value"].as_str()?).ok());
        Ok(decoded.filter_map(|bytes| serde_json::from_slice(&bytes).ok()).collect())
    }

    async fn ask_etcd(&self, path: &str, question: &Value) -> Result<Value, ClusterError> {
        let failed = |why: String| ClusterError::Transport { call: format!("POST {path} of etcd"), why };
        let request = http::Request::post(path).body(question.to_string().into_bytes());
        let request = request.map_err(|error| failed(error.to_string()))?;
        self.etcd.request(request).await.map_err(|error| failed(error_chain(&error)))
    }
}
