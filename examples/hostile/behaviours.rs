//! Everything that a hostile webhook does.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Behaviour, Request, Stream, Wrong, answer, half_close, hang, respond, respond_with, right, send};
use Behaviour::{Certificate, Connection, Handshake, Review};

const JSON: &str = "Content-Type: application/json\r\n";

/// All behaviours with their names.
pub(crate) const ALL: &[(&str, Behaviour)] = &[
    ("hangs on connect", Connection(|stream| drop((hang(), stream)))),
    ("hangs in the TLS handshake", Handshake(|stream| drop((hang(), stream)))),
    ("hangs on every review", Review(|_, _| hang())),
    ("hangs on every other review", Review(every_other_hangs)),
    (
        "hangs after the headers",
        Review(|_, stream| {
            head(stream, "Content-Length: 100\r\n");
            hang();
        }),
    ),
    ("hangs in the middle of the body", Review(half_of_the_body)),
    ("drips one byte each 100 ms", Review(drips)),
    ("drips headers", Review(drips_headers)),
    ("closes without an answer", Review(|_, _| ())),
    ("resets the connection", Connection(resets)),
    ("speaks no TLS at an HTTPS address", Handshake(speaks_plainly)),
    ("shows an expired certificate", Certificate(Wrong::Expired)),
    ("shows the certificate of another host", Certificate(Wrong::Name)),
    ("redirects to itself", Review(|_, stream| respond_with(stream, 307, "Location: /convert\r\n", b""))),
    ("says 100 Continue for ever", Review(continues_for_ever)),
    ("says 204", Review(|_, stream| bare(stream, "204 No Content"))),
    ("says 304", Review(|_, stream| bare(stream, "304 Not Modified"))),
    ("says 401", Review(|_, stream| respond(stream, 401, "{}"))),
    ("says 403", Review(|_, stream| respond(stream, 403, "{}"))),
    ("says 404", Review(|_, stream| respond(stream, 404, "{}"))),
    (
        "says 429 and to come back in an hour",
        Review(|_, stream| respond_with(stream, 429, "Retry-After: 3600\r\n", b"")),
    ),
    ("says 500", Review(|_, stream| respond(stream, 500, "panic: runtime error"))),
    ("says 503", Review(|_, stream| respond(stream, 503, "no healthy upstream"))),
    (
        "sends a body of 1 GB",
        Review(|_, stream| {
            head(stream, "Content-Length: 1000000000\r\n");
            endless(stream);
        }),
    ),
    ("sends a body without end", Review(chunks_for_ever)),
    ("refuses with 10 MB of text", Review(|request, stream| refuses(request, stream, &"no ".repeat(3_500_000)))),
    ("refuses with 1 MB of text", Review(|request, stream| refuses(request, stream, &"no ".repeat(350_000)))),
    ("says text/html", Review(|request, stream| typed(request, stream, "Content-Type: text/html\r\n"))),
    ("says no content type", Review(|request, stream| typed(request, stream, ""))),
    ("packs with gzip", Review(packs)),
    ("sends invalid UTF-8", Review(|request, stream| with_text(request, stream, b"\xff\xfe\xc3("))),
    ("sends NUL bytes", Review(|request, stream| with_text(request, stream, b"a\0b"))),
    ("sends escape sequences", Review(escapes)),
    (
        "begins with a byte order mark",
        Review(|request, stream| {
            let body = [b"\xef\xbb\xbf", right(&request.review).to_string().as_bytes()].concat();
            respond_with(stream, 200, JSON, &body);
        }),
    ),
    (
        "nests 100000 levels",
        Review(|request, stream| {
            let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
            with_value(request, stream, &deep);
        }),
    ),
    (
        "repeats keys",
        Review(|request, stream| {
            let text = right(&request.review).to_string().replace("\"kind\":", "\"kind\":\"Pod\",\"kind\":");
            respond(stream, 200, &text);
        }),
    ),
    ("sends a number of 100000 digits", Review(|request, stream| with_value(request, stream, &"9".repeat(100_000)))),
    ("sends 1e999999", Review(|request, stream| with_value(request, stream, "1e999999"))),
    ("sends NaN", Review(|request, stream| with_value(request, stream, "NaN"))),
    (
        "sends objects of another kind",
        Review(|request, stream| {
            change(request, stream, |_, object| {
                *object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": object["metadata"]});
            });
        }),
    ),
    (
        "sends a review of another kind",
        Review(|request, stream| {
            let mut answer = right(&request.review);
            answer["kind"] = json!("AdmissionReview");
            answer["apiVersion"] = json!("admission.k8s.io/v1");
            respond(stream, 200, &answer.to_string());
        }),
    ),
    ("sends no uid", Review(|request, stream| uid(request, stream, Value::Null))),
    ("sends a constant uid", Review(|request, stream| uid(request, stream, json!("7")))),
    ("sends the uid of another review", Review(|request, stream| uid(request, stream, json!(request.number)))),
    ("sends fewer objects", Review(|request, stream| objects(request, stream, |objects| drop(objects.pop())))),
    (
        "sends more objects",
        Review(|request, stream| objects(request, stream, |objects| objects.extend(objects.clone()))),
    ),
    (
        "sends 100000 objects for one",
        Review(|request, stream| {
            objects(request, stream, |objects| {
                objects.resize(100_000, json!({}));
            });
        }),
    ),
    ("sends objects in reverse order", Review(|request, stream| objects(request, stream, |objects| objects.reverse()))),
    ("sends null for objects", Review(|request, stream| change(request, stream, |_, object| *object = Value::Null))),
    (
        "sends strings for objects",
        Review(|request, stream| {
            change(request, stream, |_, object| {
                *object = json!(object.to_string());
            });
        }),
    ),
    (
        "sends 1 MB in every object",
        Review(|request, stream| {
            change(request, stream, |_, object| {
                put(object, "text", json!("x".repeat(1_000_000)));
            });
        }),
    ),
    (
        "sends 50 KB in every object",
        Review(|request, stream| {
            change(request, stream, |_, object| {
                put(object, "text", json!("x".repeat(50_000)));
            });
        }),
    ),
    (
        "grows objects each time",
        Review(|request, stream| {
            change(request, stream, |_, object| {
                let old = object["metadata"]["annotations"]["example.com/old"].as_str().unwrap_or("x").to_owned();
                object["metadata"]["annotations"]["example.com/old"] = json!(format!("{old}{old}{old}{old}"));
            });
        }),
    ),
    (
        "answers by luck",
        Review(|request, stream| {
            change(request, stream, |request, object| {
                put(object, "size", json!(request.number));
            });
        }),
    ),
    ("answers by what it was asked before", Review(remembers)),
    (
        "fails every third time",
        Review(|request, stream| {
            if request.number % 3 == 2 {
                respond(stream, 500, "{}");
            } else {
                respond(stream, 200, &right(&request.review).to_string());
            }
        }),
    ),
    (
        "closes every third connection",
        Review(|request, stream| {
            if request.number % 3 != 2 {
                respond(stream, 200, &right(&request.review).to_string());
            }
        }),
    ),
    (
        "takes 20 ms for each object",
        Review(|request, stream| {
            let objects = request.review["request"]["objects"].as_array().map_or(0, Vec::len);
            std::thread::sleep(Duration::from_millis(20) * u32::try_from(objects).unwrap_or_default());
            respond(stream, 200, &right(&request.review).to_string());
        }),
    ),
    (
        "takes 2 s for each review",
        Review(|request, stream| {
            std::thread::sleep(Duration::from_secs(2));
            respond(stream, 200, &right(&request.review).to_string());
        }),
    ),
    (
        "keeps connections half open",
        Connection(|mut stream| {
            let _whole = stream.read(&mut [0; 1 << 14]);
            let _sent = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}");
            half_close(&stream);
        }),
    ),
    (
        "answers before the request is read",
        Connection(|mut stream| {
            let _sent =
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
            std::thread::sleep(Duration::from_millis(50));
        }),
    ),
    (
        "speaks HTTP/1.0",
        Review(|request, stream| {
            send(stream, b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n");
            send(stream, right(&request.review).to_string().as_bytes());
        }),
    ),
    (
        "sends chunks of bad sizes",
        Review(|_, stream| {
            head(stream, "Transfer-Encoding: chunked\r\n");
            send(stream, b"zz\r\n{}\r\nffffffffffffffffffff\r\n{}");
        }),
    ),
    (
        "sends less than its Content-Length",
        Review(|_, stream| {
            head(stream, "Content-Length: 100\r\n");
            send(stream, b"{}");
        }),
    ),
    (
        "sends more than its Content-Length",
        Review(|_, stream| {
            head(stream, "Content-Length: 2\r\n");
            send(stream, b"{}{}{}");
        }),
    ),
    (
        "says a Content-Length of 10^18",
        Review(|_, stream| {
            head(stream, "Content-Length: 1000000000000000000\r\n");
            send(stream, b"{}");
        }),
    ),
];

