//! How many API servers this machine carries at once.

use std::fs;
use std::num::NonZeroUsize;

use crdproof_envtest::Provider;

/// Returns what one control plane takes, in MiB. The largest that was measured for `local` took 400 MB (see
/// docs/control-planes.md) and gets some room for its objects; containers bring kubelet, runtime and controllers along.
fn each(provider: Provider) -> u64 {
    match provider {
        Provider::Local => 512,
        Provider::Kind => 1536,
        // It runs elsewhere.
        Provider::Existing => 0,
        // k3s, and whatever comes later.
        _ => 1024,
    }
}

/// Returns how many servers to run at once: what was asked for, or what memory and cores allow.
pub(super) fn servers(asked: Option<NonZeroUsize>, provider: Provider, wanted: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let allowed = asked.map_or_else(|| allowed(available(), cores, each(provider)), NonZeroUsize::get);
    allowed.min(wanted).max(1)
}

/// A quarter of the memory stays free: converters and their processes live here, too. More servers than cores only
/// wait for each other.
fn allowed(available: Option<u64>, cores: usize, each: u64) -> usize {
    let carried = match (available, each) {
        (Some(available), 1..) => usize::try_from(available / 4 * 3 / each).unwrap_or(usize::MAX),
        // Nobody says how much there is, or there is one server only: one after the other is safe.
        (None, _) | (_, 0) => 1,
    };
    carried.min(cores)
}

/// The memory that can be had without swapping, in MiB: the machine's, or less where a control group says so.
fn available() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text))?;
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max").map(|most| {
        let used = number("/sys/fs/cgroup/memory.current").unwrap_or_default();
        most.saturating_sub(used) >> 20
    });
    Some(group.map_or(machine, |group| group.min(machine)))
}

fn of_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes >> 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_cores_decide() {
        assert_eq!(of_machine("MemTotal: 9 kB\nMemAvailable:    2097152 kB\n"), Some(2048));
        assert_eq!(of_machine("MemTotal: 9 kB\n"), None);
        assert_eq!(allowed(Some(2048), 8, 512), 3);
        assert_eq!(allowed(Some(65_536), 2, 512), 2);
        assert_eq!(allowed(Some(300), 8, 512), 0);
        assert_eq!(allowed(None, 8, 512), 1);
        let asked = NonZeroUsize::new(9);
        assert_eq!(servers(asked, Provider::Local, 4), 4);
        assert_eq!(servers(NonZeroUsize::new(1), Provider::Kind, 4), 1);
    }
}
