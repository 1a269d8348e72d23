//! Smaller valid objects from an object of any origin.
//!
//! Each round tests candidates in one batch, confirms the best failing one alone, and continues from it, until none
//! fails any more.

use serde_json::{Number, Value};

use super::generator::Generator;
use super::solve::Seg;

/// The budget of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The maximum number of tested objects, in all rounds.
    pub objects: usize,
    /// Objects in one round.
    pub batch: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { objects: 4000, batch: 64 }
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Shrunk {
    /// The smallest object that still fails.
    pub object: Value,
    /// The number of tested objects.
    pub asked: usize,
    /// True if nothing smaller fails, false if the budget was used up.
    pub is_minimal: bool,
}

/// The number of objects in the first batch of a round; each further one has twice as many, up to the budget's.
const FIRST_BATCH: usize = 6;

const META: [&str; 2] = ["apiVersion", "kind"];

/// Smaller objects, the most promising first: without whole optional parts, with shorter lists, with simpler values.
/// Returns only those that our own validator admits.
pub fn candidates(generator: &Generator<'_>, object: &Value) -> Vec<Value> {
    smaller(object).filter(|smaller| generator.admits(smaller)).collect()
}

/// Smaller objects of any shape, valid or not, the most promising first.
fn smaller(object: &Value) -> impl Iterator<Item = Value> + use<'_> {
    let mut changes = Vec::new();
    collect(object, &mut Vec::new(), &mut changes);
    // Large parts first; changes of one size keep the order of the object.
    changes.sort_by_key(|change| (change.rank, std::cmp::Reverse(change.weight)));
    changes.into_iter().filter_map(|change| {
        let mut smaller = object.clone();
        apply(&mut smaller, &change).then_some(smaller)
    })
}

/// One way to shrink an object.
struct Change {
    place: Vec<Seg>,
    what: What,
    /// The priority; lower first.
    rank: u8,
    /// The size that it removes.
    weight: usize,
}

enum What {
    Remove,
    /// Keeps only these items of a list.
    Keep(usize, usize),
    Replace(Value),
}

/// Returns the size of an object, which a search minimizes: its values, with long strings counting more.
pub fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(size).sum::<usize>(),
        Value::String(text) => 1 + text.len() / 16,
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

fn add(changes: &mut Vec<Change>, place: &[Seg], what: What, rank: u8, weight: usize) {
    changes.push(Change { place: place.to_vec(), what, rank, weight });
}

fn collect(value: &Value, place: &mut Vec<Seg>, changes: &mut Vec<Change>) {
    match value {
        Value::Object(map) => {
            for (name, part) in map {
                let fixed = place.is_empty() && META.contains(&name.as_str());
                place.push(Seg::Field(name.clone()));
                if !fixed {
                    add(changes, place, What::Remove, 0, size(part));
                }
                place.pop();
            }
            for (name, part) in map {
                if place.is_empty() && META.contains(&name.as_str()) {
                    continue;
                }
                place.push(Seg::Field(name.clone()));
                collect(part, place, changes);
                place.pop();
            }
        }
        Value::Array(items) => {
            let half = items.len() / 2;
            if half > 0 {
                add(changes, place, What::Keep(0, half), 1, size(value) / 2);
                add(changes, place, What::Keep(half, items.len()), 1, size(value) / 2);
            }
            for (index, item) in items.iter().enumerate() {
                place.push(Seg::Item(index));
                add(changes, place, What::Remove, 2, size(item));
                collect(item, place, changes);
                place.pop();
            }
        }
        Value::String(text) => {
            for simpler in simpler_texts(text) {
                add(changes, place, What::Replace(simpler.into()), 3, size(value));
            }
        }
        Value::Number(number) => {
            for simpler in simpler_numbers(number) {
                add(changes, place, What::Replace(simpler), 4, 1);
            }
        }
        Value::Bool(true) => add(changes, place, What::Replace(false.into()), 4, 1),
        Value::Bool(false) | Value::Null => {}
    }
}

