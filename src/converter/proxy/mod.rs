//! The HTTPS listener between an API server and a converter. It has a certificate of its own, whose
//! authority is the `caBundle` for the CRD, and it ends when it is dropped.

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

/// A request that came in.
#[derive(Debug, Clone)]
pub struct Call {
    /// `POST`, mostly.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The body, byte by byte.
    pub body: Vec<u8>,
}

/// A response to be sent.
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

/// An answer that is on its way.
pub type Answering = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// A handler of requests.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request.
    fn answer(self: Arc<Self>, call: Call) -> Answering;
}

/// A function may take its time, and holds up no other call.
impl<F: Fn(Call) -> Reply + Send + Sync + 'static> Handler for F {
    fn answer(self: Arc<Self>, call: Call) -> Answering {
        Box::pin(async move {
            let answered = tokio::task::spawn_blocking(move || self(call)).await;
            answered.unwrap_or_else(|error| Reply::text(500, format!("no answer: {error}")))
        })
    }
}

/// A listener that runs.
pub struct Listener {
    name: String,
    address: SocketAddr,
    authority: String,
    // Its end is the listener's end.
    task: serve::Task,
}

/// By what a listener is known.
#[derive(Clone)]
pub enum Credentials {
    /// A certificate of an authority that is made for it, with these names or addresses.
    Own(Vec<String>),
    /// A certificate with its key and the authority that signed it, all in PEM.
    Given {
        /// The certificate, and what stands between it and the authority.
        certificate: String,
        /// Its key.
        key: String,
        /// The authority.
        authority: String,
    },
}

impl Listener {
    /// Listens where an API server reaches this machine, on a free port, with a certificate of that name.
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
        // What a CRD is told: a name of the certificate is surer than an address such as 0.0.0.0.
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

    /// Takes no more connections and lets those that are open finish what they are at.
    pub async fn stop(self) {
        self.task.stop().await;
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The authority that signed its certificate, in PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The `clientConfig` by which an API server finds this listener, at a path.
    pub fn client_config(&self, path: &str) -> Value {
        let bundle = base64::engine::general_purpose::STANDARD.encode(&self.authority);
        json!({"url": format!("https://{}:{}{path}", self.name, self.address.port()), "caBundle": bundle})
    }

    /// A CRD whose conversion asks this listener.
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
