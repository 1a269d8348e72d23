//! A small HTTP server that supports ranges and can close connections early.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The files that the server serves, and the requests that it received.
#[derive(Default)]
pub(super) struct State {
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// Numbers of body bytes after which the server closes the connection; each applies to one response.
    pub(super) cuts: Vec<usize>,
    /// Path and range of each request.
    pub(super) asked: Vec<(String, Option<String>)>,
}

pub(super) struct Server {
    pub(super) url: String,
    pub(super) state: Arc<Mutex<State>>,
}

impl Server {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        // The thread ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Errors of a connection are the client's.
                let _ = answer(&stream, &shared);
            }
        });
        Self { url, state }
    }
}

fn answer(mut stream: &TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().unwrap_or(Ok(String::new()))?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut range = None;
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("range: ") {
            range = Some(value.to_owned());
        }
    }
    let (file, cut) = {
        let mut state = state.lock().unwrap();
        state.asked.push((path.clone(), range.clone()));
        let file = state.files.get(&path).cloned();
        let is_archive = file.is_some() && path.ends_with(".tar.gz");
        let cut = if is_archive && !state.cuts.is_empty() { Some(state.cuts.remove(0)) } else { None };
        (file, cut)
    };
    let Some(file) = file else {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let from = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let (status, body) = match from {
        Some(from) if from >= file.len() => ("416 Range Not Satisfiable", &file[..0]),
        Some(from) => ("206 Partial Content", &file[from..]),
        None => ("200 OK", &file[..]),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body[..cut.unwrap_or(body.len()).min(body.len())])
}