fn head(stream: &mut dyn Stream, headers: &str) {
    send(stream, format!("HTTP/1.1 200 OK\r\n{JSON}{headers}\r\n").as_bytes());
}

/// An answer without a body.
fn bare(stream: &mut dyn Stream, status: &str) {
    send(stream, format!("HTTP/1.1 {status}\r\nConnection: close\r\n\r\n").as_bytes());
}

fn every_other_hangs(request: &Request, stream: &mut dyn Stream) {
    if request.number % 2 == 1 {
        hang();
    }
    respond(stream, 200, &right(&request.review).to_string());
}

fn half_of_the_body(request: &Request, stream: &mut dyn Stream) {
    let body = right(&request.review).to_string();
    head(stream, &format!("Content-Length: {}\r\n", body.len()));
    send(stream, &body.as_bytes()[..body.len() / 2]);
    hang();
}

fn drips(request: &Request, stream: &mut dyn Stream) {
    let body = right(&request.review).to_string();
    head(stream, &format!("Content-Length: {}\r\n", body.len() + 10_000));
    drip(stream, b" ");
}

fn drips_headers(_: &Request, stream: &mut dyn Stream) {
    send(stream, b"HTTP/1.1 200 OK\r\nX-Long: ");
    drip(stream, b"x");
}

