//! A webhook of plain blocking sockets, which can do to a connection whatever there is.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};

/// A stream with or without TLS.
pub(crate) trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

/// One request, read whole.
pub(crate) struct Request {
    /// Its number at this server.
    pub(crate) number: usize,
    /// The review; null where it was none.
    pub(crate) review: Value,
}

/// The reaction of a webhook to a request, written to its connection.
pub(crate) type Answer = fn(&Request, &mut dyn Stream);

/// The behaviour of a webhook.
#[derive(Clone, Copy)]
pub(crate) enum Behaviour {
    /// Does this to the connection before anything is read.
    Connection(fn(TcpStream)),
    /// The same, at an address of HTTPS.
    Handshake(fn(TcpStream)),
    /// Reads reviews and answers so; other requests get a proper answer.
    Review(Answer),
    /// Answers rightly, with a certificate that is wrong in this way.
    Certificate(Wrong),
}

/// The defect of a certificate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It has expired.
    Expired,
    /// It is for another host.
    Name,
}

/// A running server.
pub(crate) struct Server {
    /// Its address.
    pub(crate) url: String,
    /// The certificate that clients should trust, in PEM.
    pub(crate) authority: Option<String>,
}

/// Starts a server that lives as long as this process.
pub(crate) fn start(behaviour: Behaviour) -> std::io::Result<Server> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let (scheme, tls) = match behaviour {
        Behaviour::Connection(_) | Behaviour::Review(_) => ("http", None),
        Behaviour::Handshake(_) => ("https", None),
        Behaviour::Certificate(wrong) => ("https", Some(certificate(wrong).map_err(std::io::Error::other)?)),
    };
    let (authority, config) = tls.unzip();
    let requests = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (config, requests) = (config.clone(), Arc::clone(&requests));
            std::thread::spawn(move || match behaviour {
                Behaviour::Connection(act) | Behaviour::Handshake(act) => act(stream),
                Behaviour::Review(answer) => serve(stream, &requests, answer),
                Behaviour::Certificate(_) => {
                    let Some(config) = config else { return };
                    let Ok(connection) = rustls::ServerConnection::new(config) else { return };
                    serve(rustls::StreamOwned::new(connection, stream), &requests, |request, stream| {
                        respond(stream, 200, &right(&request.review).to_string());
                    });
                }
            });
        }
    });
    Ok(Server { url: format!("{scheme}://{address}/convert"), authority })
}

fn certificate(wrong: Wrong) -> Result<(String, Arc<rustls::ServerConfig>), Box<dyn std::error::Error + Send + Sync>> {
    let host = if wrong == Wrong::Name { "other.example.com" } else { "127.0.0.1" };
    let mut params = CertificateParams::new(vec![host.to_owned()])?;
    if wrong == Wrong::Expired {
        params.not_before = rcgen::date_time_ymd(2019, 1, 1);
        params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    }
    let key = KeyPair::generate()?;
    let pem = params.self_signed(&key)?.pem();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(pem.as_bytes())?],
            PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes())?,
        )?;
    Ok((pem, Arc::new(config)))
}

/// Reads one request of a connection, and answers it.
fn serve(stream: impl Stream, requests: &AtomicUsize, answer: Answer) {
    let mut stream = BufReader::new(stream);
    let Some((method, body)) = read(&mut stream) else { return };
    let mut stream = stream.into_inner();
    if method != "POST" {
        return respond(&mut stream, 405, "POST only");
    }
    let review = serde_json::from_slice(&body).unwrap_or_default();
    let number = requests.fetch_add(1, Ordering::Relaxed);
    answer(&Request { number, review }, &mut stream);
}

fn read(stream: &mut BufReader<impl Read>) -> Option<(String, Vec<u8>)> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let method = line.split(' ').next()?.to_owned();
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line).ok().filter(|length| *length > 0)?;
        match line.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.trim().parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((method, body))
}

/// Writes an answer of JSON, and what else these headers say.
pub(crate) fn respond_with(stream: &mut dyn Stream, status: u16, headers: &str, body: &[u8]) {
    let head =
        format!("HTTP/1.1 {status} Status\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    send(stream, head.as_bytes());
    send(stream, body);
}

/// Writes an answer of JSON.
pub(crate) fn respond(stream: &mut dyn Stream, status: u16, body: &str) {
    respond_with(stream, status, "Content-Type: application/json\r\n", body.as_bytes());
}

/// Writes bytes. Whoever hung up does not get them.
pub(crate) fn send(stream: &mut dyn Stream, bytes: &[u8]) -> bool {
    stream.write_all(bytes).and_then(|()| stream.flush()).is_ok()
}

/// Keeps a connection open for longer than a run may take.
pub(crate) fn hang() {
    std::thread::sleep(Duration::from_secs(90));
}

/// Ends the sending half of a connection, and keeps the other one.
pub(crate) fn half_close(stream: &TcpStream) {
    let _gone_already = stream.shutdown(Shutdown::Write);
    hang();
}

/// The right answer to a review.
pub(crate) fn right(review: &Value) -> Value {
    let desired = &review["request"]["desiredAPIVersion"];
    let known = ["example.com/v1", "example.com/v2"].iter().any(|version| desired == version);
    let objects = review["request"]["objects"].as_array().cloned().unwrap_or_default();
    if !known || objects.iter().any(|object| object["kind"] != "Widget") {
        return answer(review, &json!({"status": "Failure", "message": "cannot be converted"}), Vec::new());
    }
    let convert = |mut object: Value| {
        object["apiVersion"] = desired.clone();
        if object["metadata"].is_null() {
            object["metadata"] = json!({});
        }
        object
    };
    answer(review, &json!({"status": "Success"}), objects.into_iter().map(convert).collect())
}

/// An answer to a review with this result and these objects.
pub(crate) fn answer(review: &Value, result: &Value, objects: Vec<Value>) -> Value {
    let mut answer = json!({"apiVersion": review["apiVersion"], "kind": "ConversionReview",
        "response": {"uid": review["request"]["uid"], "result": result}});
    answer["response"]["convertedObjects"] = Value::Array(objects);
    answer
}
