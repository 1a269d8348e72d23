//! Webhooks that hang, drip, crash or answer strangely: each ends in findings or exit code 5, quickly and without a
//! panic.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::cli::{Ended, crdproof};
use crate::webhook::{broken, subject};

/// Handles a connection: its number, the first bytes of the request, and the stream.
type Act = fn(usize, &[u8], TcpStream);

/// Judges a plain-HTTP webhook that handles every connection this way, with this timeout.
fn judged(act: Act, timeout: &str) -> Ended {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/convert", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            std::thread::spawn(move || {
                let mut stream = stream;
                let mut request = vec![0; 1 << 16];
                let length = stream.read(&mut request).unwrap_or_default();
                act(number, &request[..length], stream);
            });
        }
    });
    let folder = subject(&url, None);
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("'}}"), "{text}");
    std::fs::write(&file, text.replace("'}}", &format!("', timeout: {timeout}}}}}"))).unwrap();
    let started = Instant::now();
    let ended = crdproof(folder.path(), &["run", "--suite", "quick", "--report", "json"]);
    assert!(started.elapsed() < Duration::from_secs(60), "it took {:?}", started.elapsed());
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    ended
}

/// Writes a response with these headers, and closes the connection.
fn write(mut stream: TcpStream, headers: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{headers}\r\n");
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    // The kernel would discard the response if there were unread request bytes.
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
}

fn is_get(request: &[u8]) -> bool {
    request.starts_with(b"GET")
}

/// The findings on an endpoint that hangs: it, and nothing that follows from it. That it speaks no TLS is another matter.
const HANGS: [&str; 2] = ["webhook/answers-bounded", "webhook/certificate-trusted"];

#[track_caller]
fn finds(ended: Ended, check: &str, words: &[&str]) {
    let report = ended.says(1, words).json();
    // A check that fails for the same reason as another one is listed there.
    let findings = report["findings"].as_array().unwrap().iter();
    let all = findings.flat_map(|finding| finding["consequences"].as_array().into_iter().flatten().chain([finding]));
    let all: Vec<&str> = all.filter_map(|finding| finding["check"].as_str()).collect();
    assert!(all.contains(&format!("webhook/{check}").as_str()), "{all:?}");
}

#[test]
fn a_webhook_that_hangs_from_the_start_is_unreachable() {
    let ended = judged(|_, _, stream| drop((std::thread::sleep(Duration::from_secs(20)), stream)), "300ms");
    ended.says(5, &["the converter cannot be called: http://127.0.0.1:", ": no answer within 0.3 s"]);
}

#[test]
fn a_webhook_that_hangs_on_reviews_fails() {
    let act: Act = |_, request, stream| {
        if is_get(request) {
            return write(stream, "Content-Length: 0\r\n", b"");
        }
        std::thread::sleep(Duration::from_secs(20));
    };
    let ended = judged(act, "100ms").says(1, &["the endpoint hangs: no answer within 0.1 s"]);
    assert_eq!(broken(&ended), HANGS);
}

#[test]
fn a_webhook_that_drips_fails() {
    let act: Act = |_, request, mut stream| {
        if is_get(request) {
            return write(stream, "Content-Length: 0\r\n", b"");
        }
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    let ended = judged(act, "250ms").says(1, &["the endpoint hangs: no answer within 0.25 s"]);
    assert_eq!(broken(&ended), HANGS);
}

#[test]
fn a_webhook_that_crashes_during_a_response_fails() {
    let act: Act = |number, _, stream| {
        if number < 4 {
            write(stream, "Content-Type: application/json\r\nContent-Length: 2\r\n", b"{}");
        }
    };
    finds(judged(act, "1s"), "malformed-request-survived", &["the connection closed before a response came"]);
}

#[test]
fn long_and_chunked_responses_are_read_completely() {
    let long: Act = |_, _, stream| {
        let body = format!("{{\"kind\": \"{}\"}}", "x".repeat(200_000));
        write(
            stream,
            &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()),
            body.as_bytes(),
        );
    };
    finds(judged(long, "10s"), "result-stated", &["response.result.status is null"]);
    let chunked: Act = |_, _, stream| {
        write(
            stream,
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
            b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
        );
    };
    finds(judged(chunked, "5s"), "result-stated", &["response.result.status is null"]);
    let broken_chunk: Act = |_, request, stream| {
        let (headers, body): (_, &[u8]) = if is_get(request) {
            ("Content-Length: 0\r\n", b"")
        } else {
            ("Transfer-Encoding: chunked\r\n", b"zz\r\n{}")
        };
        write(stream, headers, body);
    };
    finds(
        judged(broken_chunk, "5s"),
        "large-batch-converted",
        &["the connection closed before the response was complete"],
    );
}

#[test]
fn unusual_headers_are_reported() {
    let wrong_type: Act = |_, _, stream| write(stream, "Content-Type: text/html\r\nContent-Length: 2\r\n", b"{}");
    finds(judged(wrong_type, "5s"), "content-type-json", &["the content type is text/html"]);
    let packed: Act = |_, _, stream| {
        let body = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xae\x05\x00\x43\xbf\xa6\xa3\x02\x00\x00\x00";
        write(stream, "Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 22\r\n", body);
    };
    finds(judged(packed, "5s"), "large-batch-converted", &["a body that is not JSON"]);
    let elsewhere: Act = |_, _, mut stream| {
        let _ = stream.write_all(
            b"HTTP/1.1 307 Temporary Redirect\r\nLocation: https://example.com/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
    };
    finds(judged(elsewhere, "5s"), "large-batch-converted", &["HTTP 307"]);
    let old: Act = |_, _, mut stream| {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{}");
    };
    finds(judged(old, "5s"), "result-stated", &["response.result.status is null"]);
}