fn drip(stream: &mut dyn Stream, byte: &[u8]) {
    while send(stream, byte) {
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn endless(stream: &mut dyn Stream) {
    while send(stream, &[b' '; 1 << 14]) {}
}

fn chunks_for_ever(_: &Request, stream: &mut dyn Stream) {
    head(stream, "Transfer-Encoding: chunked\r\n");
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    while send(stream, chunk.as_bytes()) {}
}

fn continues_for_ever(_: &Request, stream: &mut dyn Stream) {
    while send(stream, b"HTTP/1.1 100 Continue\r\n\r\n") {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A connection that is closed while there is something to read is reset.
fn resets(mut stream: TcpStream) {
    let _first = stream.read(&mut [0; 1]);
}

fn speaks_plainly(mut stream: TcpStream) {
    let _sent = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let _rest = stream.read(&mut [0; 1 << 14]);
}

fn refuses(request: &Request, stream: &mut dyn Stream, message: &str) {
    let answer = answer(&request.review, &json!({"status": "Failure", "message": message}), Vec::new());
    respond(stream, 200, &answer.to_string());
}

fn typed(request: &Request, stream: &mut dyn Stream, header: &str) {
    respond_with(stream, 200, header, right(&request.review).to_string().as_bytes());
}

fn packs(request: &Request, stream: &mut dyn Stream) {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let _in_memory = packer.write_all(right(&request.review).to_string().as_bytes());
    let body = packer.finish().unwrap_or_default();
    respond_with(stream, 200, &format!("{JSON}Content-Encoding: gzip\r\n"), &body);
}

/// Puts bytes into a text of every object.
fn with_text(request: &Request, stream: &mut dyn Stream, bytes: &[u8]) {
    let marked = marked(request);
    let (before, after) = marked.split_once("MARK").unwrap_or((&marked, ""));
    respond_with(stream, 200, JSON, &[before.as_bytes(), bytes, after.as_bytes()].concat());
}

/// Puts a JSON value, which may be none, into the first object.
fn with_value(request: &Request, stream: &mut dyn Stream, value: &str) {
    respond(stream, 200, &marked(request).replacen("\"MARK\"", value, 1));
}

/// The right answer with a mark in its first object.
fn marked(request: &Request) -> String {
    let mut answer = right(&request.review);
    if let Some(object) = answer.pointer_mut("/response/convertedObjects/0")
        && object["spec"].is_object()
    {
        object["spec"]["size"] = json!("MARK");
    }
    answer.to_string()
}

fn escapes(request: &Request, stream: &mut dyn Stream) {
    refuses(request, stream, "\u{1b}[31mred\u{1b}[0m \u{7} \u{202e}txt.exe\n::error::stop\r\0 \u{fffe}");
}

/// Changes each object of the right answer.
fn change(request: &Request, stream: &mut dyn Stream, change: fn(&Request, &mut Value)) {
    let mut answer = right(&request.review);
    for object in answer["response"]["convertedObjects"].as_array_mut().into_iter().flatten() {
        change(request, object);
    }
    respond(stream, 200, &answer.to_string());
}

/// Changes the objects of the right answer.
fn objects(request: &Request, stream: &mut dyn Stream, change: fn(&mut Vec<Value>)) {
    let mut answer = right(&request.review);
    if let Some(objects) = answer["response"]["convertedObjects"].as_array_mut() {
        change(objects);
    }
    respond(stream, 200, &answer.to_string());
}

/// Sets a field of the spec, where there is one.
fn put(object: &mut Value, field: &str, value: Value) {
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert(field.to_owned(), value);
    }
}

fn uid(request: &Request, stream: &mut dyn Stream, uid: Value) {
    let mut answer = right(&request.review);
    answer["response"]["uid"] = uid;
    respond(stream, 200, &answer.to_string());
}

/// Answers with the objects of the request before.
fn remembers(request: &Request, stream: &mut dyn Stream) {
    static BEFORE: Mutex<Value> = Mutex::new(Value::Null);
    let now = right(&request.review)["response"]["convertedObjects"].take();
    let before = BEFORE.lock().map(|mut before| std::mem::replace(&mut *before, now)).unwrap_or_default();
    let objects = before.as_array().cloned().unwrap_or_default();
    respond(stream, 200, &answer(&request.review, &json!({"status": "Success"}), objects).to_string());
}
