//! The conversion webhook that tutorials show, wrong in many ways on purpose: plain HTTP on port 8080, returns the
//! first object unchanged, no uid, and a response of review version v1beta1. `crdproof run` reports its mistakes:
//!
//! ```yaml
//! converter: {process: {run: [target/debug/examples/tutorial_webhook]}}
//! ```

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(8080);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    writeln!(io::stderr(), "listening on {}", listener.local_addr()?)?;
    for stream in listener.incoming() {
        let stream = stream?;
        std::thread::spawn(move || {
            // Errors of a connection are the client's.
            let _ = answer(&stream);
        });
    }
    Ok(())
}

/// Answers one request, and closes the connection.
fn answer(stream: &TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    // HTTP methods begin with a capital letter; a TLS handshake does not.
    if !reader.fill_buf()?.first().is_some_and(u8::is_ascii_uppercase) {
        return respond(stream, "400 Bad Request", "");
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    match serde_json::from_slice::<Value>(&body) {
        Ok(review) => respond(stream, "200 OK", &convert(&review).to_string()),
        Err(_) => respond(stream, "500 Internal Server Error", ""),
    }
}

/// Converts like a tutorial.
fn convert(review: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "ConversionReview",
        "response": {"convertedObjects": [review["request"]["objects"][0]], "result": {"status": "Success"}},
    })
}

fn respond(mut stream: &TcpStream, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
