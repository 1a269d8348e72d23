//! A webhook that closes idle connections: this must not cause findings.

use std::io::{BufRead as _, Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use crdproof::converter::proxy::{Call, Reply};
use serde_json::Value;

use crate::cli::crdproof;
use crate::webhook::{right, subject};

/// Serves HTTP/1.1 and closes every connection that is idle for two milliseconds.
fn closing_server() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in listener.incoming().map_while(Result::ok) {
            let (fresh, idle) = (Duration::from_secs(10), Duration::from_millis(2));
            std::thread::spawn(move || {
                let mut next = answer_one(&connection, fresh);
                while next.is_some() {
                    next = answer_one(&connection, idle);
                }
            });
        }
    });
    address
}

/// Answers the next request of a connection; `None` if none came in time.
fn answer_one(mut connection: &std::net::TcpStream, within: Duration) -> Option<()> {
    connection.set_read_timeout(Some(within)).ok()?;
    let mut first = [0];
    connection.read_exact(&mut first).ok()?;
    connection.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let mut reader = std::io::BufReader::new(connection);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).ok()?;
    let method = format!("{}{}", char::from(first[0]), line.split(' ').next()?);
    while {
        line.clear();
        reader.read_line(&mut line).ok()? > 2
    } {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let Reply { status, content_type, body } = right(&Call { method, path: "/convert".into(), body });
    let length = body.len();
    write!(connection, "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n")
        .ok()?;
    connection.write_all(&body).ok()
}

#[test]
fn ten_runs_agree_although_idle_connections_are_closed() {
    let folder = subject(&format!("http://{}/convert", closing_server()), None);
    let run = || {
        // Response times depend on the machine.
        let except = ["--except", "webhook/within-budget"];
        let arguments = ["run", "--suite", "webhook", "--suite", "converter", "-q", "--report", "json"];
        let mut report = crdproof(folder.path(), &[&arguments[..], &except[..]].concat()).json();
        for conversions in report["conversions"].as_array_mut().unwrap() {
            assert!(conversions["timings"].take().is_array(), "how long answers took differs");
        }
        report
    };
    let first = run();
    assert!(first["results"].as_array().unwrap().iter().any(|result| result["outcome"] == "passed"));
    for number in 1..10 {
        let again = run();
        for part in ["findings", "results", "skipped", "conversions"] {
            let parts = |report: &Value| report[part].as_array().cloned().unwrap_or_default();
            for (one, other) in parts(&again).iter().zip(&parts(&first)) {
                assert_eq!(one, other, "run {number}");
            }
        }
        assert!(again == first, "run {number} differs elsewhere");
    }
}
