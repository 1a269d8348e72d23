//! CRDs out of texts: several documents in one file, lists, and whatever else lies in a bundle.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{InputError, Text, Texts};
use crate::subject::{Crd, CrdInputs};
use crdproof_schema::document::{Kind, Node, SourceId, Sources, parse};

/// What a bundle of manifests holds.
#[derive(Debug, Default)]
pub struct Manifests {
    /// Its CRDs, sorted by name.
    pub crds: Vec<Crd>,
    /// Everything else.
    pub others: Vec<Node>,
}

impl Manifests {
    /// The other documents, counted by kind.
    pub fn passed_over(&self) -> BTreeMap<String, usize> {
        let mut kinds = BTreeMap::new();
        for node in &self.others {
            let kind = node.str_at("kind").unwrap_or("(no kind)");
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
        kinds
    }
}

/// Reads all manifests that paths and a command give.
pub fn read_manifests(sources: &mut Sources, texts: &Texts, inputs: &CrdInputs) -> Result<Manifests, InputError> {
    let mut found = Vec::new();
    for path in &inputs.paths {
        found.extend(texts.read(path)?);
    }
    if !inputs.command.is_empty() {
        found.push(texts.command(&inputs.command)?);
    }
    from_texts(sources, found)
}

pub(super) fn from_texts(sources: &mut Sources, texts: Vec<Text>) -> Result<Manifests, InputError> {
    let ids: Vec<SourceId> = texts.into_iter().map(|Text { name, text }| sources.add(name, text)).collect();
    let mut manifests = Manifests::default();
    for part in read_all(sources, &ids) {
        let part = part?;
        manifests.crds.extend(part.crds);
        manifests.others.extend(part.others);
    }
    manifests.crds.sort_by(|left, right| left.name.cmp(&right.name));
    for pair in manifests.crds.windows(2) {
        if pair[0].name == pair[1].name {
            let first = sources.place(pair[0].span_at("/metadata/name"));
            let error = InputError::at(
                sources,
                pair[1].span_at("/metadata/name"),
                format!("the CRD {} stands here again; first at {first}", pair[1].name),
            );
            return Err(error.help("judge one state of a CRD at a time, or compare two with `crdproof diff OLD NEW`"));
        }
    }
    Ok(manifests)
}

/// Reads every text, on all cores, in the order in which they were given.
fn read_all(sources: &Sources, ids: &[SourceId]) -> Vec<Result<Manifests, InputError>> {
    let jobs = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(ids.len().max(1));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(id) = ids.get(index) else { return done };
            done.push((index, read_one(sources, *id)));
        }
    };
    let mut parts = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let mut parts = work();
        // A worker that panicked takes the whole process with it, as a panic here would.
        parts.extend(
            workers
                .into_iter()
                .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
        );
        parts
    });
    parts.sort_by_key(|(index, _)| *index);
    parts.into_iter().map(|(_, part)| part).collect()
}

fn read_one(sources: &Sources, id: SourceId) -> Result<Manifests, InputError> {
    let mut manifests = Manifests::default();
    for document in parse(sources, id).map_err(|error| InputError::parse(sources, &error))? {
        sort_in(sources, &mut manifests, document)?;
    }
    Ok(manifests)
}

/// Puts a document where it belongs; lists are opened.
fn sort_in(sources: &Sources, manifests: &mut Manifests, document: Node) -> Result<(), InputError> {
    let is_list = document.str_at("kind").is_some_and(|kind| kind.ends_with("List"))
        && document.get("items").is_some_and(|items| matches!(items.kind, Kind::List(_)));
    if is_list {
        for item in document.get("items").map(Node::items).unwrap_or_default() {
            sort_in(sources, manifests, item.clone())?;
        }
    } else if Crd::is_crd(&document) {
        let crd =
            Crd::read(document).map_err(|error| InputError::at(sources, error.span, error.message).help(error.help))?;
        manifests.crds.push(crd);
    } else {
        manifests.others.push(document);
    }
    Ok(())
}
