//! The number of API servers that this machine can run at once.

use std::fs;
use std::num::NonZeroUsize;

use crdproof_envtest::Provider;

/// Returns the memory of one control plane, in MiB. The largest measurement of `local` was 400 MB (see
/// docs/control-planes.md), plus some for its objects; containers add kubelet, runtime and controllers.
fn memory_of_server(provider: Provider) -> u64 {
    match provider {
        Provider::Local => 512,
        Provider::Kind => 1536,
        // It runs elsewhere.
        Provider::Existing => 0,
        // k3s, and future providers.
        _ => 1024,
    }
}

/// Returns the number of servers to run at once: the requested number, or as many as memory and cores allow.
pub(super) fn servers(asked: Option<NonZeroUsize>, provider: Provider, wanted: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let allowed = asked.map_or_else(|| allowed(available(), cores, memory_of_server(provider)), NonZeroUsize::get);
    allowed.min(wanted).max(1)
}

/// A quarter of the memory stays free for converters and their processes. More servers than cores only wait for each
/// other.
fn allowed(available: Option<u64>, cores: usize, each: u64) -> usize {
    let carried = match (available, each) {
        (Some(available), 1..) => usize::try_from(available / 4 * 3 / each).unwrap_or(usize::MAX),
        // The memory is unknown, or there is only one server: one after the other is safe.
        (None, _) | (_, 0) => 1,
    };
    carried.min(cores)
}

/// The available memory without swapping, in MiB: the machine's, or the limit of a control group.
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
