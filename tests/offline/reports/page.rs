//! The HTML report in a real browser.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crdproof::report::html;

use super::find_program;
use super::fixture::report;

const DEADLINE: Duration = Duration::from_secs(60);

/// The page after its script ran, and the log of the browser.
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

/// Opens a page, unless no browser is installed.
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

/// Steps of a reader, recording the number of shown findings after each.
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
fn filters_narrow_the_shown_findings() {
    let page = html(&report()).replace("</body>", &format!("{READER}</body>"));
    let Some((dom, _)) = browse(&page) else {
        return;
    };
    let root = dom.lines().find(|line| line.starts_with("<html")).unwrap();
    assert!(root.contains(r#"data-steps="10 13 1 13 2 3""#), "{root}");
    assert!(root.contains("data-theme="), "{root}");
}

/// Keys and deep links, recording the elements that they focus.
const KEYS: &str = r##"<script>
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const seen = [];
const note = () => seen.push(document.activeElement.id.replace(/^f-.*/, "finding"));
const order = Array.from(document.querySelectorAll(".card:not([hidden])"));
press("j"); note(); press("j"); seen.push(order.indexOf(document.activeElement)); press("k"); seen.push(order.indexOf(document.activeElement));
press("/"); note();
location.hash = "#s-databases.example.com-1.36.0-storage";
window.addEventListener("hashchange", () => {
  seen.push(document.getElementById("s-databases.example.com-1.36.0").open ? "open" : "closed");
  seen.push(document.documentElement.scrollWidth <= innerWidth ? "fits" : "wide");
  const unnamed = Array.from(document.querySelectorAll("a, button, input, [role=region], [role=img]")).filter((node) => !node.hidden &&
    !(node.textContent.trim() || node.getAttribute("aria-label") || node.getAttribute("aria-labelledby") || node.closest("label")));
  seen.push(unnamed.length);
  document.documentElement.dataset.seen = seen.join(" ");
});
</script>"##;

#[test]
fn keys_and_deep_links_focus_their_targets() {
    let page = html(&report()).replace("</body>", &format!("{KEYS}</body>"));
    let Some((dom, _)) = browse(&page) else {
        return;
    };
    let root = dom.lines().find(|line| line.starts_with("<html")).unwrap();
    assert!(root.contains(r#"data-seen="finding 1 0 text open fits 0""#), "{root}");
}

#[test]
fn a_loss_is_shown_side_by_side_and_steps_on_a_timeline() {
    let page = html(&report());
    assert!(page.contains("<del>    &quot;größe&quot;: &quot;10Gi&quot;</del>"), "{page}");
    for words in
        ["3 × create at v1 (1 refused)", "v1 → v1alpha1: 7 objects in 2 reviews", "at v1: &lt;b&gt;orders&lt;/b&gt;"]
    {
        assert!(page.contains(words) || page.contains(&words.replace("/b", "&#x2f;b")), "{words}");
    }
    assert!(page.contains("<td>kubectl</td><td>v1</td>"));
}

/// Asserts that the verdict and the list of untested parts come before everything else.
#[test]
fn untested_parts_come_before_findings() {
    let mut untested = report();
    untested.results.retain(|result| !result.check.starts_with("converter/"));
    untested.skipped.push(crdproof::report::Skipped {
        check: "converter/round-trip-lossless".into(),
        crd: super::fixture::DATABASES.into(),
        kubernetes: None,
        reason: "the subject names no converter".into(),
    });
    let page = html(&untested);
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words} is not in the page"));
    assert!(at("conversion was not tested: the subject names no converter") < at("<h2 id=\"findings\">"));
}

#[test]
fn the_page_holds_no_markup_of_its_subject() {
    let page = html(&report());
    assert!(!page.contains("<script>alert"));
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert_eq!(page.matches("<script>").count(), 2);
}

#[test]
fn the_page_loads_no_other_resources() {
    let page = html(&report());
    for loader in [" src=", "<link", "@import", "url(", " onclick=", " onload="] {
        assert!(!page.contains(loader), "{loader}");
    }
    assert!(page.contains("default-src 'none'"));
}
