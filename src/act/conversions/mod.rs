//! The search for objects that a converter gets wrong: tries inputs in batches, judges them, and shrinks failing
//! inputs.

mod act;
mod input;
mod keep;
mod recorded;
mod shrink;
mod vary;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::Stop;
use crate::checks::{Check, Evidence, Need, Tools, Verdict};
use crate::converter::Converter;
use crate::evidence::{ConversionRun, Origin, Validity};
use crate::report::{Conversions, PairInfo, Reach, Timing};
use crate::subject::{Crd, Subject, Version};
use crdproof_schema::generate::{Coverage, Generator, Options, Phase};
use serde_json::Value;

use self::act::{Actor, MAX_OTHERS, Pairs};
use self::input::{Input, Inputs};
use self::keep::Kept;
pub use self::recorded::{CounterexampleRun, Recorded};

/// Number of objects of a version whose coverage is measured; more rarely add to it, and measuring costs time.
const COVERED: u64 = 2000;

/// Number of objects in a batch, for a CRD with few versions.
const BATCH: usize = 64;

/// With more versions than this, batches are smaller, because the results of the first batch of every version are held
/// in memory together.
const FEW_VERSIONS: usize = 8;

/// The settings of a search.
pub(crate) struct Search<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) crd: &'a Crd,
    pub(crate) converter: &'a Converter<'a>,
    pub(crate) baseline: Option<&'a Converter<'a>>,
    /// The checks that judge conversion runs.
    pub(crate) checks: Vec<&'static Check>,
    /// Objects saved by earlier runs, with their versions and names.
    pub(crate) saved: Vec<Saved>,
    /// True if samples are tried.
    pub(crate) samples: bool,
    /// The number of generated objects of every version.
    pub(crate) objects: usize,
    pub(crate) seed: u64,
    /// The end of trying.
    pub(crate) deadline: Instant,
    /// Requests an earlier end.
    pub(crate) stop: &'a Stop,
    /// Called after each batch, with the number of objects that were tried and the total.
    pub(crate) progress: &'a (dyn Fn(usize, usize) + Sync),
    pub(crate) jobs: NonZeroUsize,
}

/// An object that an earlier run saved.
#[derive(Debug, Clone)]
pub(crate) struct Saved {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) fit: Validity,
    pub(crate) object: Value,
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Found {
    /// The verdict of each check.
    pub(crate) verdicts: BTreeMap<&'static str, Verdict>,
    /// The conversion runs of the failures.
    pub(crate) shown: Vec<ConversionRun>,
    /// The counts of conversions.
    pub(crate) conversions: Conversions,
    /// The reason why the converter could not be called to the end.
    pub(crate) stopped: Option<String>,
    /// All observations, if they are recorded.
    pub(crate) recorded: Option<Recorded>,
}

/// The counters of a search while it runs.
struct Tally {
    kept: Kept,
    pairs: Vec<PairInfo>,
    coverage: BTreeMap<Arc<str>, Coverage>,
    batches: Option<BTreeMap<usize, Vec<ConversionRun>>>,
}

