//! A webhook over HTTP and TLS, asked as API servers ask.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::{Method, Request as HttpRequest, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use super::endpoint::{Endpoint, Request};
use super::greeting::{self, Authorities, Shown};
use crate::evidence::{Outcome, Transport};

/// As long as an API server waits for a conversion.
const PATIENCE: Duration = Duration::from_secs(30);

/// An answer that is longer is cut off: no API server could use it.
const LONGEST_ANSWER: usize = 64 << 20;

/// How many requests are in flight at once.
const TOGETHER: usize = 32;

/// A webhook at an address.
pub struct Webhook {
    uri: Uri,
    connector: HttpsConnector<HttpConnector>,
    /// Those that nobody uses at the moment.
    lanes: Mutex<Vec<Lane>>,
    patience: Duration,
    tls: Arc<rustls::ClientConfig>,
    authorities: Option<Authorities>,
    met: tokio::sync::OnceCell<Shown>,
}

/// A way to the endpoint for one caller at a time. Its connection is worked on by the caller's own thread, so that no
/// other has to be woken up for a request; and as it is with several API servers, nobody waits for another one's answer.
struct Lane {
    runtime: tokio::runtime::Runtime,
    http: Http,
}

type Http = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

impl Lane {
    fn new(connector: HttpsConnector<HttpConnector>) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        Ok(Self { runtime, http: Client::builder(TokioExecutor::new()).build(connector) })
    }
}

