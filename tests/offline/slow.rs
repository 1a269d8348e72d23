//! Slow webhooks and webhooks with random answers: a run ends in time, and reports how much it tried.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crdproof::converter::proxy::{Call, Reply};
use serde_json::Value;

use crate::webhook::{broken, judged_with, right};

/// Time limit for trying objects. The default is longer, and works in the same way.
const TIME: Duration = Duration::from_secs(4);

/// Extra time: the first batches of both versions ignore the limit, and every finding is shrunk a little.
const MORE: Duration = Duration::from_secs(80);

fn objects(call: &Call) -> u32 {
    let review: Value = serde_json::from_slice(&call.body).unwrap_or_default();
    review["request"]["objects"].as_array().map_or(0, |objects| u32::try_from(objects.len()).unwrap())
}

#[test]
fn a_run_on_a_slow_webhook_ends_in_time_and_reports_how_much_it_tried() {
    assert!(crdproof::run::DEFAULT_TIME > TIME);
    let start = Instant::now();
    let slow = |call: Call| {
        std::thread::sleep(Duration::from_millis(20) * objects(&call));
        right(&call)
    };
    // Response times have their own check.
    let ended = judged_with(slow, &["--time", "4s", "--except", "webhook/within-budget"])
        .says(0, &["converted: v1→v2", "not tried: ", "the search ended early (--time sets its limit)"]);
    assert!(start.elapsed() < TIME + MORE, "{:?}", start.elapsed());
    let untried = ended.json()["conversions"][0]["untried"].as_u64().unwrap();
    assert!((1..2000).contains(&untried), "{untried} objects were not tried");
}

#[test]
fn a_run_on_a_racy_webhook_ends_in_time_and_fails() {
    let start = Instant::now();
    let calls = AtomicUsize::new(0);
    let racy = move |call: Call| {
        let mut reply = right(&call);
        // Behave as if another thread had written to the response.
        if calls.fetch_add(1, Ordering::Relaxed) % 3 == 2
            && let Ok(mut answer) = serde_json::from_slice::<Value>(&reply.body)
            && let Some(object) = answer["response"]["convertedObjects"].get_mut(0)
        {
            object["spec"] = Value::Null;
            reply = Reply::json(&answer);
        }
        reply
    };
    let ended = judged_with(racy, &["--time", "4s"]).says(1, &["converted: v1→v2"]);
    assert!(start.elapsed() < TIME + MORE, "{:?}", start.elapsed());
    let broken = broken(&ended);
    assert!(broken.iter().any(|check| check == "converter/deterministic"), "{broken:?}");
}

#[test]
fn with_enough_time_every_object_is_tried() {
    let ended = judged_with(|call| right(&call), &["--objects", "200"]).says(0, &[]);
    assert!(!ended.stderr.contains("not tried"), "{}", ended.stderr);
}