impl<'a> Search<'a> {
    /// Tries all inputs. `evidence` is the evidence besides the conversion runs; `record` keeps every conversion run.
    pub(crate) fn run(&self, evidence: &Evidence<'_>, record: bool) -> Found {
        let tools = Tools::of(self.subject, self.crd);
        let evidence = &Evidence { tools: Some(&tools), ..*evidence };
        let versions: Vec<Inputs<'_>> = self.crd.versions.iter().map(|version| self.inputs(version)).collect();
        let mut actor = Actor {
            crd: self.crd,
            name: self.crd.name.as_str().into(),
            converter: self.converter,
            baseline: self.baseline,
            versions: &versions,
            pairs: Arc::default(),
            stop: Some(self.stop),
            end: self.deadline,
        };
        let coverage = versions
            .iter()
            .filter_map(|inputs| Some((Arc::clone(&inputs.version), inputs.generator.as_ref()?.coverage())));
        let tally = Mutex::new(Tally {
            kept: Kept::default(),
            pairs: Vec::new(),
            coverage: coverage.collect(),
            batches: record.then(BTreeMap::new),
        });
        let survey = self.survey(&actor);
        actor.pairs = Arc::new(Pairs::learn(&survey));
        let conversion_runs = Evidence { conversion_runs: &survey, ..*evidence };
        self.judge(&tally, &conversion_runs, 0, &|_| true);
        let tried = self.tried(&survey);
        Self::count(&tally, survey, 0);
        let untried = self.try_all(&actor, &tally, evidence, tried) + self.try_large(&actor, &tally, evidence);

        let mut tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        let stopped = self.converter.stopped().map(str::to_owned);
        // Findings are still shrunk a little.
        let actor = Actor { stop: None, ..actor };
        // A saved counterexample is already minimal.
        let larger = if stopped.is_none() && self.samples {
            shrink::smaller(&mut tally.kept, &actor, evidence, || self.end())
        } else {
            0
        };
        let others = self.crd.versions.len().saturating_sub(1);
        let sampled = if others > MAX_OTHERS { MAX_OTHERS } else { 0 };
        let conversions = Conversions { untried, larger, sampled, ..self.conversions(tally.pairs, &tally.coverage) };
        let recorded = tally.batches.map(|batches| Recorded {
            batches,
            shown: tally.kept.conversion_runs(),
            conversions: Some(conversions.clone()),
            stopped: stopped.clone(),
        });
        let (verdicts, shown) = tally.kept.verdicts(&self.checks, stopped.as_deref());
        Found { verdicts, shown, conversions, stopped, recorded }
    }

    /// Tries the first batch of each version, which also says which pairs convert at all. Versions share out the time.
    fn survey(&self, actor: &Actor<'_>) -> Vec<ConversionRun> {
        let size = self.batch_size();
        let left = actor.versions.iter().zip((1..=actor.versions.len()).rev());
        let of_version = left.flat_map(|(inputs, left)| {
            let share =
                self.deadline.saturating_duration_since(Instant::now()) / u32::try_from(left).unwrap_or(u32::MAX);
            let end = Instant::now() + share;
            actor.until(end).act(&inputs.version, batch(inputs, 0, size, end))
        });
        of_version.collect()
    }

    /// Returns how many objects were tried: after the end, those that something was done with.
    fn tried(&self, conversion_runs: &[ConversionRun]) -> usize {
        let is_over = self.is_over();
        conversion_runs.iter().filter(|conversion_run| !is_over || !conversion_run.hops.is_empty()).count()
    }

    /// Returns when everything must be over: now, where that was asked for.
    fn end(&self) -> Instant {
        if self.stop.is_requested() { Instant::now() } else { self.deadline }
    }

