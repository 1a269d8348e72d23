//! Declared losses, by direction.

use serde_json::Value;

use super::path::FieldPath;
use super::{FieldMap, Loss};

impl FieldMap {
    /// Returns true if a loss of this field, or of one above it, is declared for this direction.
    pub fn declares_lost(&self, from: &str, to: &str, field: &str) -> bool {
        self.lost.iter().any(|loss| loss.covers(from, to, field))
    }
}

impl Loss {
    /// Returns true if this is the loss of the field, or of one above it, for this direction.
    pub fn covers(&self, from: &str, to: &str, field: &str) -> bool {
        let steps = concrete(field);
        self.from == from && self.to == to && FieldPath::parse(&self.path).is_some_and(|path| path.covers(&steps))
    }

    /// Returns true if an object of the version that has the field sets it.
    pub fn is_set(&self, object: &Value) -> bool {
        FieldPath::parse(&self.path).is_some_and(|path| !path.get(object).is_empty())
    }
}

/// Returns true if the loss of a field of the first version is declared on a route through versions. `field` has
/// concrete items, such as `.spec.ports[0].name`; it is followed through renames.
pub fn declares_lost(maps: &[&FieldMap], way: &[&str], field: &str) -> bool {
    let mut field = field.to_owned();
    for pair in way.windows(2) {
        let &[from, to] = pair else { continue };
        for (map, from, to) in hops(maps, from, to) {
            if map.declares_lost(from, to, &field) {
                return true;
            }
            field = renamed(map, from, to, &field).unwrap_or(field);
        }
    }
    false
}

/// A map with its source and target version.
type Hop<'a> = (&'a FieldMap, &'a str, &'a str);

/// The maps on the shortest route between two versions.
fn hops<'a>(maps: &[&'a FieldMap], from: &'a str, to: &'a str) -> Vec<Hop<'a>> {
    let mut ways: Vec<(&str, Vec<Hop<'a>>)> = vec![(from, Vec::new())];
    let mut next = 0;
    while let Some((here, way)) = ways.get(next).cloned() {
        if here == to {
            return way;
        }
        for map in maps {
            let there = map.opposite(here);
            if !there.is_empty() && ways.iter().all(|(known, _)| *known != there) {
                let longer = way.iter().copied().chain([(*map, here, there)]).collect();
                ways.push((there, longer));
            }
        }
        next += 1;
    }
    Vec::new()
}

/// The name of a field in the other version, if it or a field above it is renamed.
fn renamed(map: &FieldMap, from: &str, to: &str, field: &str) -> Option<String> {
    let steps = concrete(field);
    let moves = map.rename.iter().filter_map(|paths| {
        let (source, target) = (FieldPath::parse(paths.get(from)?)?, FieldPath::parse(paths.get(to)?)?);
        source.covers(&steps).then_some((source, target))
    });
    let (source, target) = moves.max_by_key(|(source, _)| source.depth())?;
    Some(target.in_place_of(&source, &steps))
}

/// The steps of a path with concrete items: `.spec.ports[0].name` is spec, ports, 0, name.
fn concrete(field: &str) -> Vec<&str> {
    field.split(['.', '[', ']']).filter(|step| !step.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_loss_is_followed_through_renames() {
        let map = |value| serde_json::from_value::<FieldMap>(value).unwrap();
        let first = map(json!({"crd": "a", "between": ["v1", "v2"],
            "rename": [{"v1": ".spec.ports", "v2": ".spec.ends"}]}));
        let second = map(json!({"crd": "a", "between": ["v2", "v3"], "lost": [
            {"from": "v2", "to": "v3", "path": ".spec.ends[*].name", "reason": "x", "until": "2027-01-01"}]}));
        let maps = [&first, &second];
        assert!(declares_lost(&maps, &["v1", "v2", "v3"], ".spec.ports[0].name"));
        assert!(declares_lost(&maps, &["v1", "v3"], ".spec.ports[0].name"), "through the hub");
        assert!(!declares_lost(&maps, &["v1", "v2", "v3"], ".spec.ports[0].port"));
        assert!(!declares_lost(&maps, &["v1", "v2"], ".spec.ports[0].name"));
        assert!(!declares_lost(&maps, &["v3", "v2", "v1"], ".spec.ends[0].name"));
    }
}
