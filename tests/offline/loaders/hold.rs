//! Runs properties on made-up cases. A case that takes too long ends the process, and so does too much memory.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Each property with its share of all cases: the more expensive a case is, the fewer there are.
const SHARES: [(&str, u32); 19] = [
    ("any text as documents", 200),
    ("damaged manifests", 100),
    ("deep documents", 5),
    ("json", 150),
    ("damaged subject files", 15),
    ("damaged field maps", 100),
    ("damaged suites", 100),
    ("git sources", 1),
    ("damaged crds", 40),
    ("damaged reports", 5),
    ("damaged traces", 10),
    ("generated objects", 20),
    ("validation rules", 30),
    ("patterns", 60),
    ("texts of patterns", 20),
    ("globs", 100),
    ("reviews of hostile endpoints", 1),
    ("damaged exchanges", 9),
    ("serve", 50),
];

/// The number of cases of all properties together in an ordinary test run.
const CASES: u64 = 4000;

/// The longest that a case may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The most memory that the process may take, where it does nothing else.
const MEMORY: u64 = 1 << 30;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Runs a property on its share of the cases that were asked for. proptest's own environment variables would make runs
/// differ between machines, so none is read.
pub(super) fn hold<S: Strategy>(
    name: &'static str,
    strategy: &S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let all: u32 = SHARES.iter().map(|(_, share)| share).sum();
    let share = SHARES.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name} has no share")).1;
    let asked = number("CRDPROOF_FUZZ_CASES");
    let cases = (asked.unwrap_or(CASES) * u64::from(share)).div_ceil(u64::from(all));
    let config = Config {
        cases: u32::try_from(cases).unwrap(),
        max_local_rejects: 65_536,
        max_global_rejects: 1_024,
        max_flat_map_regens: 1_000_000,
        failure_persistence: None,
        source_file: None,
        test_name: None,
        max_shrink_time: 0,
        max_shrink_iters: 4_096,
        max_default_size_range: 100,
        result_cache: proptest::test_runner::noop_result_cache,
        verbose: 0,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: proptest::test_runner::RngSeed::Random,
        _non_exhaustive: (),
    };
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&number("CRDPROOF_FUZZ_SEED").unwrap_or(0).to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let is_shown = std::env::var_os("CRDPROOF_FUZZ_SHOW").is_some();
    let (began, watchdog) = (Instant::now(), Watchdog::start(name));
    let result = runner.run(strategy, |value| {
        // Its words take longer than most cases, so they are only made on demand.
        watchdog.begin(is_shown.then(|| format!("{value:?}")));
        let result = property(value);
        watchdog.end();
        result
    });
    if let Err(error) = result {
        panic!("{name}: {error}");
    }
    if asked.is_some() {
        let (seconds, slowest, peak) = (began.elapsed().as_secs(), watchdog.slowest(), peak_memory());
        eprintln!("{name:<30} {cases:>8} cases {seconds:>6} s, slowest {slowest:>6} ms, peak {:>5} MB", peak >> 20);
        assert!(peak < MEMORY, "{name}: {} MB of memory", peak >> 20);
    }
}

/// The most memory that this process ever had; nothing where the system does not tell.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or_default() << 10
}

/// Ends the process where one case takes too long: what never ends cannot be made to fail.
struct Watchdog {
    state: Arc<State>,
}

struct State {
    /// The start of the case, and its input if that is to be shown.
    began: Mutex<Option<(Instant, Option<String>)>>,
    cases: AtomicU64,
    slowest: AtomicU64,
    is_over: AtomicBool,
}

impl Watchdog {
    fn start(name: &'static str) -> Self {
        let (cases, slowest) = (AtomicU64::new(0), AtomicU64::new(0));
        let state = Arc::new(State { began: Mutex::default(), cases, slowest, is_over: AtomicBool::new(false) });
        let watched = Arc::clone(&state);
        std::thread::spawn(move || {
            while !watched.is_over.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(200));
                let began = watched.began.lock().unwrap();
                if let Some((began, shown)) = began.as_ref().filter(|(began, _)| began.elapsed() > TIMEOUT) {
                    let (case, seconds) = (watched.cases.load(Ordering::Relaxed), began.elapsed().as_secs());
                    let shown = shown.as_deref().unwrap_or("CRDPROOF_FUZZ_SHOW=1 shows it");
                    eprintln!("{name}: case {case} takes more than {seconds} s: {shown}");
                    std::process::exit(101);
                }
            }
        });
        Self { state }
    }

    fn begin(&self, shown: Option<String>) {
        self.state.cases.fetch_add(1, Ordering::Relaxed);
        *self.state.began.lock().unwrap() = Some((Instant::now(), shown));
    }

    fn end(&self) {
        let Some((began, shown)) = self.state.began.lock().unwrap().take() else { return };
        let took = began.elapsed();
        if let Some(shown) = shown.filter(|_| took > TIMEOUT / 5) {
            eprintln!("{took:?}: {shown}");
        }
        self.state.slowest.fetch_max(u64::try_from(took.as_millis()).unwrap(), Ordering::Relaxed);
    }

    fn slowest(&self) -> u64 {
        self.state.slowest.load(Ordering::Relaxed)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
    }
}
