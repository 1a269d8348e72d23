//! A whole run as plain data, which can be judged again without calling a converter or server.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::shard::Timings;
use super::{Absent, Observations, Plan, Ran, Selection};
use crate::act::conversions::{CounterexampleRun, Recorded};
use crate::evidence::{ConversionRun, Exchange, Trace, read_json};
use crate::report::Conversions;
use crate::subject::{API_VERSION, Crd, Subject};

/// The file that makes a folder a recording.
pub const HEADER: &str = "recording.json";

/// The file with the traces.
const TRACES: &str = "traces.jsonl";

/// A run that can be judged again. It contains objects unredacted.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The description of the run.
    pub header: Header,
    /// Conversions by CRD.
    pub conversion_runs: BTreeMap<String, Recorded>,
    /// Requests to endpoints by CRD.
    pub exchanges: BTreeMap<String, Vec<Exchange>>,
    /// The traces.
    pub traces: Vec<Trace>,
}

/// The subject of a recorded run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Header {
    /// Always `crdproof/v1alpha1`.
    pub api_version: String,
    /// Always `Recording`.
    pub kind: String,
    /// The version of crdproof that recorded.
    pub tool_version: String,
    /// The subject's name.
    pub subject: String,
    /// The seed.
    pub seed: u64,
    /// The number of generated objects of every version.
    pub objects: usize,
    /// The date, for expiries.
    pub day: Date,
    /// The selected checks.
    pub selection: Selection,
    /// The recorded CRDs. The lines of the n-th one are in `n.conversions.jsonl` and `n.exchanges.jsonl`.
    pub crds: Vec<RecordedCrd>,
    /// The number of scenarios, each a line of `traces.jsonl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<usize>,
    /// Requested releases that could not be installed or started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<Absent>,
}

/// The recording of a CRD.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordedCrd {
    /// Its name.
    pub name: String,
    /// A digest of its document, to detect changes.
    pub digest: String,
    /// The number of lines of conversion runs; absent if nothing was converted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversion_runs: Option<usize>,
    /// The number of exchanges; absent if nothing was sent over the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<usize>,
    /// The counts of conversions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversions: Option<Conversions>,
    /// The reason why the converter could not be called to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

/// One line of conversion runs.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Line {
    ConversionRun { batch: usize, conversion_run: ConversionRun },
    Shown(CounterexampleRun),
}

/// An error in a folder that should be a recording.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {message}")]
pub struct RecordingError {
    /// The file that cannot be used.
    pub file: String,
    /// The problem.
    pub message: String,
}

impl Recording {
    /// Returns the recording of a run.
    pub fn new(plan: &Plan<'_>, observations: &Observations, ran: &Ran, day: Date) -> Self {
        let crds = plan.subject.crds.iter().filter_map(|crd| {
            let (conversion_runs, exchanges) = (ran.conversion_runs.get(&crd.name), ran.exchanges.get(&crd.name));
            (conversion_runs.is_some() || exchanges.is_some()).then(|| RecordedCrd {
                name: crd.name.clone(),
                digest: digest(crd),
                conversion_runs: conversion_runs.map(Recorded::count),
                exchanges: exchanges.map(Vec::len),
                conversions: conversion_runs.and_then(|conversion_runs| conversion_runs.conversions.clone()),
                stopped: conversion_runs.and_then(|conversion_runs| conversion_runs.stopped.clone()),
            })
        });
        let header = Header {
            api_version: API_VERSION.into(),
            kind: "Recording".into(),
            tool_version: env!("CARGO_PKG_VERSION").into(),
            subject: plan.subject.name.clone(),
            seed: plan.settings.seed,
            objects: plan.settings.generated(),
            day,
            selection: plan.settings.selection.clone(),
            crds: crds.collect(),
            traces: Some(observations.traces.len()).filter(|count| *count > 0),
            absent: observations.absent.clone(),
        };
        let traces = observations.traces.clone();
        Self { header, conversion_runs: ran.conversion_runs.clone(), exchanges: ran.exchanges.clone(), traces }
    }

    /// The files of the recording: names and texts. The header comes last, because it marks a complete recording.
    pub fn files(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let lines = self.header.crds.iter().enumerate().flat_map(|(index, crd)| {
            let conversion_runs = self
                .conversion_runs
                .get(&crd.name)
                .map(|conversion_runs| (conversion_runs_file(index), text(conversion_runs.lines())));
            let exchanges = self.exchanges.get(&crd.name);
            let exchanges = exchanges.map(|exchanges| (exchanges_file(index), text(exchanges.iter())));
            conversion_runs.into_iter().chain(exchanges)
        });
        let header = serde_json::to_string_pretty(&self.header).unwrap_or_default() + "\n";
        let traces = self.header.traces.map(|_| (TRACES.to_owned(), text(self.traces.iter().map(Trace::packed))));
        lines.chain(traces).chain([(HEADER.to_owned(), header)])
    }

