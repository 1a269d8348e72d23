//! What is in etcd: the last word about which version an object is stored at.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use super::{ClusterError, Local};
use crate::whole;

impl Local {
    /// The objects of a kind as they are stored, in no particular order.
    pub async fn stored(&self, group: &str, plural: &str) -> Result<Vec<Value>, ClusterError> {
        let prefix = format!("/registry/{group}/{plural}/");
        // All keys that begin with the prefix: up to the same with its last byte one higher.
        let end = format!("/registry/{group}/{plural}0");
        let question = json!({"key": STANDARD.encode(prefix), "range_end": STANDARD.encode(end)});
        let answer = self.ask_etcd("/v3/kv/range", &question).await?;
        let entries = answer["kvs"].as_array().into_iter().flatten();
        let decoded = entries.filter_map(|entry| STANDARD.decode(entry["value"].as_str()?).ok());
        Ok(decoded.filter_map(|bytes| serde_json::from_slice(&bytes).ok()).collect())
    }

    async fn ask_etcd(&self, path: &str, question: &Value) -> Result<Value, ClusterError> {
        let url = format!("http://127.0.0.1:{}{path}", self.etcd_port);
        let failed = |why: String| ClusterError::Transport { call: format!("POST {url}"), why };
        let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
        let request = http::Request::post(&url).body(Full::new(Bytes::from(question.to_string())));
        let request = request.map_err(|error| failed(error.to_string()))?;
        let answer = client.request(request).await.map_err(|error| failed(whole(&error)))?;
        let body = answer.into_body().collect().await.map_err(|error| failed(whole(&error)))?;
        serde_json::from_slice(&body.to_bytes()).map_err(|error| failed(error.to_string()))
    }
}
