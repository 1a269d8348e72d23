//! Operators, which take fields out of an object of one version and return the values for the other.

use serde_json::{Map, Value};

use super::Refusal;
use super::codec::{Codec, Gap, Side, write_text};
use super::model::Otherwise;
use super::path::{Emptied, FieldPath, Key};
use super::stash::{Kept, annotate, bundle, resolved, take_annotation, unbundle};
use crdproof_schema::structural::Expression;

/// Replaces a reason that would reveal a secret.
const REDACTED_REASON: &str = "the value, which is not shown, would not come back the same";

/// A value, and the place to put it.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) path: FieldPath,
    pub(super) keys: Vec<Key>,
    pub(super) value: Value,
    /// True if it is dropped when its item no longer exists.
    pub(super) from_stash: bool,
}

impl Write {
    pub(super) fn new(path: &FieldPath, keys: Vec<Key>, value: Value) -> Self {
        Self { path: path.clone(), keys, value, from_stash: false }
    }

    /// Returns the order of writes. Items are found by their keys, so keys are put first.
    pub(super) fn rank(&self) -> (usize, bool) {
        (self.path.depth(), self.keys.iter().any(|key| matches!(key, Key::Item(_))))
    }

    /// Puts the value into an object.
    pub(super) fn carry_out(self, object: &mut Value) -> Result<(), Refusal> {
        let keys = resolved(&self.path, self.keys, object);
        let Some(keys) = keys.filter(|keys| !self.from_stash || self.path.has_item(object, keys)) else {
            return Ok(());
        };
        let refused = |why| Refusal::new(self.path.at(&keys), why);
        self.path.put(object, &keys, self.value).map_err(refused)
    }
}

/// A compiled operator.
#[derive(Debug)]
pub(super) enum Operator {
    Transfer(Box<Transfer>),
    Gather(Gathered),
    Compute(Box<[(FieldPath, Expression); 2]>),
    Stash(Kept),
    Lost { side: Side, path: FieldPath },
    Constant { side: Side, path: FieldPath, value: Value },
}

/// A value that both versions have, perhaps translated.
#[derive(Debug)]
pub(super) struct Transfer {
    pub(super) places: [Place; 2],
    pub(super) codec: Codec,
    pub(super) otherwise: Otherwise,
}

/// The place of a value on one side: one field, or several that are its parts.
#[derive(Debug)]
pub(super) enum Place {
    One(FieldPath),
    Parts(Vec<(String, FieldPath)>),
}

/// Several lists of one side that are a single list of the other.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) several: Side,
    pub(super) lists: Vec<List>,
    pub(super) into: FieldPath,
}

/// One of several lists.
#[derive(Debug)]
pub(super) struct List {
    pub(super) path: FieldPath,
    pub(super) under: Option<String>,
    pub(super) stringify: Option<String>,
}

impl Operator {
    /// Returns the depth of its paths on this side; the deepest operators take first.
    pub(super) fn depth(&self, from: Side) -> usize {
        match self {
            Self::Transfer(transfer) => match &transfer.places[from.index()] {
                Place::One(path) => path.depth(),
                Place::Parts(parts) => parts.iter().map(|(_, path)| path.depth()).max().unwrap_or(0),
            },
            Self::Gather(gathered) if gathered.several == from => {
                gathered.lists.iter().map(|list| list.path.depth()).max().unwrap_or(0)
            }
            Self::Gather(gathered) => gathered.into.depth(),
            Self::Compute(sides) => sides[from.index()].0.depth(),
            Self::Stash(kept) => kept.path.depth(),
            Self::Lost { path, .. } | Self::Constant { path, .. } => path.depth(),
        }
    }