    /// Reads a recording by the names of its files.
    pub fn read(read: impl Fn(&str) -> std::io::Result<String>) -> Result<Self, RecordingError> {
        let error = |file: &str, message: String| RecordingError { file: file.to_owned(), message };
        let load = |file: &str| read(file).map_err(|cause| error(file, format!("it cannot be read: {cause}")));
        let header = Header::read(&load(HEADER)?).map_err(|message| error(HEADER, message))?;
        let (mut conversion_runs, mut exchanges) = (BTreeMap::new(), BTreeMap::new());
        for (index, crd) in header.crds.iter().enumerate() {
            if let Some(count) = crd.conversion_runs {
                let file = conversion_runs_file(index);
                let lines = parse(&load(&file)?, count).map_err(|message| error(&file, message))?;
                let (conversions, stopped) = (crd.conversions.clone(), crd.stopped.clone());
                let recorded = Recorded { conversions, stopped, ..Recorded::of(lines) };
                conversion_runs.insert(crd.name.clone(), recorded);
            }
            if let Some(count) = crd.exchanges {
                let file = exchanges_file(index);
                let all = parse(&load(&file)?, count).map_err(|message| error(&file, message))?;
                exchanges.insert(crd.name.clone(), all);
            }
        }
        let traces = match header.traces {
            Some(count) => {
                let packed: Vec<Value> = parse(&load(TRACES)?, count).map_err(|message| error(TRACES, message))?;
                let traces = packed.into_iter().map(Trace::unpacked).collect::<Result<Vec<_>, _>>();
                traces.map_err(|message| error(TRACES, message))?
            }
            None => Vec::new(),
        };
        Ok(Self { header, conversion_runs, exchanges, traces })
    }

    /// Returns the recording as observations.
    pub fn observations(&self) -> Observations {
        Observations {
            traces: self.traces.clone(),
            absent: self.header.absent.clone(),
            conversions: self.conversion_runs.clone(),
            exchanges: self.exchanges.clone(),
            failed_clean_ups: Vec::new(),
            timings: Timings::default(),
            is_interrupted: false,
            is_complete: true,
        }
    }

    /// Describes the changes of the subject since the recording.
    pub fn changes(&self, subject: &Subject) -> Vec<String> {
        let changes = self.header.crds.iter().filter_map(|recorded| match subject.crd(&recorded.name) {
            None => Some(format!("{} was recorded, and the subject no longer has it", recorded.name)),
            Some(crd) if digest(crd) != recorded.digest => Some(format!("{} has changed since", recorded.name)),
            Some(_) => None,
        });
        changes.collect()
    }
}

impl Header {
    /// Reads a header. `Err` says what the text is instead.
    pub fn read(text: &str) -> Result<Self, String> {
        let header: Self = serde_json::from_str(text).map_err(|error| format!("this is not a recording: {error}"))?;
        if header.kind != "Recording" || header.api_version != API_VERSION {
            return Err(format!("this is a {:?} of {:?}, not a Recording", header.kind, header.api_version));
        }
        Ok(header)
    }
}

impl Recorded {
    fn count(&self) -> usize {
        self.batches.values().map(Vec::len).sum::<usize>() + self.shown.len()
    }

    fn lines(&self) -> impl Iterator<Item = Line> + '_ {
        let conversion_runs = self.batches.iter().flat_map(|(batch, conversion_runs)| {
            conversion_runs
                .iter()
                .map(|conversion_run| Line::ConversionRun { batch: *batch, conversion_run: conversion_run.clone() })
        });
        conversion_runs.chain(self.shown.iter().cloned().map(Line::Shown))
    }

    fn of(lines: Vec<Line>) -> Self {
        // If there were no objects, there is still a survey: an empty one.
        let mut recorded = Self::from(Vec::new());
        for line in lines {
            match line {
                Line::ConversionRun { batch, conversion_run } => {
                    recorded.batches.entry(batch).or_default().push(conversion_run);
                }
                Line::Shown(shown) => recorded.shown.push(shown),
            }
        }
        recorded
    }
}

fn conversion_runs_file(index: usize) -> String {
    format!("{index}.conversions.jsonl")
}

fn exchanges_file(index: usize) -> String {
    format!("{index}.exchanges.jsonl")
}

fn text<T: Serialize>(lines: impl Iterator<Item = T>) -> String {
    lines.map(|line| serde_json::to_string(&line).unwrap_or_default() + "\n").collect()
}

fn parse<T: DeserializeOwned>(text: &str, count: usize) -> Result<Vec<T>, String> {
    let line = |(index, line): (usize, &str)| {
        read_json(line.as_bytes()).map_err(|error| format!("line {}: {error}", index + 1))
    };
    let lines = text.lines().enumerate().map(line).collect::<Result<Vec<T>, String>>()?;
    if lines.len() == count { Ok(lines) } else { Err(format!("it has {} lines, not {count}", lines.len())) }
}

fn digest(crd: &Crd) -> String {
    let hash = Sha256::digest(crd.node.to_value().to_string());
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
