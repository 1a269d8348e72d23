//! The generator of one CRD version.

use std::collections::BTreeSet;

use serde_json::Value;

use super::boundary::Edge;
use super::case::{Case, Meant, Phase};
use super::make::{Maker, Pin, Want};
use super::negative::Fault;
use super::plan::{Id, Kind, Plan, Unsatisfiable, compile};
use super::random::Random;
use crate::kubernetes::KubeVersion;
use crate::structural::{Admission, Path, ScalePaths, Schema, Type, Validator};

/// The identity of generated objects, besides their schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The API group.
    pub group: String,
    /// The API version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// True if the kind is namespaced.
    pub namespaced: bool,
    /// True if the version has the status subresource.
    pub status_subresource: bool,
    /// The paths of the scale subresource, if the version has it.
    pub scale: Option<Scale>,
}

/// The paths of the scale subresource, such as `.spec.replicas`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// `specReplicasPath`.
    pub spec_replicas: String,
    /// `statusReplicasPath`.
    pub status_replicas: String,
    /// `labelSelectorPath`.
    pub label_selector: Option<String>,
}

impl Scale {
    pub(super) fn paths(&self) -> ScalePaths<'_> {
        ScalePaths {
            spec_replicas: &self.spec_replicas,
            status_replicas: &self.status_replicas,
            label_selector: self.label_selector.as_deref(),
        }
    }
}

impl From<ScalePaths<'_>> for Scale {
    fn from(paths: ScalePaths<'_>) -> Self {
        Self {
            spec_replicas: paths.spec_replicas.to_owned(),
            status_replicas: paths.status_replicas.to_owned(),
            label_selector: paths.label_selector.map(str::to_owned),
        }
    }
}

impl Context {
    /// A cluster-scoped kind without the status subresource.
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            namespaced: false,
            status_subresource: false,
            scale: None,
        }
    }

    /// Adds the scale subresource.
    pub fn with_scale(self, scale: impl Into<Scale>) -> Self {
        Self { scale: Some(scale.into()), ..self }
    }

    /// Makes the kind namespaced.
    pub fn namespaced(self) -> Self {
        Self { namespaced: true, ..self }
    }

    /// Adds the status subresource.
    pub fn with_status_subresource(self) -> Self {
        Self { status_subresource: true, ..self }
    }
}

/// The options of a generator.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The namespace of namespaced objects.
    pub namespace: String,
    /// The approximate maximum number of optional parts of a random object.
    pub parts: usize,
    /// The maximum length of a string that is generated to reach a bound, in characters.
    pub longest_text: usize,
    /// The maximum length of a list that is generated to reach a bound.
    pub longest_list: usize,
    /// The approximate size of a large object, in bytes.
    pub large: usize,
    /// Existing objects of this version, for the phase of examples.
    pub samples: Vec<Value>,
}

impl Default for Options {
    /// Sizes that a server answers quickly, and large objects below the 1.5 MiB of etcd.
    fn default() -> Self {
        Self {
            namespace: "default".to_owned(),
            parts: 160,
            longest_text: 4096,
            longest_list: 64,
            large: 1_300_000,
            samples: Vec::new(),
        }
    }
}

/// The number of leaves that one object of the boundary phase sets together.
const BATCH: usize = 48;

/// Generates objects from the schema of one CRD version.
#[derive(Debug)]
pub struct Generator<'a> {
    pub(super) maker: Maker<'a>,
    pub(super) options: Options,
    pub(super) version: String,
    /// The paths of all scalars.
    pub(super) leaves: Vec<Path>,
    pub(super) unreachable: Vec<Unsatisfiable>,
    pub(super) edges: Vec<Edge>,
    pub(super) faults: Vec<Fault>,
    pub(super) examples: Vec<Value>,
}

