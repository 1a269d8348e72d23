//! Coverage of a version, as a tree of the fields that no converted object set, before or after its conversion.

use serde::Serialize;

use super::Reach;

/// The coverage of one version.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Covered {
    version: String,
    seen: usize,
    leaves: usize,
    percent: usize,
    /// The fields that were never set, with their parents.
    tree: Vec<Node>,
    /// The number of unset fields that are not listed.
    more: usize,
}

/// One field, below the preceding ones that are less deep.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Node {
    depth: usize,
    name: String,
    /// True if it was never set itself, and is not only a parent.
    is_leaf: bool,
}

impl Covered {
    pub(super) fn of(reach: &Reach) -> Self {
        let missing = reach.leaves.saturating_sub(reach.seen);
        Self {
            version: reach.version.clone(),
            seen: reach.seen,
            leaves: reach.leaves,
            percent: (reach.seen * 100).checked_div(reach.leaves).unwrap_or(100),
            tree: tree(&reach.never),
            more: missing.saturating_sub(reach.never.len()),
        }
    }
}

fn tree(paths: &[String]) -> Vec<Node> {
    let mut sorted: Vec<Vec<&str>> =
        paths.iter().map(|path| path.split('.').filter(|part| !part.is_empty()).collect()).collect();
    sorted.sort();
    let mut nodes = Vec::new();
    let mut above: Vec<&str> = Vec::new();
    for path in &sorted {
        let shared = path.iter().zip(&above).take_while(|(left, right)| left == right).count();
        for (depth, name) in path.iter().enumerate().skip(shared.min(path.len().saturating_sub(1))) {
            nodes.push(Node { depth, name: (*name).to_owned(), is_leaf: depth + 1 == path.len() });
        }
        above.clone_from(path);
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_share_the_branches_above_them() {
        let never = [".spec.backup.keep", ".spec.backup.at", ".spec.tier"].map(str::to_owned).to_vec();
        let covered = Covered::of(&Reach { version: "v1".into(), leaves: 9, seen: 5, never });
        let shown: Vec<String> =
            covered.tree.iter().map(|node| format!("{}{}", " ".repeat(node.depth), node.name)).collect();
        assert_eq!(shown, ["spec", " backup", "  at", "  keep", " tier"]);
        assert_eq!((covered.percent, covered.more), (55, 1));
        assert!(covered.tree[2].is_leaf && !covered.tree[1].is_leaf);
    }
}
