//! Panics while a check is judged. Each is a defect of crdproof, and must not affect other checks.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::checks::Verdict;

/// Judges; a panic makes the verdict inconclusive, with a message.
pub(super) fn caught<S: Default>(judge: impl FnOnce() -> (Verdict, S)) -> (Verdict, S) {
    // A judge modifies only its own evidence, which nothing else reads.
    catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|panic| {
        let why = format!("crdproof failed while judging this, which is a defect of crdproof: {}", message(&*panic));
        (Verdict::Inconclusive(why), S::default())
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judge_that_panics_is_inconclusive_and_others_continue() {
        let (verdict, shown) = caught::<Vec<u8>>(|| panic!("index {} is wrong", 7));
        assert!(
            matches!(verdict, Verdict::Inconclusive(why) if why.ends_with("a defect of crdproof: index 7 is wrong"))
        );
        assert!(shown.is_empty());
        assert_eq!(caught(|| (Verdict::Inconclusive("x".into()), 5)).1, 5);
    }
}