impl<'a> Generator<'a> {
    /// Compiles a schema. `Err` names the keyword that no object satisfies.
    pub fn new(
        schema: &'a Schema,
        kubernetes: KubeVersion,
        context: &Context,
        options: Options,
    ) -> Result<Self, Unsatisfiable> {
        if schema.ty != Some(Type::Object) {
            let why = "objects are made of a schema whose root is of type object".to_owned();
            return Err(Unsatisfiable { path: Path::root(), keyword: "type".into(), why });
        }
        let validator = Validator::new(schema, kubernetes);
        let mut plan = compile(schema, kubernetes, &validator);
        if let Some(scale) = &context.scale {
            plan.scale([&scale.spec_replicas, &scale.status_replicas]);
        }
        for id in [Some(plan.root), plan.name].into_iter().flatten() {
            if let Kind::Impossible(fault) = &plan.node(id).kind {
                return Err(fault.clone());
            }
        }
        let (leaves, unreachable) = leaves(&plan);
        let (certain, tested_in_parts) = (plan.is_certain(), plan.is_tested_in_parts());
        let maker = Maker {
            plan,
            schema,
            validator,
            api_version: format!("{}/{}", context.group, context.version),
            kind: context.kind.clone(),
            namespace: context.namespaced.then(|| options.namespace.clone()),
            status_subresource: context.status_subresource,
            scale: context.scale.clone(),
            certain,
            tested_in_parts,
        };
        let mut generator = Self {
            maker,
            options,
            version: context.version.clone(),
            leaves,
            unreachable,
            edges: Vec::new(),
            faults: Vec::new(),
            examples: Vec::new(),
        };
        generator.edges = generator.all_edges();
        generator.faults = generator.all_faults();
        generator.examples = generator.all_examples();
        Ok(generator)
    }

    /// The objects of a phase, one after the other. Random and partial objects are endless.
    pub fn cases(&self, phase: Phase, seed: u64) -> impl Iterator<Item = Case> + use<'_, 'a> {
        let count = self.count(phase);
        let indices = (0..).take_while(move |index| count.is_none_or(|count| *index < count));
        indices.filter_map(move |index| self.case(phase, seed, index))
    }

    /// Returns the number of indexes of a phase; `None` if it is endless. Not every index has an object.
    pub fn count(&self, phase: Phase) -> Option<u64> {
        let count = match phase {
            Phase::Random | Phase::Partial => return None,
            Phase::Examples => self.examples.len(),
            Phase::Boundary => 1 + self.batches() + self.edges.len(),
            Phase::Negative => self.faults.len(),
            Phase::Large => 1 + super::large::LIST,
        };
        Some(count as u64)
    }

    /// One object of a phase. `None` if the index is too large, or if no valid object with the intended property was
    /// found.
    pub fn case(&self, phase: Phase, seed: u64, index: u64) -> Option<Case> {
        let mut random = Random::of(seed, phase.number(), index);
        let (object, meant) = match phase {
            Phase::Examples => (self.examples.get(usize::try_from(index).ok()?)?.clone(), None),
            Phase::Boundary => self.boundary(&mut random, usize::try_from(index).ok()?)?,
            Phase::Random => (self.random(&mut random)?, None),
            Phase::Partial => self.partial(&mut random, index)?,
            Phase::Negative => self.negative(&mut random, usize::try_from(index).ok()?)?,
            Phase::Large => self.large(&mut random, usize::try_from(index).ok()?)?,
        };
        Some(Case { phase, index, seed, version: self.version.clone(), object, meant })
    }

    /// Returns true if our own validator admits an object, on creation and with its status.
    pub fn admits(&self, object: &Value) -> bool {
        self.maker.faults(object).is_empty()
    }

    /// Returns the result of our own validator for the creation of an object.
    pub fn judge(&self, object: &Value) -> Admission {
        self.maker.judge(object, self.maker.status_subresource)
    }

    /// Returns the result of our own validator for an object with its status, as if that were not a subresource.
    pub fn judge_whole(&self, object: &Value) -> Admission {
        self.maker.judge(object, false)
    }

