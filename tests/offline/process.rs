//! Converters that crdproof starts itself: it starts, calls and ends them, however a run ends.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::{BINARY, crdproof};
use crate::wait::{eventually, is_alive};

/// The databases, converted by `process` instead of their field maps. `serve.yaml` has the maps.
fn subject(process: &str) -> tempfile::TempDir {
    let folder = crate::cli::subject("databases");
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("fieldMap: {}"), "{text}");
    std::fs::write(folder.path().join("serve.yaml"), &text).unwrap();
    std::fs::write(&file, text.replace("fieldMap: {}", &format!("process: {process}"))).unwrap();
    folder
}

/// The command that serves the field maps with the certificate that it is given.
fn serve_command() -> String {
    format!(
        "run: ['{BINARY}', serve, -f, serve.yaml, --listen, '127.0.0.1:$PORT', --cert, '$CERT_DIR/tls.crt', \
         --key, '${{CERT_DIR}}/tls.key', --ca, $CERT_DIR/ca.crt]"
    )
}

fn script(text: &str) -> String {
    format!("run: [sh, -c, '{text}']")
}

/// The content of a file that a process writes, once it is complete.
fn complete_file(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok().filter(|text| text.ends_with('\n')).map(|text| text.trim().to_owned())
}

const SUITES: [&str; 7] = ["run", "--suite", "webhook", "--suite", "converter", "--report", "json"];

#[test]
fn a_manager_is_started_called_and_stopped() {
    let folder = subject(&format!("{{{}}}", serve_command()));
    // How long answers take is up to the machine.
    let arguments = [&SUITES[..], &["--except", "webhook/within-budget"]].concat();
    let ended = crdproof(folder.path(), &arguments).says(0, &[]);
    let report = ended.json();
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(0), "{}", ended.stderr);
    let held = report["results"].as_array().unwrap().iter().filter(|result| result["outcome"] == "passed");
    let held = held.filter(|result| result["check"].as_str().unwrap().starts_with("webhook/")).count();
    assert!(held >= 16, "only {held} held: {}", ended.stderr);
    let log = std::fs::read_to_string(folder.path().join(".crdproof/process.log")).unwrap();
    // It received the signal, and had time to stop.
    assert!(log.contains("answers conversion reviews") && log.ends_with("✔ stopped\n"), "{log}");
}

#[test]
fn a_process_gets_its_environment_but_no_cluster_of_the_user() {
    let text = "echo \"$PORT $CERT_DIR $KUBECONFIG $WHERE\" > told; cat \"$KUBECONFIG\" > config; ls \"$CERT_DIR\" > certificates; exit 3";
    let folder = subject(&format!("{{{}, env: {{WHERE: 'at-$PORT'}}, port: 34567}}", script(text)));
    crdproof(folder.path(), &SUITES).says(5, &["sh ended (exit status: 3) before it answered; it wrote nothing"]);
    let told = std::fs::read_to_string(folder.path().join("told")).unwrap();
    let [port, certificates, kubeconfig, place] = *told.split_whitespace().collect::<Vec<_>>() else {
        panic!("{told}")
    };
    assert_eq!((port, place), ("34567", "at-34567"));
    assert!(kubeconfig.starts_with(certificates) && !Path::new(certificates).exists(), "{told}");
    let config = std::fs::read_to_string(folder.path().join("config")).unwrap();
    assert!(!config.contains("clusters"), "{config}");
    let certificates = std::fs::read_to_string(folder.path().join("certificates")).unwrap();
    for name in ["ca.crt", "tls.crt", "tls.key"] {
        assert!(certificates.contains(name), "{certificates}");
    }
}

#[test]
fn a_process_that_exits_early_is_reported_with_its_output() {
    let folder = subject(&format!("{{{}}}", script("echo first; echo cannot bind >&2; exit 7")));
    crdproof(folder.path(), &SUITES).says(
        5,
        &[
            "error: the converter cannot be called: sh ended (exit status: 7) before it answered",
            "  first\n  cannot bind\n",
            ".crdproof/process.log",
            "= help: correct `converter.process` in the subject file",
        ],
    );
    let folder = subject("{run: [no-such-manager]}");
    crdproof(folder.path(), &SUITES).says(5, &["no-such-manager cannot be run: no such program"]);
}

#[test]
fn a_process_that_never_answers_times_out() {
    let started = Instant::now();
    let folder = subject(&format!("{{{}, ready: {{within: 500ms}}}}", script("echo $$ > id; exec sleep 317")));
    crdproof(folder.path(), &SUITES).says(5, &["did not answer at port", "within 0.5 s", "refused"]);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let id = complete_file(&folder.path().join("id")).unwrap();
    eventually("it is dead", || (!is_alive(&id)).then_some(()));
}

#[test]
fn a_port_in_use_is_not_mistaken_for_the_process() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let folder = subject(&format!("{{{}, port: {port}, ready: {{tcp: true}}}}", script("exec sleep 317")));
    crdproof(folder.path(), &SUITES).says(5, &[&format!("port {port} cannot be used"), "leave `port` out"]);
}

