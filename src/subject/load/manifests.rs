//! Reading CRDs from texts: multi-document files, lists, and bundles with other kinds.

use std::collections::BTreeMap;
use std::path::Path;

use super::kustomize::{self, Built};
use super::{InputError, Text, Texts, conversion, parallel};
use crate::subject::{Crd, CrdInputs, Kustomized};
use serde_json::Value;

use crdproof_schema::document::{Kind, Node, SourceId, Sources, parse};

/// The content of a bundle of manifests.
#[derive(Debug, Default)]
pub struct Manifests {
    /// Its CRDs, sorted by name.
    pub crds: Vec<Crd>,
    /// All other documents, including incomplete CRDs, such as patches.
    pub others: Vec<Node>,
    /// The number of files in folders that are not YAML and mention no CRD.
    pub unreadable: usize,
    /// Changes by kustomizations that were not applied to the CRDs, with location and reason.
    pub not_applied: Vec<String>,
    /// True if another program built a kustomization.
    pub by_tool: bool,
}

impl Manifests {
    /// The other documents, counted by kind, and the changes that were not applied.
    pub fn passed_over(&self) -> BTreeMap<String, usize> {
        let mut kinds = BTreeMap::new();
        for node in &self.others {
            let kind = match node.str_at("kind") {
                Some(_) if Crd::is_crd(node) => "incomplete CustomResourceDefinition",
                Some(kind) => kind,
                None => "(no kind)",
            };
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
        if self.unreadable > 0 {
            kinds.insert("(no YAML)".to_owned(), self.unreadable);
        }
        for what in &self.not_applied {
            *kinds.entry(what.clone()).or_default() += 1;
        }
        kinds
    }

    fn add(&mut self, other: Self) {
        self.crds.extend(other.crds);
        self.others.extend(other.others);
        self.unreadable += other.unreadable;
        self.not_applied.extend(other.not_applied);
        self.by_tool |= other.by_tool;
    }

    /// Sorts the CRDs and refuses duplicate names.
    fn sorted(mut self, sources: &Sources) -> Result<Self, InputError> {
        self.crds.sort_by(|left, right| left.name.cmp(&right.name));
        for pair in self.crds.windows(2) {
            if pair[0].name == pair[1].name {
                let first = sources.place(pair[0].span_at("/metadata/name"));
                let error = InputError::at(
                    sources,
                    pair[1].span_at("/metadata/name"),
                    format!("the CRD {} is duplicated here; first at {first}", pair[1].name),
                );
                return Err(
                    error.help("judge one state of a CRD at a time, or compare two with `crdproof diff OLD NEW`")
                );
            }
        }
        Ok(self)
    }
}

/// Reads all manifests of paths and a command. A folder with a kustomization is read as kustomize builds it.
pub fn read_manifests(sources: &mut Sources, texts: &Texts, inputs: &CrdInputs) -> Result<Manifests, InputError> {
    let mut manifests = Manifests::default();
    for path in &inputs.paths {
        manifests.add(read_source(sources, texts, path)?);
    }
    if !inputs.command.is_empty() {
        manifests.add(read(sources, vec![texts.command(&inputs.command)?], false)?);
    }
    manifests.sorted(sources)
}

/// Reads the manifests of one path.
fn read_source(sources: &mut Sources, texts: &Texts, path: &str) -> Result<Manifests, InputError> {
    if let Some((tree, file)) = texts.kustomization(path)? {
        let built = kustomize::build(sources, &tree, &file, texts.commands())?;
        return from_kustomization(sources, built);
    }
    let mut manifests = read(sources, texts.read(path)?, texts.is_folder(path)?)?;
    if path != "-" {
        let (tree, located) = texts.locate(path)?;
        manifests.not_applied.extend(tree.links_out_of(&located)?);
        conversion::complete(sources, &tree, &mut manifests.crds);
    }
    Ok(manifests)
}

/// Reads objects: the documents of files and folders, without kustomizations.
pub(super) fn read_objects(sources: &mut Sources, texts: &Texts, paths: &[String]) -> Result<Vec<Node>, InputError> {
    let mut found = Vec::new();
    for path in paths {
        found.extend(texts.read(path)?);
    }
    found.retain(|text| !kustomize::is_kustomization(Path::new(&text.name)));
    Ok(from_texts(sources, found)?.others)
}

/// Reads objects of any kind, including CRDs.
pub(super) fn read_all(sources: &mut Sources, texts: &Texts, paths: &[String]) -> Result<Vec<Value>, InputError> {
    let inputs = CrdInputs { paths: paths.to_vec(), ..CrdInputs::default() };
    let found = read_manifests(sources, texts, &inputs)?;
    let crds = found.crds.iter().map(|crd| crd.node.to_value());
    Ok(crds.chain(found.others.iter().map(Node::to_value)).collect())
}

pub(super) fn from_texts(sources: &mut Sources, texts: Vec<Text>) -> Result<Manifests, InputError> {
    read(sources, texts, false)?.sorted(sources)
}

/// Sorts the documents of a kustomization.
fn from_kustomization(sources: &Sources, built: Built) -> Result<Manifests, InputError> {
    let mut manifests = Manifests { not_applied: built.not_applied, by_tool: built.by_tool, ..Manifests::default() };
    let sorted = parallel::each(built.documents, |document| {
        let mut part = Manifests::default();
        sort_in(sources, &mut part, document).map(|()| part)
    });
    for part in sorted {
        manifests.add(part?);
    }
    if manifests.not_applied.is_empty() {
        manifests.crds.iter_mut().for_each(|crd| crd.kustomized = Kustomized::Yes);
    }
    Ok(manifests)
}

fn read(sources: &mut Sources, texts: Vec<Text>, in_folder: bool) -> Result<Manifests, InputError> {
    let ids: Vec<SourceId> = texts.into_iter().map(|Text { name, text }| sources.add(name, text)).collect();
    let (mut manifests, sources) = (Manifests::default(), &*sources);
    for part in parallel::each(ids, |id| read_one(sources, id, in_folder)) {
        manifests.add(part?);
    }
    Ok(manifests)
}

fn read_one(sources: &Sources, id: SourceId, in_folder: bool) -> Result<Manifests, InputError> {
    let mut manifests = Manifests::default();
    match parse(sources, id) {
        Ok(documents) => {
            for document in documents {
                sort_in(sources, &mut manifests, document)?;
            }
        }
        // A folder may contain templates and other texts that only look like YAML.
        Err(_) if in_folder && !sources.get(id).text.contains("CustomResourceDefinition") => manifests.unreadable = 1,
        Err(error) if sources.get(id).text.contains("{{") => {
            let help = "this looks like a template: render it first, such as with \
                        `command: [helm, template, --include-crds, CHART]` under `crds`";
            return Err(InputError::parse(sources, &error).help(help));
        }
        Err(error) => return Err(InputError::parse(sources, &error)),
    }
    Ok(manifests)
}

/// Adds a document to the CRDs or to the others; flattens lists.
fn sort_in(sources: &Sources, manifests: &mut Manifests, document: Node) -> Result<(), InputError> {
    let is_list = document.str_at("kind").is_some_and(|kind| kind.ends_with("List"))
        && document.get("items").is_some_and(|items| matches!(items.kind, Kind::List(_)));
    if is_list {
        for item in document.get("items").map(Node::items).unwrap_or_default() {
            sort_in(sources, manifests, item.clone())?;
        }
    } else if Crd::is_crd(&document) && is_whole(&document) {
        let crd =
            Crd::read(document).map_err(|error| InputError::at(sources, error.span, error.message).help(error.help))?;
        manifests.crds.push(crd);
    } else {
        manifests.others.push(document);
    }
    Ok(())
}

/// Returns true if a document is meant as a whole CRD, valid or not, and not as a patch.
fn is_whole(document: &Node) -> bool {
    let has = |key: &&&str| document.at(&["spec", key]).is_some();
    ["group", "names", "versions", "version"].iter().filter(has).count() >= 2
}