    /// Tries everything after the first batches, by several threads. Returns how many objects there was no time for.
    fn try_all(&self, actor: &Actor<'_>, tally: &Mutex<Tally>, evidence: &Evidence<'_>, surveyed: usize) -> usize {
        let (size, all): (usize, usize) = (self.batch_size(), actor.versions.iter().map(Inputs::count).sum());
        // Not every number has an object.
        let first = actor.versions.iter().map(|inputs| inputs.count().min(size)).sum();
        let tried = AtomicUsize::new(if self.is_over() { surveyed } else { first });
        (self.progress)(tried.load(Ordering::Relaxed), all);
        let batches = actor
            .versions
            .iter()
            .enumerate()
            .flat_map(|(version, inputs)| (1..inputs.count().div_ceil(size)).map(move |number| (number, version)));
        // All versions advance together, so that they share the available time.
        let mut batches: Vec<(usize, usize)> = batches.collect();
        batches.sort_unstable();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.get().min(batches.len()) {
                scope.spawn(|| {
                    while let Some((number, version)) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if self.is_over() {
                            break;
                        }
                        let inputs = &actor.versions[*version];
                        let objects = batch(inputs, *number, size, self.deadline);
                        // Not every number has an object, and the large one comes last.
                        let all_of_them = size.min(inputs.count() - number * size);
                        let order = number * actor.versions.len() + version;
                        let touched = self.try_batch(actor, tally, evidence, inputs, objects, order);
                        let count = if self.is_over() { touched } else { all_of_them };
                        (self.progress)(tried.fetch_add(count, Ordering::Relaxed) + count, all);
                    }
                });
            }
        });
        all.saturating_sub(tried.into_inner())
    }

    /// Tries the large object of every version, one after the other. Returns the number of those that were not tried
    /// for lack of time.
    fn try_large(&self, actor: &Actor<'_>, tally: &Mutex<Tally>, evidence: &Evidence<'_>) -> usize {
        let (mut untried, size) = (0, self.batch_size());
        let batches = actor.versions.iter().map(|inputs| inputs.count().div_ceil(size)).max().unwrap_or_default();
        for (version, inputs) in actor.versions.iter().enumerate() {
            let Some(large) = inputs.large() else { continue };
            if self.is_over() {
                untried += 1;
                continue;
            }
            let order = batches * actor.versions.len() + version;
            self.try_batch(actor, tally, evidence, inputs, vec![large], order);
        }
        untried
    }

    fn batch_size(&self) -> usize {
        (BATCH * FEW_VERSIONS / self.crd.versions.len().max(FEW_VERSIONS)).max(1)
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.end() || self.converter.stopped().is_some()
    }

    /// Tries and judges a batch. Returns how many of its objects were tried.
    fn try_batch(
        &self,
        actor: &Actor<'_>,
        tally: &Mutex<Tally>,
        evidence: &Evidence<'_>,
        inputs: &Inputs<'_>,
        batch: Vec<Input>,
        order: usize,
    ) -> usize {
        let conversion_runs = actor.act(&inputs.version, batch);
        let evidence = Evidence { conversion_runs: &conversion_runs, ..*evidence };
        self.judge(tally, &evidence, order, &|check| check.needs.contains(&Need::ConversionRuns));
        let tried = self.tried(&conversion_runs);
        Self::count(tally, conversion_runs, order);
        tried
    }

    fn judge(&self, tally: &Mutex<Tally>, evidence: &Evidence<'_>, order: usize, concerned: &dyn Fn(&Check) -> bool) {
        for check in self.checks.iter().filter(|check| concerned(check)) {
            let verdict = (check.judge)(evidence);
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.kept.add(check, verdict, evidence.conversion_runs, order);
        }
    }

    fn count(tally: &Mutex<Tally>, conversion_runs: Vec<ConversionRun>, order: usize) {
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        let tally = &mut *tally;
        for conversion_run in &conversion_runs {
            let is_valid = conversion_run.fit.is_valid();
            if is_valid && conversion_run.first_conversions().next().is_some() {
                observe(&mut tally.coverage, &conversion_run.version, &conversion_run.input);
            }
            for step in conversion_run.first_conversions() {
                let pair = pair(&mut tally.pairs, step.from, &step.hop.to);
                pair.objects += 1;
                pair.refused += usize::from(step.hop.answer().is_none() && is_valid);
                if let Some(object) = step.hop.served().filter(|_| is_valid) {
                    observe(&mut tally.coverage, &step.hop.to, object);
                }
            }
        }
        if let Some(batches) = &mut tally.batches {
            batches.insert(order, conversion_runs);
        }
    }

    fn inputs(&self, version: &'a Version) -> Inputs<'a> {
        let schema = version.schema.as_ref();
        let kept = || self.saved.iter().filter(|saved| saved.version == version.name);
        // Edits of saved counterexamples must leave them valid, too.
        let generator = if self.objects > 0 || kept().next().is_some() { generator(self.crd, version) } else { None };
        let mut given = Vec::new();
        let samples = self.subject.samples_of(self.crd).filter(|sample| sample.group_version().1 == version.name);
        for sample in samples.filter(|_| self.samples) {
            // Another check judges if a server admits the sample; it may be stored somewhere, and must convert.
            let origin = Origin::Sample(sample.name().to_owned());
            given.push(Inputs::sample(schema, origin, sample.object.clone(), given.len()));
        }
        // Samples come first, because their findings have a location in a file of the author.
        for saved in kept() {
            let origin = Origin::Saved(saved.name.clone());
            given.push(Inputs::saved(schema, origin, saved.fit.clone(), saved.object.clone()));
        }
        Inputs {
            version: version.name.as_str().into(),
            schema,
            generator,
            given,
            generated: self.objects,
            seed: self.seed,
        }
    }

    fn conversions(&self, pairs: Vec<PairInfo>, coverage: &BTreeMap<Arc<str>, Coverage>) -> Conversions {
        // Samples and saved counterexamples alone are not meant to cover everything.
        let reach = coverage
            .iter()
            .filter(|_| self.objects > 0)
            .map(|(version, coverage)| Reach::new(version, coverage))
            .collect();
        let timings =
            self.converter.times().into_iter().map(|(objects, micros)| Timing::new(objects, micros)).collect();
        Conversions { crd: self.crd.name.clone(), pairs, reach, timings, ..Conversions::default() }
    }
}

