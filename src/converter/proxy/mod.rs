//! The HTTPS listener between an API server and a converter. It has its own certificate, whose authority is the
//! `caBundle` for the CRD. It stops when it is dropped.

mod conversion;
mod serve;
mod admission;

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use base64::Engine as _;
use serde_json::{Value, json};

pub use admission::{AdmissionRecorder, RECORDED};
pub use conversion::{ConversionProxy, Fault};

use crdproof_envtest::{Authority, ClusterError, HostAccess, Pair};

/// An incoming request.
#[derive(Debug, Clone)]
pub struct Call {
    /// The method, usually `POST`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The body, unchanged.
    pub body: Vec<u8>,
}

/// A response.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The media type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// A JSON document with status 200.
    pub fn json(value: &Value) -> Self {
        Self { status: 200, content_type: "application/json", body: value.to_string().into_bytes() }
    }

    /// A plain text with a status.
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        Self { status, content_type: "text/plain; charset=utf-8", body: text.into().into_bytes() }
    }
}

/// A response that is being made.
pub type Answering = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// A handler of requests.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request.
    fn answer(self: Arc<Self>, call: Call) -> Answering;
}

/// A function may block; it does not delay other calls.
impl<F: Fn(Call) -> Reply + Send + Sync + 'static> Handler for F {
    fn answer(self: Arc<Self>, call: Call) -> Answering {
        Box::pin(async move {
            let answered = tokio::task::spawn_blocking(move || self(call)).await;
            answered.unwrap_or_else(|error| Reply::text(500, format!("no answer: {error}")))
        })
    }
}

/// A running listener.
pub struct Listener {
    name: String,
    address: SocketAddr,
    authority: String,
    // Dropping it stops the listener.
    task: serve::Task,
}

/// The certificate a listener presents.
#[derive(Clone)]
pub enum Credentials {
    /// A generated certificate with these names or addresses, signed by a generated authority.
    Own(Vec<String>),
    /// A certificate with its key and the authority that signed it, all in PEM.
    Given {
        /// The certificate, with its intermediate certificates.
        certificate: String,
        /// Its key.
        key: String,
        /// The authority.
        authority: String,
    },
}

impl Listener {
    /// Listens on an address that an API server can reach, on a free port, with a certificate for its name.
    pub async fn start(access: &HostAccess, handler: impl Handler) -> Result<Self, ClusterError> {
        let ip: IpAddr = access.listen.parse().map_err(|_| ClusterError::Listen {
            address: access.listen.clone(),
            why: "this is not an IP address".into(),
        })?;
        let names = Credentials::Own(vec![access.name.clone()]);
        Self::bind(SocketAddr::new(ip, 0), names, handler).await
    }

    /// Listens at an address.
    pub async fn bind(
        address: SocketAddr,
        credentials: Credentials,
        handler: impl Handler,
    ) -> Result<Self, ClusterError> {
        // The CRD names a name of the certificate, because an address such as 0.0.0.0 cannot be called.
        let name = match &credentials {
            Credentials::Own(names) => names.first().cloned(),
            Credentials::Given { .. } => None,
        };
        let (pair, authority) = match credentials {
            Credentials::Given { certificate, key, authority } => (Pair { certificate, key }, authority),
            Credentials::Own(names) => {
                let authority = Authority::new()?;
                let own = address.ip().to_string();
                let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
                names.extend(["localhost", "127.0.0.1", &own]);
                names.sort_unstable();
                names.dedup();
                (authority.server("crdproof", &names)?, authority.certificate)
            }
        };
        let (address, task) = serve::start(address, &pair, Arc::new(handler)).await?;
        Ok(Self { name: name.unwrap_or_else(|| address.ip().to_string()), address, authority, task })
    }

    /// Accepts no more connections, and lets open ones finish their requests.
    pub async fn stop(self) {
        self.task.stop().await;
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The authority that signed its certificate, in PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The `clientConfig` of this listener, with a path.
    pub fn client_config(&self, path: &str) -> Value {
        let bundle = base64::engine::general_purpose::STANDARD.encode(&self.authority);
        json!({"url": format!("https://{}:{}{path}", self.name, self.address.port()), "caBundle": bundle})
    }

    /// A CRD whose conversion calls this listener.
    pub fn redirect(&self, crd: &Value) -> Value {
        let mut crd = crd.clone();
        crd["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1", "v1beta1"], "clientConfig": self.client_config("/convert")}});
        crd
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("address", &self.address).finish_non_exhaustive()
    }
}
