//! `serve` under load: slow connections and large reviews do not delay other requests.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crdproof::converter::endpoint::{Endpoint as _, Request};
use crdproof::converter::webhook::Webhook;
use crdproof::evidence::Outcome;

use crate::cli::BINARY;

/// Starts `serve` on a free port, and returns its address once it listens.
fn serve(folder: &std::path::Path) -> (Child, String) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let mut child = Command::new(BINARY)
        .args(["serve", "--listen", &address])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("caBundle"), "{line}");
    (child, address)
}

#[test]
fn slow_connections_and_large_reviews_do_not_delay_health() {
    let folder = crate::cli::subject("databases");
    let (mut child, address) = serve(folder.path());
    // Open TLS connections that never complete the handshake.
    let slow: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(&address).unwrap()).collect();
    for mut stream in &slow {
        stream.write_all(&[0x16]).unwrap();
    }
    let large = format!("{{\"request\": \"{}\"}}", "x".repeat(20 << 20));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let webhook = Webhook::new(&format!("https://{address}/convert"), None).unwrap();
                webhook.send(&Request::post(large.clone()))
            });
        }
        let health = Webhook::new(&format!("https://{address}/healthz"), None).unwrap();
        for _ in 0..20 {
            let began = Instant::now();
            let (outcome, _) = health.send(&Request::get());
            assert!(matches!(outcome, Outcome::Answered { status: 200, .. }), "{outcome:?}");
            assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        }
    });
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse().ok());
    child.kill().unwrap();
    child.wait().unwrap();
    let peak: u64 = peak.unwrap_or_default();
    assert!(peak < 300 << 10, "{peak} kB");
}