/// Records an object of a version, before or after its conversion.
fn observe(coverage: &mut BTreeMap<Arc<str>, Coverage>, version: &str, object: &Value) {
    if let Some(coverage) = coverage.get_mut(version).filter(|coverage| coverage.objects() < COVERED) {
        coverage.observe(object);
    }
}

/// Returns the verdicts of checks on recorded conversion runs, in the original order, and the conversion runs of their
/// failures.
pub(crate) fn judge_recorded(
    checks: &[&'static Check],
    evidence: &Evidence<'_>,
    recorded: &Recorded,
) -> (BTreeMap<&'static str, Verdict>, Vec<ConversionRun>) {
    let tools = Tools::of(evidence.subject, evidence.crd);
    let evidence = &Evidence { tools: Some(&tools), ..*evidence };
    let mut kept = Kept::default();
    for (order, conversion_runs) in &recorded.batches {
        let batch = Evidence { conversion_runs, ..*evidence };
        for check in checks.iter().filter(|check| *order == 0 || check.needs.contains(&Need::ConversionRuns)) {
            kept.add(check, (check.judge)(&batch), conversion_runs, *order);
        }
    }
    for shown in kept.shown() {
        let smaller = recorded.shown.iter().find(|one| one.check == shown.check.id && one.key == shown.failure.key);
        if let Some(smaller) = smaller {
            shown.replace_run(evidence, &smaller.conversion_run);
        }
    }
    kept.verdicts(checks, recorded.stopped.as_deref())
}

/// Returns the generator for a version. Manifest checks report schemas that no object satisfies.
fn generator<'c>(crd: &'c Crd, version: &'c Version) -> Option<Generator<'c>> {
    let schema = version.generated_from()?;
    Generator::new(schema, schema.newest_release(), &crd.context(version), Options::default()).ok()
}

/// Returns valid objects of every version of a CRD, this many of each.
pub(crate) fn generated(crd: &Crd, seed: u64, of_each: usize) -> Vec<Value> {
    let of_version = |version| {
        let generator = generator(crd, version)?;
        // Boundary cases come first, which are small; whole objects follow.
        let edges: Vec<Value> =
            generator.cases(Phase::Boundary, seed).take(of_each / 2).map(|case| case.object).collect();
        let whole = generator.cases(Phase::Random, seed).take(of_each - edges.len()).map(|case| case.object);
        Some(edges.iter().cloned().chain(whole).collect::<Vec<Value>>())
    };
    crd.versions.iter().filter_map(of_version).flatten().collect()
}

/// Makes a batch of inputs, or as many of them as there is time for.
fn batch(inputs: &Inputs<'_>, number: usize, size: usize, end: Instant) -> Vec<Input> {
    let last = inputs.count().min((number + 1) * size);
    let mut batch = Vec::with_capacity(size);
    let in_time = (number * size..last).take_while(|_| Instant::now() < end);
    batch.extend(in_time.filter_map(|number| inputs.get(number)));
    batch
}

/// The entry of a pair of versions; entries are sorted by name.
fn pair<'p>(pairs: &'p mut Vec<PairInfo>, from: &str, to: &str) -> &'p mut PairInfo {
    let found = pairs.binary_search_by(|pair| (pair.from.as_str(), pair.to.as_str()).cmp(&(from, to)));
    let index = found.unwrap_or_else(|index| {
        pairs.insert(index, PairInfo::new(from, to));
        index
    });
    &mut pairs[index]
}
