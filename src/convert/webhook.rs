//! A webhook over HTTP and TLS, asked as API servers ask.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, Request as HttpRequest, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::endpoint::{Endpoint, Request};
use crate::observe::Outcome;

/// As long as an API server waits for a conversion.
const PATIENCE: Duration = Duration::from_secs(30);

/// An answer that is longer is cut off: no API server could use it.
const LONGEST_ANSWER: usize = 64 << 20;

/// How many requests are in flight at once.
const TOGETHER: usize = 32;

/// A webhook at an address.
pub struct Webhook {
    url: String,
    runtime: tokio::runtime::Runtime,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    patience: Duration,
}

impl Webhook {
    /// Asks at this address, and trusts these authorities, in PEM, or those of the machine. `Err` says what
    /// cannot be used.
    pub fn new(url: &str, authorities: Option<&[u8]>) -> Result<Self, String> {
        let uri: http::Uri = url.parse().map_err(|error| format!("{url:?} is no address: {error}"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
            return Err(format!("{url:?} is no address; write https://HOST:PORT/PATH"));
        }
        let mut roots = rustls::RootCertStore::empty();
        if let Some(pem) = authorities {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|error| format!("the CA is no PEM: {error}"))?;
                roots.add(certificate).map_err(|error| format!("the CA cannot be used: {error}"))?;
            }
            if roots.is_empty() {
                return Err("the CA holds no certificate".into());
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| error.to_string())?.with_root_certificates(roots).with_no_client_auth();
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        // The end of a body must not wait for the acknowledgement of its start.
        http.set_nodelay(true);
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(http);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { url: url.to_owned(), runtime, client, patience: PATIENCE })
    }

    /// Waits this long instead of as long as an API server.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    async fn ask(&self, request: &Request) -> (Outcome, Duration) {
        let started = Instant::now();
        let outcome = match tokio::time::timeout(self.patience, self.exchange(request)).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(why)) => Outcome::Failed(why),
            Err(_) => Outcome::Failed(format!("no answer within {} s", self.patience.as_secs_f32())),
        };
        (outcome, started.elapsed())
    }

    async fn exchange(&self, request: &Request) -> Result<Outcome, String> {
        let method = Method::from_bytes(request.method.as_bytes()).map_err(|error| error.to_string())?;
        let built = HttpRequest::builder()
            .method(method)
            .uri(&self.url)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, */*")
            .body(Full::new(Bytes::from(request.body.clone())))
            .map_err(|error| error.to_string())?;
        let response = self.client.request(built).await.map_err(|error| crate::cluster::whole(&error))?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, LONGEST_ANSWER).collect().await;
        let body =
            body.map_err(|error| format!("the answer broke off: {}", crate::cluster::whole(&*error)))?.to_bytes();
        let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Ok(Outcome::Answered {
            status: parts.status.as_u16(),
            content_type: content_type.map(str::to_owned),
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }
}

impl Endpoint for Webhook {
    fn send(&self, request: &Request) -> (Outcome, Duration) {
        self.runtime.block_on(self.ask(request))
    }

    fn send_together(&self, requests: &[Request]) -> Vec<(Outcome, Duration)> {
        self.runtime.block_on(async {
            let mut answers = Vec::with_capacity(requests.len());
            for some in requests.chunks(TOGETHER) {
                let asked: Vec<_> = some.iter().map(|request| self.ask(request)).collect();
                answers.extend(futures::future::join_all(asked).await);
            }
            answers
        })
    }
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("url", &self.url).finish_non_exhaustive()
    }
}
