//! The HTML report in a real browser.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crdproof::report::html;

use super::find_program;
use super::fixture::report;

const DEADLINE: Duration = Duration::from_secs(60);

/// The page after its script ran, and what the browser logged.
fn open(browser: &str, page: &Path, profile: &Path) -> (String, String) {
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--enable-logging=stderr"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let dom = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let log = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > DEADLINE {
            child.kill().unwrap();
            panic!("the browser did not end within {DEADLINE:?}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    (dom.join().unwrap().unwrap(), log.join().unwrap().unwrap())
}

/// Opens a page, unless there is no browser.
fn browse(page: &str) -> Option<(String, String)> {
    let browser = find_program(&["chromium", "chromium-browser", "google-chrome"])?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, page).unwrap();
    Some(open(&browser, &file, &folder.path().join("profile")))
}

#[test]
fn the_page_works_in_a_browser() {
    let Some((dom, log)) = browse(&html(&report())) else {
        return;
    };
    let root = dom.lines().find(|line| line.starts_with("<html")).unwrap();
    assert!(root.contains(r#"data-ready="true""#), "{root}");
    assert!(!root.contains("data-error"), "{root}");
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert_eq!(complaints, Vec::<&str>::new());
    assert!(dom.contains("13 of 14 shown"), "the waived finding is hidden");
}

/// What a reader would do, and what is shown after each step.
const READER: &str = r#"<script>
const steps = [];
const step = (act) => { act(); steps.push(document.getElementById("shown").textContent.split(" ")[0]); };
const box = (selector, on) => { const it = document.querySelector(selector); it.checked = on; it.dispatchEvent(new Event("input", { bubbles: true })); };
const type = (words) => { const it = document.getElementById("text"); it.value = words; it.dispatchEvent(new Event("input", { bubbles: true })); };
step(() => document.querySelector('.matrix a[data-check="converter/round-trip-lossless"]').click());
step(() => document.getElementById("aim").click());
step(() => type("größe LOST"));
step(() => type(""));
step(() => box('.severity[value="error"]', false));
step(() => box("[id=waived]", true));
document.getElementById("theme").click();
document.documentElement.dataset.steps = steps.join(" ");
</script>"#;

#[test]
fn cells_words_and_switches_narrow_what_is_shown() {
    let page = html(&report()).replace("</body>", &format!("{READER}</body>"));
    let Some((dom, _)) = browse(&page) else {
        return;
    };
    let root = dom.lines().find(|line| line.starts_with("<html")).unwrap();
    assert!(root.contains(r#"data-steps="10 13 1 13 2 3""#), "{root}");
    assert!(root.contains("data-theme="), "{root}");
}

#[test]
fn the_page_holds_no_markup_of_its_subject() {
    let page = html(&report());
    assert!(!page.contains("<script>alert"));
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert_eq!(page.matches("<script>").count(), 2);
}

#[test]
fn the_page_needs_nothing_else() {
    let page = html(&report());
    for loader in [" src=", "<link", "@import", "url(", " onclick=", " onload="] {
        assert!(!page.contains(loader), "{loader}");
    }
    assert!(page.contains("default-src 'none'"));
}