/// The process has a child and ignores signals; only crdproof is killed.
#[test]
fn no_process_is_left_when_crdproof_is_killed() {
    for signal in ["KILL", "TERM", "INT"] {
        let text = "trap : TERM INT HUP; sleep 317 & echo $! > child; echo $CERT_DIR > folder; echo $$ > id; while :; do sleep 1; done";
        let folder = subject(&format!("{{{}}}", script(text)));
        let mut command = Command::new(BINARY);
        command.args(SUITES).current_dir(folder.path()).stdin(Stdio::null());
        let mut tool = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let id = eventually("it started", || complete_file(&folder.path().join("id")));
        let child = complete_file(&folder.path().join("child")).unwrap();
        let certificates = complete_file(&folder.path().join("folder")).unwrap();
        assert!(is_alive(&id) && is_alive(&child) && Path::new(&certificates).exists());
        let sent = Command::new("sh").args(["-c", &format!("kill -s {signal} {}", tool.id())]).status().unwrap();
        assert!(sent.success());
        tool.wait().unwrap();
        eventually(&format!("{signal}: all is gone"), || {
            (!is_alive(&id) && !is_alive(&child) && !Path::new(&certificates).exists()).then_some(())
        });
    }
}

#[test]
fn wrong_keys_have_a_location() {
    for (process, words) in [
        ("{run: []}", ["no command is given", "name the program"]),
        ("{run: [a], port: 0}", ["0 is not a port", "a free one"]),
        ("{run: [a], path: convert}", ["\"convert\" is not a path", "slash"]),
        ("{run: [a], timeout: 5 beats}", ["\"5 beats\" is not a length of time", "crdproof.yaml:"]),
    ] {
        let folder = subject(process);
        crdproof(folder.path(), &SUITES).says(2, &words);
    }
}

/// A long-lived command that returns objects with only their version changed.
#[test]
fn a_long_lived_command_is_called_line_by_line() {
    let folder = subject("unused");
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let answer = r#"while read -r line; do echo >> asked; echo "$line" | sed -e 's/"request":/"response":/' -e 's/"desiredAPIVersion":"\([^"]*\)","objects":\[{"apiVersion":"[^"]*"/"result":{"status":"Success"},"convertedObjects":[{"apiVersion":"\1"/'; done"#;
    std::fs::write(folder.path().join("convert.sh"), format!("echo >> processes\n{answer}\n")).unwrap();
    let exec = "exec: {command: [sh, convert.sh], longLived: true, timeout: 20s}";
    std::fs::write(&file, text.replace("process: unused", exec)).unwrap();
    // It answers for one object at a time.
    let ended = crdproof(folder.path(), &["run", "--suite", "converter", "--objects", "0", "--report", "json"]);
    assert!(ended.code == 0 || ended.code == 1, "{}", ended.stderr);
    let count = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap().lines().count();
    assert_eq!(count("processes"), 1, "{}", ended.stderr);
    assert!(count("asked") > 3, "{}", ended.stderr);
    assert!(!ended.stderr.contains("valid-always-converts"), "{}", ended.stderr);

    let wrong = text.replace("process: unused", "exec: {command: [a], longlived: true}");
    std::fs::write(&file, wrong).unwrap();
    crdproof(folder.path(), &["run"]).says(2, &["unknown key \"longlived\"", "did you mean `longLived`?"]);
}

/// A manager that needs an API server gets one for scenarios too, even if no suite calls the webhook directly.
#[test]
fn scenarios_need_the_converter() {
    use crdproof::run::{Selection, ServerMatrix, Settings, needs_converter, plan};
    let file = super::fixture::root().join("crds/databases/crdproof.yaml");
    let subject = crdproof::subject::load::from_file(&file).unwrap();
    let selection = |suite: &str| Selection::named(&[suite.to_owned()], &[], &[], &subject).unwrap();
    let matrix = ServerMatrix { servers: vec!["1.36".into()], ..ServerMatrix::default() };
    for (suite, is_needed) in [("serving", true), ("storage", true), ("manifest", false)] {
        let settings = Settings { selection: selection(suite), ..Settings::default() };
        assert_eq!(needs_converter(&plan(&subject, &settings, &matrix)), is_needed, "{suite}");
    }
}

#[test]
fn a_self_made_certificate_is_trusted_by_its_ca_file() {
    // The process deletes the certificate that it is given and makes a new one.
    let make = "rm $CERT_DIR/*.crt $CERT_DIR/*.key; \
                openssl req -x509 -newkey rsa:2048 -nodes -days 200 -subj /CN=own -addext subjectAltName=IP:127.0.0.1 \
                -keyout own.key -out own.crt 2>/dev/null; \
                exec \"$0\" serve -f serve.yaml --listen 127.0.0.1:$PORT --cert own.crt --key own.key";
    let process = |more: &str| format!("{{run: [sh, -c, '{make}', '{BINARY}']{more}}}");
    let arguments = ["run", "--suite", "webhook", "--only", "webhook/certificate-trusted"];
    let folder = subject(&process(", caFile: own.crt"));
    crdproof(folder.path(), &arguments).says(0, &["1 passed"]);
    let folder = subject(&process(""));
    crdproof(folder.path(), &arguments).says(1, &["webhook/certificate-trusted"]);
    let folder = subject(&process(", caFile: no.crt"));
    crdproof(folder.path(), &arguments).says(5, &["is ready, but caFile", "no.crt cannot be read"]);
}
