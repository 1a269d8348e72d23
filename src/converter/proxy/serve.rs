//! Accepting connections, and answering their requests.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::{Call, Handler, Reply};
use crdproof_envtest::{ClusterError, Pair};

/// Maximum size of a body. API servers limit requests to 3 MiB, but not the list of objects to convert, so this is
/// generous.
const MAX_BODY_BYTES: usize = 64 << 20;

/// Maximum number of bytes of all bodies in memory: one of maximum size, or several smaller ones. Answering a body
/// needs about three times its length (itself, parsed, the response), so this limits the memory.
const MAX_BYTES_IN_MEMORY: usize = MAX_BODY_BYTES;

/// The timeouts of a client to send the head of a request, and its body.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of open connections. More wait to be accepted; idle ones are closed soon.
const MAX_CONNECTIONS: usize = 1000;

/// The timeout of a client's handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The timeout for connections to finish.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// The accepting task. Dropping it closes every connection.
pub(super) struct Task {
    handle: JoinHandle<()>,
    stop: Option<oneshot::Sender<()>>,
}

impl Task {
    /// Accepts no more connections, and lets open ones finish their requests, up to a timeout.
    pub(super) async fn stop(mut self) {
        drop(self.stop.take());
        // Connections that do not end in time are closed when this is dropped.
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, &mut self.handle).await;
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

/// Starts to listen, and returns the address.
pub(super) async fn start(
    address: SocketAddr,
    pair: &Pair,
    handler: Arc<dyn Handler>,
) -> Result<(SocketAddr, Task), ClusterError> {
    let refused = |why: String| ClusterError::Listen { address: address.to_string(), why };
    let acceptor = acceptor(pair).map_err(refused)?;
    let listener = TcpListener::bind(address).await.map_err(|error| refused(error.to_string()))?;
    let bound = listener.local_addr().map_err(|error| refused(error.to_string()))?;
    let (stop, mut stopped) = oneshot::channel();
    let (ending, ended) = watch::channel(false);
    let handle = tokio::spawn(async move {
        // Connections are owned by this task, so that they end with it.
        let mut connections = tokio::task::JoinSet::new();
        let server = Server { handler, bodies: Arc::new(Semaphore::new(MAX_BYTES_IN_MEMORY)) };
        loop {
            tokio::select! {
                accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(connection(stream, acceptor.clone(), server.clone(), ended.clone()));
                    }
                    // Usually too many open files; this resolves when another connection ends.
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                },
                Some(_) = connections.join_next() => {}
                _ = &mut stopped => break,
            }
        }
        drop(listener);
        // Fails only if no connection is left.
        let _ = ending.send(true);
        while connections.join_next().await.is_some() {}
    });
    Ok((bound, Task { handle, stop: Some(stop) }))
}

fn acceptor(pair: &Pair) -> Result<TlsAcceptor, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pair.certificate.as_bytes()).collect();
    let chain = chain.map_err(|error| error.to_string())?;
    let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).map_err(|error| error.to_string())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?.with_no_client_auth().with_single_cert(chain, key);
    let mut config = config.map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The state that all connections share.
#[derive(Clone)]
struct Server {
    handler: Arc<dyn Handler>,
    /// The number of body bytes that may still be read.
    bodies: Arc<Semaphore>,
}

/// Serves one connection. Errors of a connection are the client's.
async fn connection(stream: TcpStream, acceptor: TlsAcceptor, server: Server, mut ending: watch::Receiver<bool>) {
    // Send small responses at once.
    let _ = stream.set_nodelay(true);
    let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await else { return };
    let service = hyper::service::service_fn(|request| respond(request, server.clone()));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    builder.http2().timer(TokioTimer::new()).keep_alive_interval(HEAD_TIMEOUT).keep_alive_timeout(HEAD_TIMEOUT);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = connection.as_mut() => {}
        // The value changes only once.
        _ = ending.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn respond(request: Request<Incoming>, server: Server) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    // A body of unknown length may have the maximum length.
    let length = body.size_hint().upper().and_then(|length| usize::try_from(length).ok()).unwrap_or(MAX_BODY_BYTES);
    let length = length.min(MAX_BODY_BYTES);
    // Held until the response is sent. The semaphore is never closed.
    let _held = server.bodies.acquire_many(u32::try_from(length).unwrap_or(u32::MAX)).await;
    let reply = match tokio::time::timeout(BODY_TIMEOUT, read(body, length)).await {
        Ok(Ok(body)) => {
            let path = parts.uri.path_and_query().map_or_else(|| "/".into(), ToString::to_string);
            let call = Call { method: parts.method.to_string(), path, body };
            server.handler.answer(call).await
        }
        Ok(Err(error)) => Reply::text(413, format!("the request's body cannot be read: {error}")),
        Err(_) => Reply::text(408, format!("the request's body did not come within {} s", BODY_TIMEOUT.as_secs())),
    };
    let response = Response::builder().status(reply.status).header("content-type", reply.content_type);
    let whole = response.body(Full::new(Bytes::from(reply.body)));
    // Fails only for an invalid status.
    Ok(whole.unwrap_or_else(|_| Response::new(Full::new(Bytes::from_static(b"no such status")))))
}

/// Reads a body of about this length into one buffer; collecting its frames first would need twice the memory.
async fn read(body: Incoming, length: usize) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    let mut body = Limited::new(body, MAX_BODY_BYTES);
    let mut bytes = Vec::with_capacity(length);
    while let Some(frame) = body.frame().await {
        if let Some(data) = frame?.data_ref() {
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes)
}