    /// Takes its fields out of `object`. `source` is the whole unchanged object.
    pub(super) fn take(&self, from: Side, source: &Value, object: &mut Value) -> Result<Vec<Write>, Refusal> {
        match self {
            Self::Transfer(transfer) => transfer.take(from, object),
            Self::Gather(gathered) => gathered.take(from, object),
            Self::Compute(sides) => compute(sides, from, source, object),
            Self::Stash(kept) => Ok(kept.take(from, source, object)),
            Self::Lost { side, path } => {
                if *side == from {
                    path.take(object, Emptied::Stay);
                }
                Ok(Vec::new())
            }
            Self::Constant { side, path, value } => {
                if *side == from {
                    leave_off_constant(path, value, object)?;
                }
                Ok(Vec::new())
            }
        }
    }
}

impl Transfer {
    fn take(&self, from: Side, object: &mut Value) -> Result<Vec<Write>, Refusal> {
        let (own, other) = (&self.places[from.index()], &self.places[from.other().index()]);
        let mut taken = match (own, other) {
            (Place::One(own), Place::One(other)) if other.ends_with_each() => take_every_item(own, object)?,
            _ => own.take(object),
        };
        let mut writes = Vec::new();
        if let Otherwise::Stash(annotation) = &self.otherwise {
            self.restore(from, annotation, object, &mut taken, &mut writes);
        }
        let mut kept = Vec::new();
        for (keys, value) in taken {
            let said = self.codec.say(from, &value);
            match (said.gap, &self.otherwise) {
                (None, _) | (Some(Gap::Spelling(_)), Otherwise::Accept) => {}
                (Some(_), Otherwise::Stash(_)) => kept.push((keys.clone(), value)),
                (Some(Gap::Spelling(why) | Gap::Meaning(why)), _) => {
                    let secret = [own, other].iter().any(|place| place.is_secret());
                    return Err(Refusal::new(own.at(&keys), if secret { REDACTED_REASON.to_owned() } else { why }));
                }
            }
            if let Some(value) = said.value {
                other.write(keys, value, &mut writes);
            }
        }
        if let Otherwise::Stash(annotation) = &self.otherwise {
            writes.extend(bundle(own.path(), kept).map(|value| annotate(annotation, &value)));
        }
        Ok(writes)
    }

    /// Restores stashed values if the present ones still correspond, and returns the rest for translation.
    fn restore(
        &self,
        from: Side,
        annotation: &str,
        object: &mut Value,
        taken: &mut Vec<(Vec<Key>, Value)>,
        writes: &mut Vec<Write>,
    ) {
        let (own, other) = (self.places[from.index()].path(), &self.places[from.other().index()]);
        let Some(stashed) = take_annotation(object, annotation) else { return };
        for Write { keys, value, .. } in unbundle(own, stashed) {
            let at = taken.iter().position(|(taken, _)| *taken == keys);
            let present = at.and_then(|at| taken.get(at)).map(|(_, value)| value);
            if let Some(restored) = self.codec.restore(from.other(), present, &value) {
                if let Some(at) = at {
                    taken.remove(at);
                }
                let before = writes.len();
                other.write(keys, restored, writes);
                writes[before..].iter_mut().for_each(|write| write.from_stash = true);
            }
        }
    }
}

/// Takes a value from every item of a list, for a version that has a plain list of them.
fn take_every_item(path: &FieldPath, object: &mut Value) -> Result<Vec<(Vec<Key>, Value)>, Refusal> {
    let items = path.count_items(object);
    let taken = path.take(object, Emptied::GoWithItems);
    if taken.len() == items {
        return Ok(taken);
    }
    let message = format!(
        "{} of {items} items have no value, and the other version has a plain list of them",
        items - taken.len()
    );
    Err(Refusal::new(path.to_string(), message))
}

impl Place {
    /// The path that represents the place in messages and for its items.
    fn path(&self) -> &FieldPath {
        match self {
            Self::One(path) => path,
            Self::Parts(parts) => &parts[0].1,
        }
    }

    fn is_secret(&self) -> bool {
        match self {
            Self::One(path) => path.is_secret(),
            Self::Parts(parts) => parts.iter().any(|(_, path)| path.is_secret()),
        }
    }