    /// A valid object that sets a field to something else than its default. `None` if none was found.
    pub fn reach(&self, path: &Path, seed: u64) -> Option<Value> {
        let id = path.steps().iter().try_fold(self.maker.plan.root, |id, step| self.maker.plan.child(id, step))?;
        let default = self.maker.plan.node(id).default.as_ref();
        (0..8).find_map(|attempt| {
            let mut random = Random::of(seed, Phase::Boundary.number(), u64::MAX - attempt);
            let pin = Pin { steps: path.steps(), want: Want::Present };
            let object = self.maker.object_of(&mut random, 0, &[pin])?;
            let set = path.values(&object).into_iter().any(|value| Some(value) != default && !value.is_null());
            set.then_some(object)
        })
    }

    /// The fields that no object can have, with the keyword that no value satisfies.
    pub fn unreachable(&self) -> &[Unsatisfiable] {
        &self.unreachable
    }

    pub(super) fn random(&self, random: &mut Random) -> Option<Value> {
        let parts = [4, 20, 60, self.options.parts][random.index(4)];
        let pin = if random.chance(1, 2) { random.pick(&self.leaves) } else { None };
        let pins: Vec<Pin<'_>> = pin.map(|path| Pin { steps: path.steps(), want: Want::Present }).into_iter().collect();
        let full = self.maker.object_of(random, parts, &pins);
        full.or_else(|| self.maker.object_of(random, 8, &[])).or_else(|| self.minimal(random))
    }

    /// An object with only its required parts.
    pub(super) fn minimal(&self, random: &mut Random) -> Option<Value> {
        (0..8).find_map(|_| self.maker.object_of(random, 0, &[]))
    }

    pub(super) fn batches(&self) -> usize {
        self.leaves.len().div_ceil(BATCH)
    }

    pub(super) fn batch(&self, number: usize) -> &[Path] {
        let start = number * BATCH;
        self.leaves.get(start..(start + BATCH).min(self.leaves.len())).unwrap_or_default()
    }

    pub(super) fn meant(path: &Path, keyword: &str) -> Meant {
        Meant { path: path.clone(), keyword: keyword.to_owned(), field: None, reason: None }
    }

    fn all_examples(&self) -> Vec<Value> {
        let mut examples = self.options.samples.clone();
        let mut stated: Vec<(Path, Value)> = Vec::new();
        self.maker.schema.walk(&mut |path, schema| {
            if let Some(value) = schema.keyword("example").and_then(|keyword| keyword.value.clone()) {
                stated.push((path.clone(), value));
            }
        });
        for (index, (path, value)) in (0..).zip(stated) {
            let mut random = Random::of(0, Phase::Examples.number(), index);
            let object = if path.is_root() {
                Some(value)
            } else {
                let pin = Pin { steps: path.steps(), want: Want::Exactly(&value) };
                self.maker.object_of(&mut random, 0, &[pin])
            };
            // Examples are only documentation to the server, and not all of them are valid.
            examples.extend(object.filter(|object| self.admits(object)));
        }
        examples
    }
}

/// The reachable leaves, and the unreachable ones with the reason.
fn leaves(plan: &Plan<'_>) -> (Vec<Path>, Vec<Unsatisfiable>) {
    let mut found = BTreeSet::new();
    let mut faults = Vec::new();
    let mut open: Vec<Id> = vec![plan.root];
    while let Some(id) = open.pop() {
        let node = plan.node(id);
        match &node.kind {
            Kind::Object(object) if object.fields.is_empty() && object.values.is_none() => {
                found.insert(node.path.clone());
            }
            Kind::Object(object) => {
                open.extend(object.fields.iter().map(|field| field.node));
                open.extend(object.values);
            }
            Kind::List(list) => match list.items {
                Some(items) => open.push(items),
                None => drop(found.insert(node.path.clone())),
            },
            Kind::Choice(options) => open.extend(options),
            Kind::Impossible(fault) => faults.push(fault.clone()),
            Kind::Free | Kind::Boolean | Kind::Whole(_) | Kind::Number(_) | Kind::Text(_) | Kind::Enumeration(_) => {
                found.insert(node.path.clone());
            }
        }
    }
    // The root of an object that may have anything is not a leaf.
    found.remove(&Path::root());
    (found.into_iter().collect(), faults)
}
