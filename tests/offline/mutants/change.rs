//! Effects of faults on one object.

use serde_json::Value;

use super::model::What;
use super::place::{Place, annotate, annotation};

/// Changes an object that was converted correctly. `input` is the object before its conversion, `before` the object
/// that was converted before it.
pub(super) fn change(what: &What, input: &Value, before: Option<&Value>, to: &str, output: &mut Value) {
    match what {
        What::Drop(place) => place.remove(output),
        What::Put(place, value) => place.parents(output, &mut |parent, name| {
            parent.insert(name.to_owned(), value.clone());
        }),
        What::Fill(place, value) => place.parents(output, &mut |parent, name| {
            parent.entry(name.to_owned()).or_insert_with(|| value.clone());
        }),
        What::Replace(place, value) => each(place, output, &mut |found| *found = value.clone()),
        What::Omit(place, value) => place.parents(output, &mut |parent, name| {
            if parent.get(name) == Some(value) {
                parent.remove(name);
            }
        }),
        What::Swap(left, right) => swap(left, right, output),
        What::Reverse(place) => each(place, output, &mut |found| {
            if let Value::Array(items) = found {
                items.reverse();
            }
        }),
        What::Double(place) => each(place, output, &mut |found| {
            if let Value::Array(items) = found {
                items.extend(items.first().cloned());
            }
        }),
        What::Floats => floats(output),
        What::KeepAnnotation(name) => {
            if let Some(text) = annotation(input, name) {
                annotate(output, name, Some(text.into()));
            }
        }
        What::DropAnnotation(name) => annotate(output, name, None),
        What::Pad(name, bytes) => annotate(output, name, Some("x".repeat(*bytes).into())),
        What::Leak(place) => {
            let leaked = before.and_then(|before| place.values(before).into_iter().flatten().next());
            if let Some(leaked) = leaked {
                place.parents(output, &mut |parent, name| drop(parent.insert(name.to_owned(), leaked.clone())));
            }
        }
        What::Carry { of, field, annotation: name } => carry(of, field, name, input, to, output),
        What::CarrySpec { of, annotation: name } => carry_spec(of, name, input, to, output),
        What::Echo => *output = input.clone(),
        // These faults do not apply to a single converted object.
        What::Rename { .. }
        | What::Refuse(_)
        | What::HangUp
        | What::Hang
        | What::Http(..)
        | What::ContentType(_)
        | What::Slow(_)
        | What::Answer(..)
        | What::AnswerWithout(_)
        | What::Backwards
        | What::Only(_)
        | What::LikeFirst => {}
    }
}

fn each(place: &Place, object: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    place.parents(object, &mut |parent, name| {
        if let Some(found) = parent.get_mut(name) {
            visit(found);
        }
    });
}

fn swap(left: &Place, right: &Place, object: &mut Value) {
    let (first, second) = (left.values(object), right.values(object));
    for (place, mut values) in [(left, second.into_iter()), (right, first.into_iter())] {
        place.parents(object, &mut |parent, name| match values.next().flatten() {
            Some(value) => drop(parent.insert(name.to_owned(), value)),
            None => drop(parent.remove(name)),
        });
    }
}

fn floats(value: &mut Value) {
    match value {
        Value::Number(number) => {
            // Behave like JSON decoders with only one number type: write whole numbers without a fraction.
            let float = number.as_f64().unwrap_or_default();
            let rounded = format!("{float:.0}").parse::<i64>().ok();
            *value = rounded.filter(|_| number.is_i64()).map_or_else(|| Value::from(float), Value::from);
        }
        Value::Array(items) => items.iter_mut().for_each(floats),
        Value::Object(map) => map.values_mut().for_each(floats),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn carry(of: &str, field: &Place, name: &str, input: &Value, to: &str, output: &mut Value) {
    if to == of {
        let kept: Vec<Option<Value>> =
            annotation(input, name).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let mut kept = kept.into_iter();
        annotate(output, name, None);
        field.parents(output, &mut |parent, name| match kept.next().flatten() {
            Some(value) => drop(parent.insert(name.to_owned(), value)),
            None => drop(parent.remove(name)),
        });
    } else if field.is_in(input) {
        let kept = serde_json::to_string(&field.values(input)).unwrap_or_default();
        annotate(output, name, Some(kept.into()));
    }
}

fn carry_spec(of: &str, name: &str, input: &Value, to: &str, output: &mut Value) {
    if to == of {
        let kept = annotation(input, name).and_then(|text| serde_json::from_str::<Value>(text).ok());
        annotate(output, name, None);
        if let Some(kept) = kept {
            output["spec"] = kept;
        }
    } else if let Some(spec) = input.get("spec") {
        annotate(output, name, Some(spec.to_string().into()));
    }
}
