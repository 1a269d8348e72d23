//! The page `docs/control-planes.md`.

use std::collections::BTreeSet;

use anyhow::Context as _;

use super::{Row, Rows};

const HEAD: &str = "\
# Control planes

crdproof can build these releases from Go modules. Each was built and started once. `cargo xtask release-table` writes this
page.

The times come from one machine with 2 cores and are for orientation only: the builds ran at the lowest priority next to
other work, and used what earlier builds had left in Go's cache. All releases run with etcd 3.6.16. With a warm Go cache a
build takes less than a minute. A release that is in crdproof's cache is not built again.

Each lock pins every module by its digest. `cargo xtask verify-locks` compares the digests with Go's checksum database, and
lists the few modules that the database does not know.

| release | Go | build | kube-apiserver | controller manager | start to `/readyz` | memory of kube-apiserver, etcd |
| --- | --- | --- | --- | --- | --- | --- |
";

/// Renders the page for all releases that have a lock or measurements, the newest first.
pub(super) fn render(rows: &Rows, locked: &[String]) -> anyhow::Result<String> {
    let names: BTreeSet<&String> = rows.keys().chain(locked).collect();
    let mut releases = Vec::new();
    for name in names {
        let numbers: Result<Vec<u64>, _> = name.split('.').map(str::parse).collect();
        releases.push((numbers.with_context(|| format!("not a release: {name}"))?, name));
    }
    releases.sort_unstable_by(|left, right| right.cmp(left));
    let mut page = HEAD.to_owned();
    for (_, name) in releases {
        page.push_str(
            &rows.get(name).map_or_else(|| format!("| {name} | not yet built | | | | | |\n"), |row| line(name, row)),
        );
    }
    Ok(page)
}

fn line(name: &str, row: &Row) -> String {
    let build = match row.build_seconds {
        None | Some(0) => "not measured".to_owned(),
        Some(seconds) => format!("{} min {:02} s", seconds / 60, seconds % 60),
    };
    let manager = if row.controller_manager { "yes" } else { "no" };
    let Row { go, size_mb, ready_seconds, apiserver_rss_mb, etcd_rss_mb, .. } = row;
    format!(
        "| {name} | {go} | {build} | {size_mb} MB | {manager} | {ready_seconds:.1} s | {apiserver_rss_mb} MB, {etcd_rss_mb} MB |\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_release_comes_first() {
        let locked = ["1.9.1", "1.36.10", "1.36.9"].map(str::to_owned);
        let page = render(&Rows::new(), &locked).unwrap();
        let lines: Vec<&str> = page.lines().rev().take(3).collect();
        let expected = ["1.9.1", "1.36.9", "1.36.10"].map(|name| format!("| {name} | not yet built | | | | | |"));
        assert_eq!(lines, expected);
        assert!(render(&Rows::new(), &["notes".to_owned()]).is_err());
    }
}