impl Webhook {
    /// Asks at this address. Its certificate is compared with these authorities, in PEM, or those of the CRD or the
    /// machine, but it is asked whatever comes of that. `Err` says what cannot be used.
    pub fn new(url: &str, authorities: Option<&[u8]>) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("{url:?} is no address: {error}"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
            return Err(format!("{url:?} is no address; write https://HOST:PORT/PATH"));
        }
        let authorities = authorities.map(|pem| Authorities::read("the CA of `caFile`", pem)).transpose()?;
        let config = greeting::client_config()?;
        let tls = Arc::new(config.clone());
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        // The end of a body must not wait for the acknowledgement of its start.
        http.set_nodelay(true);
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(http);
        let met = tokio::sync::OnceCell::new();
        Ok(Self { uri, connector, lanes: Mutex::default(), patience: PATIENCE, tls, authorities, met })
    }

    /// Does something in a lane of its own. `Err` says why there is none.
    fn in_lane<T>(&self, act: impl AsyncFnOnce(&Http) -> T) -> Result<T, String> {
        let idle = self.lanes.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let lane = idle.map_or_else(|| Lane::new(self.connector.clone()), Ok)?;
        let done = lane.runtime.block_on(act(&lane.http));
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).push(lane);
        Ok(done)
    }

    /// Closes all connections that nobody uses. An endpoint that is asked to end would wait for them: between requests
    /// nobody works on a lane, so that its goodbye is not heard.
    pub(super) fn hang_up(&self) {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Waits this long instead of as long as an API server.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Says whose the authorities are.
    pub(super) fn trusting(mut self, whose: &str) -> Self {
        if let Some(authorities) = &mut self.authorities {
            whose.clone_into(&mut authorities.whose);
        }
        self
    }

    /// The host as certificates name it: an address of IPv6 without brackets.
    fn host(&self) -> &str {
        self.uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    /// Meets the endpoint, once.
    async fn meet(&self) -> Result<&Shown, String> {
        let meet = async {
            match self.uri.scheme_str() {
                Some("https") => {
                    let port = self.uri.port_u16().unwrap_or(443);
                    greeting::meet(Arc::clone(&self.tls), self.host(), port).await
                }
                _ => Ok(None),
            }
        };
        self.met.get_or_try_init(|| meet).await
    }

    /// The address with the scheme that the endpoint understands.
    fn address(&self, met: &Shown) -> Result<Uri, String> {
        let mut parts = self.uri.clone().into_parts();
        if met.is_none() {
            parts.scheme = Some(http::uri::Scheme::HTTP);
        }
        Uri::from_parts(parts).map_err(|error| error.to_string())
    }

    /// Sends one request, and waits no longer than this.
    pub(super) fn send_within(&self, request: &Request, patience: Duration) -> (Outcome, Duration) {
        let patience = patience.min(self.patience);
        let asked = self.in_lane(async |http| self.ask(http, request, patience).await);
        asked.unwrap_or_else(|why| (Outcome::Failed(why), Duration::ZERO))
    }

    async fn ask(&self, http: &Http, request: &Request, patience: Duration) -> (Outcome, Duration) {
        let started = Instant::now();
        let outcome = match tokio::time::timeout(patience, self.exchange(http, request)).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(why)) => Outcome::Failed(why),
            Err(_) => Outcome::Failed(format!("no answer within {} s", patience.as_secs_f32())),
        };
        (outcome, started.elapsed())
    }

    async fn exchange(&self, http: &Http, request: &Request) -> Result<Outcome, String> {
        let method = Method::from_bytes(request.method.as_bytes()).map_err(|error| error.to_string())?;
        let built = HttpRequest::builder()
            .method(method)
            .uri(self.address(self.meet().await?)?)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, */*")
            .body(Full::new(request.body.clone()))
            .map_err(|error| error.to_string())?;
        let response = http.request(built).await.map_err(|error| crdproof_envtest::whole(&error))?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, LONGEST_ANSWER).collect().await;
        let body =
            body.map_err(|error| format!("the answer broke off: {}", crdproof_envtest::whole(&*error)))?.to_bytes();
        let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Ok(Outcome::Answered {
            status: parts.status.as_u16(),
            content_type: content_type.map(str::to_owned),
            body: String::from_utf8(body.into())
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        })
    }
}

impl Endpoint for Webhook {
    fn transport(&self, bundle: Option<&[u8]>) -> Option<Transport> {
        let met = self.in_lane(async |_| tokio::time::timeout(self.patience, self.meet()).await);
        let shown = met.ok()?.ok()?.ok()?;
        if let Some(authorities) = &self.authorities {
            return greeting::transport(self.host(), shown, authorities);
        }
        // A bundle that cannot be read is another check's affair.
        let bundle = bundle.and_then(|pem| Authorities::read("the CRD's caBundle", pem).ok());
        greeting::transport(self.host(), shown, &bundle.unwrap_or_else(Authorities::of_the_machine))
    }

    fn send(&self, request: &Request) -> (Outcome, Duration) {
        self.send_within(request, self.patience)
    }

    fn send_together(&self, requests: &[Request]) -> Vec<(Outcome, Duration)> {
        let answers = self.in_lane(async |http| {
            let mut answers = Vec::with_capacity(requests.len());
            for some in requests.chunks(TOGETHER) {
                let asked: Vec<_> = some.iter().map(|request| self.ask(http, request, self.patience)).collect();
                answers.extend(futures::future::join_all(asked).await);
            }
            answers
        });
        answers.unwrap_or_else(|why| requests.iter().map(|_| (Outcome::Failed(why.clone()), Duration::ZERO)).collect())
    }
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("url", &self.uri).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn connections_last_until_we_hang_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/convert", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let mut lines = BufReader::new(stream);
            for _ in 0..2 {
                let mut line = String::new();
                while lines.read_line(&mut line).unwrap() > 2 {
                    line.clear();
                }
                lines.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
            }
            lines.read(&mut [0]).unwrap()
        });
        let webhook = Webhook::new(&url, None).unwrap();
        for _ in 0..2 {
            let (outcome, _) = webhook.send(&Request::get());
            assert!(matches!(&outcome, Outcome::Answered { body, .. } if body == "{}"), "{outcome:?}");
        }
        webhook.hang_up();
        assert_eq!(server.join().unwrap(), 0, "the end of the connection, and not of the server's patience");
    }
}