fn apply(object: &mut Value, change: &Change) -> bool {
    let Some((last, parent)) = change.place.split_last() else { return false };
    let parent = parent.iter().try_fold(object, |value, seg| match seg {
        Seg::Field(name) => value.get_mut(name),
        Seg::Item(index) => value.get_mut(index),
    });
    match (parent, last, &change.what) {
        (Some(Value::Object(map)), Seg::Field(name), What::Remove) => map.remove(name).is_some(),
        (Some(Value::Array(items)), Seg::Item(index), What::Remove) if *index < items.len() => {
            items.remove(*index);
            true
        }
        (Some(parent), last, what) => {
            let slot = match last {
                Seg::Field(name) => parent.get_mut(name),
                Seg::Item(index) => parent.get_mut(index),
            };
            match (slot, what) {
                (Some(Value::Array(items)), What::Keep(from, to)) => {
                    *items = items.get(*from..*to).map(<[Value]>::to_vec).unwrap_or_default();
                    true
                }
                (Some(slot), What::Replace(value)) => {
                    *slot = value.clone();
                    true
                }
                _ => false,
            }
        }
        (None, ..) => false,
    }
}

/// Shorter strings: empty, one letter, halves, without the last character.
fn simpler_texts(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let half = chars.len() / 2;
    let mut texts = vec![String::new(), "a".to_owned(), "0".to_owned()];
    texts.push(chars[..half].iter().collect());
    texts.push(chars[half..].iter().collect());
    texts.push(chars[..chars.len().saturating_sub(1)].iter().collect());
    texts.push(chars.iter().skip(1).collect());
    texts.retain(|simpler| simpler.chars().count() < chars.len() || chars.len() == 1 && is_simpler(simpler, text));
    texts.dedup();
    texts
}

/// A single letter `a` is the simplest string that is not empty.
fn is_simpler(simpler: &str, text: &str) -> bool {
    simpler.is_empty() || simpler == "a" && text != "a" && text != "0"
}

/// Numbers nearer to zero, positive before negative, integers before others.
fn simpler_numbers(number: &Number) -> Vec<Value> {
    let Some(whole) = number.as_i64() else {
        let cut = number.as_f64().filter(|value| value.abs() < 1e15).map(f64::trunc);
        let mut simpler: Vec<Value> = vec![0.into(), 1.into()];
        #[expect(clippy::cast_possible_truncation, reason = "far below 64 bits")]
        simpler.extend(cut.map(|value| Value::from(value as i64)));
        return simpler;
    };
    let mut simpler: Vec<i64> = vec![0, 1, whole / 2, whole - whole.signum(), whole - 2 * whole.signum()];
    if whole < 0 {
        simpler.push(whole.checked_neg().unwrap_or(i64::MAX));
    }
    simpler.retain(|other| {
        other.unsigned_abs() < whole.unsigned_abs() || other.unsigned_abs() == whole.unsigned_abs() && *other > whole
    });
    simpler.dedup();
    simpler.into_iter().map(Value::from).collect()
}

/// Searches for the smallest valid object that still fails. `fails` gets several objects at once and returns for each
/// if it fails in the same way; an object that fails in a batch is tested again alone, because a batch may fail for
/// other reasons.
pub fn search(
    generator: &Generator<'_>,
    object: &Value,
    budget: Budget,
    fails: &mut impl FnMut(&[Value]) -> Vec<bool>,
) -> Shrunk {
    search_among(object, budget, &|smaller| generator.admits(smaller), fails)
}

/// Does the same with the objects that `allowed` accepts, which need not be valid.
pub fn search_among(
    object: &Value,
    budget: Budget,
    allowed: &dyn Fn(&Value) -> bool,
    fails: &mut impl FnMut(&[Value]) -> Vec<bool>,
) -> Shrunk {
    let mut shrunk = Shrunk { object: object.clone(), asked: 0, is_minimal: false };
    'rounds: loop {
        let mut ways = smaller(&shrunk.object).filter(|smaller| allowed(smaller));
        // The first changes are the most promising, and later ones after a success were tested in vain.
        let mut size = FIRST_BATCH;
        loop {
            let left = budget.objects.saturating_sub(shrunk.asked);
            let batch: Vec<Value> = ways.by_ref().take(size.min(budget.batch).min(left)).collect();
            size *= 2;
            if batch.is_empty() {
                let is_minimal = left > 0;
                drop(ways);
                shrunk.is_minimal = is_minimal;
                return shrunk;
            }
            shrunk.asked += batch.len();
            let verdicts = fails(&batch);
            let failing = batch.into_iter().zip(verdicts).filter(|(_, fails)| *fails).map(|(object, _)| object);
            for candidate in failing {
                shrunk.asked += 1;
                if fails(std::slice::from_ref(&candidate)) == [true] {
                    drop(ways);
                    shrunk.object = candidate;
                    continue 'rounds;
                }
            }
        }
    }
}
