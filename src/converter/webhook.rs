//! A webhook over HTTP and TLS, called as API servers do it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::{Method, Request as HttpRequest, Uri, header};
use http_body_util::Full;

use super::endpoint::{Endpoint, Request};
use super::http::{Client, Server, runtime};
use super::tls::{self, Authorities, PeerChain};
use crate::evidence::{NO_ANSWER, Outcome, Transport};
use crate::subject::webhook_url;

/// The timeout of API servers for a conversion.
const TIMEOUT: Duration = Duration::from_secs(30);

/// After so many timeouts the endpoint hangs, and is not asked again: a run must end within a minute.
const MAX_TIMEOUTS: usize = 3;

/// The timeout of an answer once another request had none.
const TIMEOUT_AFTER_TIMEOUT: Duration = Duration::from_secs(10);

/// The number of concurrent requests.
const MAX_CONCURRENT: usize = 32;

/// A webhook at an address.
pub struct Webhook {
    uri: Uri,
    client: Client,
    timeout: Duration,
    tls: Arc<rustls::ClientConfig>,
    authorities: Option<Authorities>,
    met: tokio::sync::OnceCell<PeerChain>,
    /// The number of requests that timed out.
    timeouts: AtomicUsize,
}

impl Webhook {
    /// Uses this address. Its certificate is compared with these authorities, in PEM, or those of the CRD or the
    /// machine; it is called whatever the result. `Err` says what cannot be used.
    pub fn new(url: &str, authorities: Option<&[u8]>) -> Result<Self, String> {
        let uri = webhook_url(url)?;
        let authorities = authorities.map(|pem| Authorities::read("the CA of `caFile`", pem)).transpose()?;
        let tls = tls::client_config()?;
        let client = Client::new(tls.clone());
        let met = tokio::sync::OnceCell::new();
        let timeouts = AtomicUsize::new(0);
        Ok(Self { uri, client, timeout: TIMEOUT, tls: Arc::new(tls), authorities, met, timeouts })
    }

    /// Closes idle connections. A server that shuts down may wait for them otherwise.
    pub(super) fn close_idle_connections(&self) {
        self.client.close_idle();
    }

    /// Starts to count timeouts anew.
    pub(super) fn forget_timeouts(&self) {
        self.timeouts.store(0, Ordering::Relaxed);
    }

    /// Waits this long instead of as long as an API server.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Compares its certificate with other authorities, in PEM.
    pub(super) fn trust(&mut self, authorities: &[u8]) -> Result<(), String> {
        self.authorities = Some(Authorities::read("the CA of `caFile`", authorities)?);
        Ok(())
    }

    /// Names the authorities for messages.
    pub(super) fn trusting(mut self, whose: &str) -> Self {
        if let Some(authorities) = &mut self.authorities {
            whose.clone_into(&mut authorities.whose);
        }
        self
    }

