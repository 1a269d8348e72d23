//! Accepting connections, and answering on each as long as it lasts.

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

/// More than an API server ever sends: its own limit for a request is 3 MiB, for a list of objects to
/// convert there is none, so this is generous.
const LONGEST_BODY: usize = 64 << 20;

/// The number of bytes of bodies that are held at once: one of the longest, or several others. A body that is
/// being answered takes its length about three times (itself, parsed, the response), so this bounds the memory.
const BODIES: usize = LONGEST_BODY;

/// The timeouts for a client to send the head of a request, and its body.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The number of connections that are served at once. More wait to be accepted; idle ones are closed soon.
const CONNECTIONS: usize = 1000;

/// The timeout of a client's handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The timeout for connections to finish.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// The accepting task; dropped, it ends, and with it every connection.
pub(super) struct Task {
    handle: JoinHandle<()>,
    stop: Option<oneshot::Sender<()>>,
}

impl Task {
    /// Takes no more connections, and lets those that are open finish what they are at, for a while.
    pub(super) async fn stop(mut self) {
        drop(self.stop.take());
        // What does not end in time is cut off when this is dropped.
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, &mut self.handle).await;
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

/// Starts to listen, and says where.
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
        // Connections live in here, so that they end with it.
        let mut connections = tokio::task::JoinSet::new();
        let server = Server { handler, bodies: Arc::new(Semaphore::new(BODIES)) };
        loop {
            tokio::select! {
                accepted = listener.accept(), if connections.len() < CONNECTIONS => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(connection(stream, acceptor.clone(), server.clone(), ended.clone()));
                    }
                    // Out of files, mostly; another connection's end helps.
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                },
                Some(_) = connections.join_next() => {}
                _ = &mut stopped => break,
            }
        }
        drop(listener);
        // Without a receiver left there is nobody to tell.
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
    /// The bytes of bodies that may still be held.
    bodies: Arc<Semaphore>,
}

/// Serves one connection. How it ends is the client's affair.
async fn connection(stream: TcpStream, acceptor: TlsAcceptor, server: Server, mut ending: watch::Receiver<bool>) {
    // Small answers must not wait for more to come.
    let _ = stream.set_nodelay(true);
    let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await else { return };
    let service = hyper::service::service_fn(|request| respond(request, server.clone()));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    builder.http2().timer(TokioTimer::new()).keep_alive_interval(HEAD_TIMEOUT).keep_alive_timeout(HEAD_TIMEOUT);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = connection.as_mut() => {}
        // There is one change, and it is this one.
        _ = ending.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn respond(request: Request<Incoming>, server: Server) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    // One of unknown length may be as long as any.
    let length = body.size_hint().upper().and_then(|length| usize::try_from(length).ok()).unwrap_or(LONGEST_BODY);
    let length = length.min(LONGEST_BODY);
    // Held until it is answered. The semaphore is never closed.
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
    // Only a status out of range cannot be said.
    Ok(whole.unwrap_or_else(|_| Response::new(Full::new(Bytes::from_static(b"no such status")))))
}

/// Reads a body of about that length into one buffer; collecting its frames first would hold it twice.
async fn read(body: Incoming, length: usize) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    let mut body = Limited::new(body, LONGEST_BODY);
    let mut bytes = Vec::with_capacity(length);
    while let Some(frame) = body.frame().await {
        if let Some(data) = frame?.data_ref() {
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes)
}
