//! Webhooks that repeat what they were sent in every place of an answer: no output shows a canary.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};

use super::fixtures::canaries;
use super::{RUN, crd, is_mute, said};

/// Turns the body of a request, and the review in it, into a whole HTTP response.
type Answer = fn(&str, &Value) -> String;

fn http(status: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} x\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// A response to a review, with this result and these objects.
fn review(review: &Value, result: &Value, objects: &Value) -> String {
    let response = json!({"uid": review["request"]["uid"], "result": result, "convertedObjects": objects});
    let answer = json!({"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response});
    http(200, "Content-Type: application/json\r\n", &answer.to_string())
}

fn refusal(asked: &Value, message: &str) -> String {
    review(asked, &json!({"status": "Failure", "message": message}), &json!([]))
}

/// Objects at the version that was asked for, each changed.
fn converted(asked: &Value, change: impl Fn(&mut Value)) -> String {
    let objects = asked["request"]["objects"].as_array().into_iter().flatten().cloned().map(|mut object| {
        object["apiVersion"] = asked["request"]["desiredAPIVersion"].clone();
        change(&mut object);
        object
    });
    review(asked, &json!({"status": "Success"}), &objects.collect())
}

/// JSON as Go writes it, with the signs of HTML escaped.
fn like_go(text: &str) -> String {
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// JSON as Python writes it, in ASCII.
fn like_python(text: &str) -> String {
    let mut units = [0; 2];
    let escape = |letter: char| -> String {
        if letter.is_ascii() {
            return letter.into();
        }
        letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    };
    text.chars().map(escape).collect()
}

fn like_html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&#34;").replace('\'', "&#39;")
}

fn spec_of(asked: &Value) -> &Value {
    &asked["request"]["objects"][0]["spec"]
}

fn secret(asked: &Value) -> String {
    spec_of(asked)["password"].as_str().unwrap_or("none").to_owned()
}

/// Serves answers until the test ends, and writes a subject with canaries for it.
fn subject(answer: Answer, is_cut: bool) -> tempfile::TempDir {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/convert", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream, answer, is_cut));
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let open = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
    write(
        "crd.yaml",
        &crd().replace("              template:", &format!("              more: {open}\n              template:")),
    );
    let mut spec = canaries();
    spec["size"] = json!(1);
    spec["more"] = canaries();
    spec["template"] = json!({"apiVersion": "v1", "kind": "Secret", "data": {"key": "canary-data"}});
    let stash = json!({"spec": canaries()}).to_string();
    let metadata = json!({"name": "a", "namespace": "default", "annotations": {"example.com/stash": stash}});
    let object = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": spec});
    write("sample.yaml", &object.to_string());
    let file = format!(
        "apiVersion: crdproof/v1alpha1\nkind: Subject\ncrds: {{paths: [crd.yaml]}}\nsamples: [sample.yaml]\n\
         converter: {{webhook: {{url: '{url}', timeout: 300ms}}}}\n"
    );
    write("crdproof.yaml", &file);
    folder
}

/// Reads one request and answers it; with a part of the answer only where it is to be cut.
fn serve(mut stream: TcpStream, answer: Answer, is_cut: bool) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    let body = loop {
        let Ok(length @ 1..) = stream.read(&mut buffer) else { return };
        bytes.extend_from_slice(&buffer[..length]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lower = head.to_lowercase();
        let announced = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        if body.len() >= announced.unwrap_or(0) {
            break body.to_owned();
        }
    };
    let (response, is_cut) = match serde_json::from_str::<Value>(&body) {
        Ok(asked) if asked["request"]["objects"].is_array() => (answer(&body, &asked), is_cut),
        _ => (http(400, "", "this is not a review"), false),
    };
    let end = if is_cut { response.len() * 2 / 3 } else { response.len() };
    let _ = stream.write_all(&response.as_bytes()[..end]);
    let _ = stream.shutdown(std::net::Shutdown::Write);
}

/// Everything that a run says, writes and keeps for others.
fn assert_nothing_is_shown(folder: &Path) {
    let run = [&RUN[..], &["--har", "out/wire.har", "--no-counterexamples"]].concat();
    for (what, text) in said(folder, &run) {
        is_mute(&what, &text);
    }
}

#[rstest]
#[case::refusal(|body: &str, asked: &Value| refusal(asked, body))]
#[case::refusal_of_go(|body: &str, asked: &Value| refusal(asked, &like_go(body)))]
#[case::refusal_of_python(|body: &str, asked: &Value| refusal(asked, &like_python(body)))]
#[case::refusal_as_a_text_of_json(|body: &str, asked: &Value| refusal(asked, &json!({"got": body}).to_string()))]
#[case::refusal_of_values(|_: &str, asked: &Value| refusal(asked, &format!("{:?} and {}", secret(asked), spec_of(asked)["tokens"])))]
#[case::long_refusal(|body: &str, asked: &Value| refusal(asked, &body.repeat(100)))]
#[case::causes(|body: &str, asked: &Value| review(asked, &json!({"status": "Failure", "details": {"causes": [{"message": body}]}}), &json!([])))]
#[case::error_500(|body: &str, _: &Value| http(500, "Content-Type: text/plain\r\n", body))]
#[case::error_422_of_go(|body: &str, _: &Value| http(422, "Content-Type: text/plain\r\n", &like_go(body)))]
#[case::error_page(|body: &str, _: &Value| http(200, "Content-Type: text/html\r\n", &format!("<pre>{}</pre>", like_html(body))))]
#[case::not_json(|body: &str, _: &Value| http(200, "Content-Type: application/json\r\n", &format!("got {body}")))]
#[case::echo(|body: &str, _: &Value| http(200, "Content-Type: application/json\r\n", body))]
#[case::redirect(|_: &str, asked: &Value| http(307, &format!("Location: http://127.0.0.1:1/?p={}\r\n", secret(asked)), ""))]
#[case::content_type(|_: &str, asked: &Value| http(200, &format!("Content-Type: text/{}\r\n", secret(asked)), "{}"))]
#[case::header(|_: &str, asked: &Value| http(500, &format!("Warning: 299 - \"{}\"\r\n", secret(asked)), ""))]
#[case::another_uid(|_: &str, asked: &Value| {
    let mut other = asked.clone();
    other["request"]["uid"] = json!(secret(asked));
    converted(&other, |_| ())
})]
#[case::lost(|_: &str, asked: &Value| converted(asked, |object| object["spec"] = json!({})))]
#[case::moved_to_an_innocent_name(|_: &str, asked: &Value| converted(asked, |object| {
    object["spec"] = json!({"note": object["spec"]["password"], "notes": object["spec"]["tokens"]});
}))]
#[case::stashed_as_a_text(|_: &str, asked: &Value| converted(asked, |object| {
    object["metadata"]["annotations"]["example.com/note"] = json!(like_go(&object["spec"].to_string()));
    object["spec"] = json!({});
}))]
#[case::another_name(|_: &str, asked: &Value| converted(asked, |object| object["metadata"]["name"] = object["spec"]["password"].clone()))]
#[case::another_kind(|_: &str, asked: &Value| converted(asked, |object| object["kind"] = object["spec"]["password"].clone()))]
#[case::another_version(|_: &str, asked: &Value| converted(asked, |object| object["apiVersion"] = object["spec"]["password"].clone()))]
#[case::another_type(|_: &str, asked: &Value| converted(asked, |object| object["spec"]["size"] = object["spec"]["password"].clone()))]
fn no_hostile_webhook_makes_a_canary_show(#[case] answer: Answer) {
    assert_nothing_is_shown(subject(answer, false).path());
}

#[rstest]
#[case::refusal(|body: &str, asked: &Value| refusal(asked, body))]
#[case::error_500(|body: &str, _: &Value| http(500, "Content-Type: text/plain\r\n", body))]
#[case::converted(|_: &str, asked: &Value| converted(asked, |_| ()))]
fn no_answer_that_is_cut_off_makes_a_canary_show(#[case] answer: Answer) {
    assert_nothing_is_shown(subject(answer, true).path());
}

#[test]
fn references_to_secrets_stay_visible() {
    let folder = subject(|_, asked| converted(asked, |object| object["spec"] = json!({})), false);
    let texts = said(folder.path(), &[&RUN[..], &["--no-counterexamples"]].concat());
    assert!(texts.iter().any(|(_, text)| text.contains("visible-reference")), "{texts:?}");
}