    /// The host as certificates name it: an IPv6 address without brackets.
    fn host(&self) -> &str {
        self.uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    fn port(&self) -> u16 {
        let default = if self.uri.scheme_str() == Some("https") { 443 } else { 80 };
        self.uri.port_u16().unwrap_or(default)
    }

    /// Performs the handshake, once.
    async fn handshake(&self) -> Result<&PeerChain, String> {
        let handshake = async {
            match self.uri.scheme_str() {
                Some("https") => tls::handshake(Arc::clone(&self.tls), self.host(), self.port()).await,
                _ => Ok(None),
            }
        };
        self.met.get_or_try_init(|| handshake).await
    }

    /// Sends one request, with this timeout.
    pub(super) fn send_within(&self, request: &Request, timeout: Duration) -> (Outcome, Duration) {
        match runtime() {
            Ok(runtime) => runtime.block_on(self.attempt(request, timeout.min(self.timeout))),
            Err(why) => (Outcome::Failed(why), Duration::ZERO),
        }
    }

    async fn attempt(&self, request: &Request, timeout: Duration) -> (Outcome, Duration) {
        let started = Instant::now();
        let timeouts = self.timeouts.load(Ordering::Relaxed);
        let timeout = if timeouts == 0 { timeout } else { timeout.min(TIMEOUT_AFTER_TIMEOUT) };
        if timeouts >= MAX_TIMEOUTS {
            let within = timeout.as_secs_f32();
            let why = format!("{NO_ANSWER} {within} s to {timeouts} requests, so it is not called again");
            return (Outcome::Failed(why), Duration::ZERO);
        }
        let Ok(ended) = tokio::time::timeout(timeout, self.exchange(request)).await else {
            self.timeouts.fetch_add(1, Ordering::Relaxed);
            let why = format!("{NO_ANSWER} {} s", timeout.as_secs_f32());
            return (Outcome::Failed(why), started.elapsed());
        };
        (ended.unwrap_or_else(Outcome::Failed), started.elapsed())
    }

    async fn exchange(&self, request: &Request) -> Result<Outcome, String> {
        let server = Server { host: self.host(), port: self.port(), tls: self.handshake().await?.is_some() };
        let method = Method::from_bytes(request.method.as_bytes()).map_err(|error| error.to_string())?;
        let host = self.uri.authority().map_or("", |authority| authority.as_str().rsplit('@').next().unwrap_or(""));
        let request = HttpRequest::builder()
            .method(method)
            .uri(self.uri.path_and_query().map_or("/", |path| path.as_str()))
            .header(header::HOST, host)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, */*")
            .body(Full::new(request.body.clone()))
            .map_err(|error| error.to_string())?;
        let (parts, body) = self.client.request(&server, request).await?.into_parts();
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
        let meeting = async { tokio::time::timeout(self.timeout, self.handshake()).await };
        let shown = runtime().ok()?.block_on(meeting).ok()?.ok()?;
        if let Some(authorities) = &self.authorities {
            return tls::transport(self.host(), shown, authorities);
        }
        // Another check reports a bundle that cannot be read.
        let bundle = bundle.and_then(|pem| Authorities::read("the CRD's caBundle", pem).ok());
        tls::transport(self.host(), shown, &bundle.unwrap_or_else(Authorities::of_the_machine))
    }

    fn send(&self, request: &Request) -> (Outcome, Duration) {
        self.send_within(request, self.timeout)
    }

    fn hangs(&self) -> bool {
        self.timeouts.load(Ordering::Relaxed) >= MAX_TIMEOUTS
    }

    fn send_together(&self, requests: &[Request]) -> Vec<(Outcome, Duration)> {
        let runtime = match runtime() {
            Ok(runtime) => runtime,
            Err(why) => return requests.iter().map(|_| (Outcome::Failed(why.clone()), Duration::ZERO)).collect(),
        };
        runtime.block_on(async {
            let mut answers = Vec::with_capacity(requests.len());
            for some in requests.chunks(MAX_CONCURRENT) {
                let asked = some.iter().map(|request| self.attempt(request, self.timeout));
                answers.extend(futures::future::join_all(asked).await);
            }
            answers
        })
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
    use std::net::{TcpListener, TcpStream};

    use super::*;

    const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

    /// Runs a plain HTTP/1.1 server that passes every connection with its number to `serve`, and returns its address.
    fn server(serve: impl Fn(usize, BufReader<TcpStream>) + Send + Sync + 'static) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/convert", listener.local_addr().unwrap());
        let serve = Arc::new(serve);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let serve = Arc::clone(&serve);
                std::thread::spawn(move || serve(number, BufReader::new(stream)));
            }
        });
        url
    }

    /// Reads the head of a request without a body. `false` if the connection ends or times out before.
    fn read_request(stream: &mut BufReader<TcpStream>) -> bool {
        let mut line = String::new();
        loop {
            line.clear();
            match stream.read_line(&mut line) {
                Ok(0) | Err(_) => return false,
                Ok(2) => return true,
                Ok(_) => {}
            }
        }
    }

    fn respond(stream: &mut BufReader<TcpStream>) {
        stream.get_mut().write_all(OK).unwrap();
    }

    #[track_caller]
    fn assert_answered(outcome: &Outcome) {
        assert!(matches!(outcome, Outcome::Answered { status: 200, body, .. } if body == "{}"), "{outcome:?}");
    }

    #[test]
    fn a_connection_is_kept_until_idle_connections_are_closed() {
        let (ended, end) = std::sync::mpsc::channel();
        let url = server(move |_, mut stream| {
            stream.get_ref().set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            for _ in 0..2 {
                assert!(read_request(&mut stream));
                respond(&mut stream);
            }
            ended.send(stream.read(&mut [0]).unwrap()).unwrap();
        });
        let webhook = Webhook::new(&url, None).unwrap();
        for _ in 0..2 {
            assert_answered(&webhook.send(&Request::get()).0);
        }
        webhook.close_idle_connections();
        assert_eq!(end.recv_timeout(Duration::from_secs(10)), Ok(0), "the connection is closed");
    }

    #[test]
    fn a_server_that_closes_idle_connections_at_once_answers_every_request() {
        let url = server(|_, mut stream| {
            while read_request(&mut stream) {
                respond(&mut stream);
                // A connection is idle only after its first response.
                stream.get_ref().set_read_timeout(Some(Duration::from_millis(2))).unwrap();
            }
        });
        let webhook = Webhook::new(&url, None).unwrap();
        for number in 0..400 {
            assert_answered(&webhook.send(&Request::get()).0);
            std::thread::sleep(Duration::from_micros(1500 + number * 3));
        }
    }

    #[test]
    fn a_request_is_sent_again_if_a_reused_connection_is_closed_without_a_response() {
        // Every connection answers one request, reads the next and closes.
        let read = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&read);
        let url = server(move |_, mut stream| {
            read_request(&mut stream);
            respond(&mut stream);
            count.fetch_add(usize::from(read_request(&mut stream)), Ordering::SeqCst);
        });
        let webhook = Webhook::new(&url, None).unwrap();
        for _ in 0..10 {
            assert_answered(&webhook.send(&Request::get()).0);
        }
        assert!(read.load(Ordering::SeqCst) > 0, "connections were reused");
    }

    #[test]
    fn a_request_on_a_new_connection_is_sent_once() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let url = server(move |_, mut stream| {
            count.fetch_add(usize::from(read_request(&mut stream)), Ordering::SeqCst);
        });
        let webhook = Webhook::new(&url, None).unwrap();
        let (outcome, _) = webhook.send(&Request::get());
        assert!(matches!(&outcome, Outcome::Failed(why) if why.contains("closed")), "{outcome:?}");
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_server_that_stops_responding_is_called_twice_at_most() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let url = server(move |number, mut stream| {
            while read_request(&mut stream) {
                count.fetch_add(1, Ordering::SeqCst);
                if number > 0 || count.load(Ordering::SeqCst) > 1 {
                    return;
                }
                respond(&mut stream);
            }
        });
        let webhook = Webhook::new(&url, None).unwrap();
        assert_answered(&webhook.send(&Request::get()).0);
        assert!(matches!(webhook.send(&Request::get()).0, Outcome::Failed(_)));
        assert_eq!(asked.load(Ordering::SeqCst), 3, "once before, once on the kept connection, once on a new one");
    }

    #[test]
    fn an_endpoint_that_hangs_or_drips_is_called_three_times() {
        let hang = |_, mut stream: BufReader<TcpStream>| {
            read_request(&mut stream);
            while stream.get_mut().write_all(b"H").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        let webhook = Webhook::new(&server(hang), None).unwrap().timeout(Duration::from_millis(200));
        let began = Instant::now();
        let said: Vec<Outcome> = (0..100).map(|_| webhook.send(&Request::get()).0).collect();
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        assert_eq!(said[2], Outcome::Failed("no answer within 0.2 s".into()));
        let why = "no answer within 0.2 s to 3 requests, so it is not called again";
        assert_eq!(said[99], Outcome::Failed(why.into()));
        assert!(webhook.hangs());
    }

    #[test]
    fn a_disproportionate_response_is_not_read() {
        let url = server(|_, mut stream| {
            read_request(&mut stream);
            let stream = stream.get_mut();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10000000\r\n\r\n").unwrap();
            while stream.write_all(&[b'x'; 10_000]).is_ok() {}
        });
        let (outcome, _) = Webhook::new(&url, None).unwrap().send(&Request::get());
        assert!(
            matches!(&outcome, Outcome::Failed(why) if why.contains("more than 262144 bytes for 0")),
            "{outcome:?}"
        );
    }
}
