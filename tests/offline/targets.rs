//! Output targets: files are replaced as a whole, other targets are written in place, and write errors are reported.

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cli::{BINARY, crdproof, folder, sound_crd};

fn workplace() -> tempfile::TempDir {
    folder(&[("crd.yaml", &sound_crd())])
}

#[test]
fn a_linked_file_is_replaced_and_the_link_stays() {
    let folder = workplace();
    std::fs::write(folder.path().join("file.json"), "old").unwrap();
    std::os::unix::fs::symlink("file.json", folder.path().join("link.json")).unwrap();
    std::os::unix::fs::symlink("later.json", folder.path().join("dangling.json")).unwrap();
    for (link, file) in [("link.json", "file.json"), ("dangling.json", "later.json")] {
        crdproof(folder.path(), &["run", "crd.yaml", "--report", &format!("json={link}")]).says(0, &[]);
        assert!(folder.path().join(link).is_symlink(), "{link} was replaced");
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.starts_with('{'), "{file}: {text}");
    }
}

#[test]
fn a_pipe_is_written_to_and_stays_a_pipe() {
    let folder = workplace();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("timeout").args(["20", "cat"]).arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    crdproof(folder.path(), &["run", "crd.yaml", "--report", "json=pipe"]).says(0, &[]);
    assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    // If the pipe had been replaced, nothing would write to it, and the reader would wait forever.
    let text = reader.wait_with_output().unwrap().stdout;
    assert!(text.starts_with(b"{"));
}

#[test]
fn devices_stay_devices() {
    let folder = workplace();
    // Use a link, so that the machine keeps its device if this fails.
    std::os::unix::fs::symlink("/dev/null", folder.path().join("null")).unwrap();
    let ended = crdproof(folder.path(), &["run", "crd.yaml", "--report", "json=null", "--report", "html=/dev/stdout"]);
    let ended = ended.says(0, &[]);
    assert!(ended.stdout.contains("<html"), "{}", ended.stdout);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn two_reports_never_share_a_file() {
    let folder = workplace();
    std::os::unix::fs::symlink("a.json", folder.path().join("b.json")).unwrap();
    for (first, second) in [("a.json", "a.json"), ("a.json", "./a.json"), ("x/a.json", "x/a.json")] {
        let reports = [format!("json={first}"), format!("sarif={second}")];
        let flags = ["run", "crd.yaml", "--report", &reports[0], "--report", &reports[1]];
        crdproof(folder.path(), &flags).says(2, &["two reports cannot both go to"]);
        assert!(!folder.path().join(first).exists(), "nothing is written before all flags are right");
    }
    crdproof(folder.path(), &["run", "crd.yaml", "--report", "json="]).says(2, &["has no file name"]);
}

/// Runs a command whose standard output is a full device.
fn into_full_device(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let ended = Command::new(BINARY).args(arguments).current_dir(folder).stdout(full).output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn a_full_standard_output_exits_with_5() {
    let folder = workplace();
    for arguments in [&["run", "-q", "crd.yaml", "--report", "json"][..], &["list"], &["schema", "subject"]] {
        let (code, stderr) = into_full_device(folder.path(), arguments);
        assert_eq!(code, Some(5), "{arguments:?}: {stderr}");
        assert!(stderr.contains("cannot write to standard output"), "{stderr}");
    }
    assert_eq!(into_full_device(folder.path(), &["--help"]).0, Some(5));
}

#[test]
fn a_wrong_url_is_refused_with_its_location() {
    let folder = crate::cli::subject("databases");
    let file = folder.path().join("crdproof.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    for (url, why) in [
        ("https://localhost:99999/convert", "not between 1 and 65535"),
        ("https://localhost:0/convert", "not between 1 and 65535"),
        ("https://localhost:/convert", "not between 1 and 65535"),
        ("https://[::1]:99999/convert", "not between 1 and 65535"),
        ("ftp://localhost/convert", "is not a URL of a webhook"),
        ("localhost:9443", "is not a URL of a webhook"),
        ("https://local host/", "is not a URL"),
    ] {
        let webhook = format!("webhook: {{url: '{url}'}}");
        std::fs::write(&file, text.replace("fieldMap: {}", &webhook)).unwrap();
        crdproof(folder.path(), &["run", "--suite", "quick"]).says(2, &["crdproof.yaml:", why]);
    }
}

#[test]
fn a_run_writes_reports_and_counterexamples_only() {
    let folder = crate::cli::subject("databases-none");
    let before: Vec<_> = crate::cli::listing(folder.path());
    let run = ["run", "--only", "converter"];
    crdproof(folder.path(), &[&run[..], &["--no-counterexamples"]].concat()).says(1, &[]);
    assert_eq!(crate::cli::listing(folder.path()), before);
    crdproof(folder.path(), &[&run[..], &["--report", "json=out/report.json"]].concat()).says(1, &[]);
    let made = crate::cli::listing(folder.path()).into_iter().filter(|file| !before.contains(file));
    let made: Vec<_> = made.map(|(path, _)| path.strip_prefix(folder.path()).unwrap().to_owned()).collect();
    assert!(made.len() > 1, "{made:?}");
    for path in made {
        assert!(path.starts_with(".crdproof/counterexamples") || path == Path::new("out/report.json"), "{path:?}");
    }
}
