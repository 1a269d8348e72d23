//! Violations of single constraints. A valid object is generated first, and then made invalid in one place; our own
//! validator predicts the errors of a server, and only the intended one may occur.

use crate::document::pointer;
use serde_json::{Value, json};

use super::case::Meant;
use super::generator::Generator;
use super::make::Want;
use super::plan::{Id, Kind, Topology};
use super::random::Random;
use super::solve::{Repair, Seg, pool};
use crate::structural::{Outcome, Path, Step, Violation};

/// A constraint to violate.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    node: Id,
    failure: Failure,
}

/// The way to violate a keyword.
#[derive(Debug, Clone, PartialEq)]
enum Failure {
    Type,
    Enumeration,
    Minimum,
    Maximum,
    MultipleOf,
    Length(&'static str, usize),
    Pattern,
    Format,
    Items(&'static str, usize),
    Duplicate,
    Required(String),
    Properties(&'static str, usize),
    Unknown,
    Rule(usize),
}

/// Maximum length of lists and strings that are generated only to be refused.
const MAX_LENGTH: usize = 3000;

const RULES: &str = "x-kubernetes-validations";

impl Failure {
    fn keyword(&self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Enumeration => "enum",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::MultipleOf => "multipleOf",
            Self::Length(keyword, _) | Self::Items(keyword, _) | Self::Properties(keyword, _) => keyword,
            Self::Pattern => "pattern",
            Self::Format => "format",
            Self::Duplicate => "x-kubernetes-list-type",
            Self::Required(_) => "required",
            Self::Unknown => "properties",
            Self::Rule(_) => RULES,
        }
    }
}

impl Generator<'_> {
    /// Every constraint that a create request can violate. A status subresource is not validated there.
    pub(super) fn all_faults(&self) -> Vec<Fault> {
        let status = Path::root().field("status");
        let mut faults = Vec::new();
        let mut open = vec![self.maker.plan.root];
        while let Some(id) = open.pop() {
            let node = self.maker.plan.node(id);
            if self.maker.status_subresource && node.path.is_within(&status) {
                continue;
            }
            self.faults_of(id, &mut faults);
            open.extend(node.children());
        }
        faults
    }

    fn faults_of(&self, id: Id, faults: &mut Vec<Fault>) {
        let node = self.maker.plan.node(id);
        let mut add = |failure: Failure| faults.push(Fault { node: id, failure });
        let typed = node.schemas.iter().any(|schema| schema.ty.is_some() || schema.int_or_string);
        if typed && !node.path.is_root() && !matches!(node.kind, Kind::Impossible(_)) {
            add(Failure::Type);
        }
        (0..node.goals.len()).for_each(|index| add(Failure::Rule(index)));
        match &node.kind {
            Kind::Enumeration(_) => add(Failure::Enumeration),
            Kind::Whole(whole) => {
                if whole.stated.0 {
                    add(Failure::Minimum);
                }
                if whole.stated.1 {
                    add(Failure::Maximum);
                }
                if whole.step > 1 {
                    add(Failure::MultipleOf);
                }
            }
            Kind::Number(floating) => {
                floating.low.iter().for_each(|_| add(Failure::Minimum));
                floating.high.iter().for_each(|_| add(Failure::Maximum));
                floating.step.iter().for_each(|_| add(Failure::MultipleOf));
            }
            Kind::Text(text) => {
                if text.least > 0 {
                    add(Failure::Length("minLength", text.least - 1));
                }
                if let Some(most) = text.most.filter(|most| *most < MAX_LENGTH) {
                    add(Failure::Length("maxLength", most + 1));
                }
                text.patterns.first().into_iter().for_each(|_| add(Failure::Pattern));
                text.formats.first().into_iter().for_each(|_| add(Failure::Format));
            }
            Kind::List(list) => {
                if list.least > 0 {
                    add(Failure::Items("minItems", list.least - 1));
                }
                if list.most < MAX_LENGTH && list.items.is_some() {
                    add(Failure::Items("maxItems", list.most + 1));
                }
                if list.topology != Topology::Atomic && list.items.is_some() {
                    add(Failure::Duplicate);
                }
            }
            Kind::Object(object) => {
                if object.least > 0 {
                    add(Failure::Properties("minProperties", object.least - 1));
                }
                if object.most < MAX_LENGTH {
                    add(Failure::Properties("maxProperties", object.most + 1));
                }
                for field in object.fields.iter().filter(|field| field.required) {
                    if self.maker.plan.node(field.node).default.is_none() {
                        add(Failure::Required(field.name.clone()));
                    }
                }
                if object.values.is_none() && !object.free {
                    add(Failure::Unknown);
                }
            }
            Kind::Boolean | Kind::Free | Kind::Choice(_) | Kind::Impossible(_) => {}
        }
    }

    pub(super) fn negative(&self, random: &mut Random, index: usize) -> Option<(Value, Option<Meant>)> {
        let fault = self.faults.get(index)?;
        let node = self.maker.plan.node(fault.node);
        let object = match self.pinned(random, &node.path, Want::Present) {
            Some(object) => object,
            None => self.maker.object_of(random, 40, &[])?,
        };
        let place = first_place(&object, node.path.steps())?;
        let here = at(&object, &place)?.clone();
        let mut candidates = self.broken(fault, &here, random);
        if let Failure::Rule(rule) = fault.failure {
            let expr = node.goals.get(rule)?.expr.as_ref();
            for _ in 0..8 {
                let mut value = here.clone();
                self.maker.fill(fault.node, Some(&mut value));
                if let Some(expr) = expr {
                    let mut repair = Repair { maker: &self.maker, random, node: fault.node, pins: &[], steps: 200 };
                    repair.violate(expr, &mut value);
                    candidates.push(value);
                }
            }
        }
        candidates.into_iter().take(64).find_map(|value| {
            let mut broken = object.clone();
            *at_mut(&mut broken, &place)? = value;
            let meant = self.proves(fault, &place, &broken)?;
            Some((broken, Some(meant)))
        })
    }

    /// Values that violate the constraint instead of a valid one, and most likely no other.
    fn broken(&self, fault: &Fault, here: &Value, random: &mut Random) -> Vec<Value> {
        let node = self.maker.plan.node(fault.node);
        match (&fault.failure, &node.kind) {
            (Failure::Type, _) => vec![true.into(), "wrong".into(), 7.into(), json!([]), json!({})],
            (Failure::Enumeration, _) => vec!["unlisted".into(), 987_654_321.into()],
            (Failure::Minimum, Kind::Whole(whole)) => {
                vec![whole.low.saturating_sub(whole.step).into(), whole.low.saturating_sub(1).into()]
            }
            (Failure::Maximum, Kind::Whole(whole)) => {
                vec![whole.high.saturating_add(whole.step).into(), whole.high.saturating_add(1).into()]
            }
            (Failure::MultipleOf, Kind::Whole(whole)) => {
                vec![(whole.low + 1).into(), (whole.high - 1).into(), 1.into()]
            }
            (Failure::Minimum, Kind::Number(floating)) => {
                let low = floating.low.unwrap_or_default();
                vec![(low - floating.step.unwrap_or(1.0)).into(), low.into()]
            }
            (Failure::Maximum, Kind::Number(floating)) => {
                let high = floating.high.unwrap_or_default();
                vec![(high + floating.step.unwrap_or(1.0)).into(), high.into()]
            }
            (Failure::MultipleOf, Kind::Number(floating)) => {
                let step = floating.step.unwrap_or(1.0);
                vec![(floating.low.unwrap_or_default() + step / 3.0).into()]
            }
            (Failure::Length(_, length), Kind::Text(text)) => {
                let mut texts: Vec<Value> = text.of_length_only(random, *length).into_iter().map(Value::from).collect();
                texts.push("x".repeat(*length).into());
                texts
            }
            (Failure::Pattern | Failure::Format, Kind::Text(text)) => {
                let valid = here.as_str().unwrap_or_default();
                let odd = ["!", " ", "-", "_", "\n", "\u{e4}", "/", "0", "%"];
                let mut texts: Vec<String> =
                    odd.iter().flat_map(|c| [format!("{valid}{c}"), format!("{c}{valid}")]).collect();
                texts.extend(odd.iter().map(|c| c.repeat(text.least.max(1))));
                texts.extend([String::new(), valid.to_uppercase(), "x".repeat(text.least.max(1))]);
                texts.into_iter().map(Value::from).collect()
            }
            (Failure::Items(_, count), Kind::List(_)) => {
                self.maker.make_sized(fault.node, random, *count).into_iter().collect()
            }
            (Failure::Duplicate, Kind::List(_)) => {
                let mut items = here.as_array().cloned().unwrap_or_default();
                items.extend(items.first().cloned());
                vec![items.into()]
            }
            (Failure::Properties(_, count), Kind::Object(object)) => {
                let mut map = here.as_object().cloned().unwrap_or_default();
                while map.len() > *count
                    && let Some(name) = map.keys().next_back().cloned()
                {
                    map.remove(&name);
                }
                for field in &object.fields {
                    if map.len() < *count && !map.contains_key(&field.name) {
                        map.extend(
                            self.maker.make(field.node, random, 0, &[]).map(|value| (field.name.clone(), value)),
                        );
                    }
                }
                if let Some(values) = object.values {
                    for index in map.len()..*count {
                        map.extend(self.maker.make(values, random, 0, &[]).map(|value| (format!("key{index}"), value)));
                    }
                }
                vec![map.into()]
            }
            (Failure::Required(name), _) => {
                let mut map = here.as_object().cloned().unwrap_or_default();
                map.remove(name);
                vec![map.into()]
            }
            (Failure::Unknown, _) => {
                let mut map = here.as_object().cloned().unwrap_or_default();
                map.insert("unknownField".to_owned(), "x".into());
                vec![map.into()]
            }
            (Failure::Rule(_), Kind::List(_) | Kind::Object(_)) => Vec::new(),
            (Failure::Rule(rule), _) => {
                let mut values: Vec<Value> =
                    (0..16).filter_map(|_| pool::scalar(&self.maker.plan, fault.node, random)).collect();
                if let Some(expr) = node.goals.get(*rule).and_then(|goal| goal.expr.as_ref()) {
                    let (mut plain, mut patterns) = (Vec::new(), Vec::new());
                    expr.texts(&mut plain, &mut patterns);
                    values.extend(pool::texts(&plain, &patterns, random).into_iter().map(Value::from));
                }
                values
            }
            _ => Vec::new(),
        }
    }

    /// Returns the error of a server, if it is exactly the intended one.
    fn proves(&self, fault: &Fault, place: &[Seg], broken: &Value) -> Option<Meant> {
        let node = self.maker.plan.node(fault.node);
        let keyword = fault.failure.keyword();
        let answer = self.judge(broken);
        let meant = |path: &Path, field: &str, reason| Meant {
            path: path.clone(),
            keyword: keyword.to_owned(),
            field: Some(field.to_owned()),
            reason,
        };
        if fault.failure == Failure::Unknown {
            let [pruned] = answer.pruned.as_slice() else { return None };
            let path = node.path.field("unknownField");
            return (answer.outcome == Outcome::Admitted).then(|| meant(&path, pruned.trim_start_matches('.'), None));
        }
        let Outcome::Refused(violations) = answer.outcome else { return None };
        if !answer.pruned.is_empty() || !answer.inconclusive.is_empty() {
            return None;
        }
        let skipped =
            |violation: &&Violation| violation.keyword != RULES || !violation.message.starts_with("rules were not");
        let mut real = violations.iter().filter(skipped);
        let (only, None) = (real.next()?, real.next()) else { return None };
        let mut pointer = pointer(place);
        let path = match &fault.failure {
            Failure::Required(name) => {
                pointer = format!("{pointer}/{}", pointer::escape(name));
                node.path.field(name)
            }
            _ => node.path.clone(),
        };
        let near = match fault.failure {
            Failure::Rule(_) | Failure::Duplicate => only.pointer.starts_with(&pointer),
            _ => only.pointer == pointer,
        };
        (only.keyword == keyword && near).then(|| meant(&path, &only.field, Some(only.reason.as_str())))
    }
}

/// The first place in an object that matches a path of the schema.
pub(super) fn first_place(object: &Value, steps: &[Step]) -> Option<Vec<Seg>> {
    let mut place = Vec::with_capacity(steps.len());
    let mut at = object;
    for step in steps {
        let seg = match (step, at) {
            (Step::Field(name), Value::Object(_)) => Seg::Field(name.clone()),
            (Step::Value, Value::Object(map)) => Seg::Field(map.keys().next()?.clone()),
            (Step::Item, Value::Array(_)) => Seg::Item(0),
            _ => return None,
        };
        at = match &seg {
            Seg::Field(name) => at.get(name)?,
            Seg::Item(index) => at.get(index)?,
        };
        place.push(seg);
    }
    Some(place)
}

fn at<'v>(value: &'v Value, place: &[Seg]) -> Option<&'v Value> {
    place.iter().try_fold(value, |value, seg| match seg {
        Seg::Field(name) => value.get(name),
        Seg::Item(index) => value.get(index),
    })
}

fn at_mut<'v>(value: &'v mut Value, place: &[Seg]) -> Option<&'v mut Value> {
    place.iter().try_fold(value, |value, seg| match seg {
        Seg::Field(name) => value.get_mut(name),
        Seg::Item(index) => value.get_mut(index),
    })
}

fn pointer(place: &[Seg]) -> String {
    let part = |seg: &Seg| match seg {
        Seg::Field(name) => format!("/{}", pointer::escape(name)),
        Seg::Item(index) => format!("/{index}"),
    };
    place.iter().map(part).collect()
}