    fn at(&self, keys: &[Key]) -> String {
        match self {
            Self::One(path) => path.at(keys),
            Self::Parts(parts) => {
                let parts: Vec<String> = parts.iter().map(|(_, path)| path.at(keys)).collect();
                parts.join(", ")
            }
        }
    }

    fn take(&self, object: &mut Value) -> Vec<(Vec<Key>, Value)> {
        match self {
            Self::One(path) => path.take(object, Emptied::Go),
            Self::Parts(parts) => {
                let mut bundles: Vec<(Vec<Key>, Value)> = Vec::new();
                for (name, path) in parts {
                    for (keys, value) in path.take(object, Emptied::Go) {
                        let at = bundles.iter().position(|(known, _)| *known == keys).unwrap_or_else(|| {
                            bundles.push((keys, Value::Object(Map::new())));
                            bundles.len() - 1
                        });
                        bundles[at].1[name.as_str()] = value;
                    }
                }
                bundles
            }
        }
    }

    fn write(&self, keys: Vec<Key>, mut value: Value, writes: &mut Vec<Write>) {
        match self {
            Self::One(path) => writes.push(Write::new(path, keys, value)),
            Self::Parts(parts) => {
                for (name, path) in parts {
                    let part = value.get_mut(name).map(Value::take);
                    writes.extend(part.map(|value| Write::new(path, keys.clone(), value)));
                }
            }
        }
    }
}

impl Gathered {
    fn take(&self, from: Side, object: &mut Value) -> Result<Vec<Write>, Refusal> {
        let write = |path: &FieldPath, value| vec![Write::new(path, Vec::new(), value)];
        if from != self.several {
            let taken = self.into.take(object, Emptied::Stay).pop();
            return Ok(taken.map_or_else(Vec::new, |(_, value)| write(&self.lists[0].path, value)));
        }
        let mut gathered: Option<Vec<Value>> = None;
        for list in &self.lists {
            let Some((_, value)) = list.path.take(object, Emptied::Stay).pop() else { continue };
            let Value::Array(items) = value else {
                return Err(Refusal::new(list.path.to_string(), "this is not a list"));
            };
            gathered.get_or_insert_default().extend(items.into_iter().map(|item| list.adapted(item)));
        }
        Ok(gathered.map_or_else(Vec::new, |items| write(&self.into, Value::Array(items))))
    }
}

impl List {
    fn adapted(&self, item: Value) -> Value {
        let mut item = match &self.under {
            Some(field) => Value::Object(Map::from_iter([(field.clone(), item)])),
            None => item,
        };
        if let Some(field) = self.stringify.as_ref().and_then(|name| item.get_mut(name)) {
            *field = Value::String(write_text(field));
        }
        item
    }
}

fn compute(
    sides: &[(FieldPath, Expression); 2],
    from: Side,
    source: &Value,
    object: &mut Value,
) -> Result<Vec<Write>, Refusal> {
    let ((own, _), (target, expression)) = (&sides[from.index()], &sides[from.other().index()]);
    if own.take(object, Emptied::Go).is_empty() {
        return Ok(Vec::new());
    }
    let value = expression
        .evaluate(source)
        .map_err(|why| Refusal::new(own.to_string(), format!("{target} cannot be computed: {why}")))?;
    if value.is_null() {
        return Ok(Vec::new());
    }
    Ok(vec![Write::new(target, Vec::new(), value)])
}

/// Removes a constant. Refuses another value, because it would not come back.
fn leave_off_constant(path: &FieldPath, value: &Value, object: &mut Value) -> Result<(), Refusal> {
    let mut refusal = None;
    path.visit_parents(object, &mut |parent, name| match parent.remove(name) {
        Some(present) if present == *value => {}
        Some(present) => refusal = Some(format!("it is {present}, and the map says that it is always {value}")),
        None => refusal = Some(format!("it is missing, and the map says that it is always {value}")),
    });
    let shown = |message| if path.is_secret() { REDACTED_REASON.to_owned() } else { message };
    refusal.map_or(Ok(()), |message| Err(Refusal::new(path.to_string(), shown(message))))
}
