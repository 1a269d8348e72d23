//! An HTTP/1.1 client that reuses connections as the Go client of API servers does.
//!
//! API servers never speak HTTP/2 to webhooks: <https://issue.k8s.io/75791>.

use std::error::Error as _;
use std::io::ErrorKind;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Body as _;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;

use crate::evidence::OUT_OF_PROPORTION;
use crdproof_envtest::error_chain;

/// Idle connections are closed after this time, as by Go's `http.DefaultTransport`.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// A connection is not reused if its request is not completely written this long after its response was read.
const WRITE_TIMEOUT: Duration = Duration::from_millis(10);

/// A longer response body is an error: a converter adds no more to what it got than this, and so many times its size. It is also
/// what a hostile one can make us hold for each of some hundred objects at once.
const MAX_ADDED: usize = 256 << 10;
const MAX_GROWTH: usize = 16;

/// Returns the runtime that all converters share. It lives as long as the process.
pub(super) fn runtime() -> Result<&'static Runtime, String> {
    static RUNTIME: LazyLock<std::io::Result<Runtime>> =
        LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().thread_name("converter").enable_all().build());
    RUNTIME.as_ref().map_err(|error| format!("cannot start threads for the converter: {error}"))
}

/// The server that a [`Client`] connects to.
pub(super) struct Server<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) tls: bool,
}

/// A client for one server, with a pool of idle connections.
pub(super) struct Client {
    tls: TlsConnector,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    connection: Connection,
    since: Instant,
}

type Connection = SendRequest<Full<Bytes>>;

impl Client {
    /// Uses this TLS configuration if the server speaks TLS.
    pub(super) fn new(mut tls: rustls::ClientConfig) -> Self {
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self { tls: TlsConnector::from(Arc::new(tls)), idle: Mutex::default() }
    }

    /// Sends a request and reads the whole response.
    ///
    /// A server may close an idle connection just when the next request is sent on it. That is not a fault of the
    /// server, so the request is sent again, once, on a new connection. A failure on a new connection is final.
    pub(super) async fn request(
        &self,
        server: &Server<'_>,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Bytes>, String> {
        if let Some(reused) = self.take_idle() {
            match self.send(reused, request.clone()).await {
                Err(Failure::NoResponse(error)) if is_closed_by_peer(&error) => {}
                result => return result.map_err(Failure::message),
            }
        }
        let connection = self.connect(server).await?;
        self.send(connection, request).await.map_err(Failure::message)
    }

    /// Closes the connections that no request uses.
    pub(super) fn close_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn take_idle(&self) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|idle| !idle.connection.is_closed() && idle.since.elapsed() < IDLE_TIMEOUT);
        idle.pop().map(|idle| idle.connection)
    }

    async fn connect(&self, server: &Server<'_>) -> Result<Connection, String> {
        let Server { host, port, tls } = *server;
        let failed = |why: String| format!("cannot connect to {host}:{port}: {why}");
        let stream = TcpStream::connect((host, port)).await.map_err(|error| failed(error.to_string()))?;
        // Send the end of a body before the server has acknowledged its start.
        stream.set_nodelay(true).map_err(|error| failed(error.to_string()))?;
        if !tls {
            return open(stream).await.map_err(|error| failed(error_chain(&error)));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(error.to_string()))?;
        let stream = self.tls.connect(name, stream).await.map_err(|error| failed(error.to_string()))?;
        open(stream).await.map_err(|error| failed(error_chain(&error)))
    }

    /// Sends a request on a connection, and keeps the connection for the next one if the server allows it.
    async fn send(
        &self,
        mut connection: Connection,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Bytes>, Failure> {
        let sent = request.body().size_hint().exact().and_then(|sent| usize::try_from(sent).ok()).unwrap_or_default();
        let limit = MAX_ADDED + MAX_GROWTH * sent;
        let (parts, body) = connection.send_request(request).await.map_err(Failure::NoResponse)?.into_parts();
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| match error.downcast_ref::<LengthLimitError>() {
            Some(_) => Failure::TooLong { sent, limit },
            None => Failure::Body(error),
        };
        let body = Limited::new(body, limit).collect().await.map_err(failed)?;
        if let Ok(Ok(())) = tokio::time::timeout(WRITE_TIMEOUT, connection.ready()).await {
            let idle = Idle { connection, since: Instant::now() };
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(idle);
        }
        Ok(Response::from_parts(parts, body.to_bytes()))
    }
}

/// Speaks HTTP/1.1 on a stream until either side closes it.
async fn open<S>(stream: S) -> hyper::Result<Connection>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let (connection, io) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(io);
    Ok(connection)
}

/// The reason why a request has no complete response.
enum Failure {
    NoResponse(hyper::Error),
    Body(Box<dyn std::error::Error + Send + Sync>),
    TooLong { sent: usize, limit: usize },
}

impl Failure {
    fn message(self) -> String {
        match self {
            Self::NoResponse(error) if is_closed_by_peer(&error) => {
                "the connection closed before a response came".into()
            }
            Self::NoResponse(error) => error_chain(&error),
            Self::TooLong { sent, limit } => {
                format!("{OUT_OF_PROPORTION}: more than {limit} bytes for {sent}, so it is not read")
            }
            Self::Body(error) => {
                format!("the connection closed before the response was complete: {}", error_chain(&*error))
            }
        }
    }
}

/// Returns true if the peer closed the connection instead of responding.
fn is_closed_by_peer(error: &hyper::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    let closed = [BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof];
    error.is_incomplete_message()
        || error.is_closed()
        || error.is_canceled()
        || io.is_some_and(|io| closed.contains(&io.kind()))
}
