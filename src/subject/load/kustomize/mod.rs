//! Building kustomizations like kustomize, as far as CRDs are concerned.
//!
//! All resources take part, because names, namespaces and replaced values can come from other kinds. Unsupported
//! features that may change a CRD are reported; then `kustomize` or `kubectl` builds the whole kustomization, if one is
//! installed.

mod edit;
mod fields;
mod file;
mod json_patch;
mod merge;
mod patches;
mod replacements;
mod resource;
mod tool;

use std::path::{Path, PathBuf};

use crdproof_schema::document::{Kind, Node, SourceId, Sources, Span, parse};

use self::fields::Config;
use self::file::Kustomization;
use self::patches::Patch;
use self::resource::{Resource, Selector};
use super::command::Commands;
use super::tree::{Found, Tree, join};
use super::{InputError, Text, parallel};

pub(super) use self::file::{find, is_kustomization};

/// The result of a kustomization.
#[derive(Debug)]
pub(super) struct Built {
    /// Its documents. Documents that are not CRDs may lack changes.
    pub(super) documents: Vec<Node>,
    /// Changes that were not applied to the CRDs, with their locations.
    pub(super) not_applied: Vec<String>,
    /// True if another program built it.
    pub(super) by_tool: bool,
}

/// Builds the kustomization of a file; with another program if it changes CRDs in unsupported ways.
pub(super) fn build(sources: &mut Sources, tree: &Tree, file: &Path, commands: Commands) -> Result<Built, InputError> {
    let built = build_natively(sources, tree, file)?;
    if built.not_applied.is_empty() {
        return Ok(built);
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    let by_tool = commands.why_not().map_or_else(|| tool::build(tree, folder), |why| Err(why.to_owned()));
    match by_tool {
        Ok(Text { name, text }) => {
            let id = sources.add(name, text);
            let documents = parse(sources, id).map_err(|error| InputError::parse(sources, &error))?;
            Ok(Built { documents, not_applied: Vec::new(), by_tool: true })
        }
        Err(why) => {
            let not_applied = built.not_applied.iter().map(|what| format!("{what} (not applied: {why})")).collect();
            Ok(Built { not_applied, ..built })
        }
    }
}

/// Builds the kustomization of a file, as far as it is supported.
pub(super) fn build_natively(sources: &mut Sources, tree: &Tree, file: &Path) -> Result<Built, InputError> {
    let mut build = Build { sources, tree, open: Vec::new(), not_applied: Vec::new() };
    let accumulated = build.target(file, Accumulated::default())?;
    let documents = build.finish(accumulated);
    Ok(Built { documents, not_applied: build.not_applied, by_tool: false })
}

/// Resources with what is known about them.
#[derive(Debug, Default)]
struct Accumulated {
    resources: Vec<Resource>,
    config: Config,
    variables: Vec<Node>,
}

struct Build<'a> {
    sources: &'a mut Sources,
    tree: &'a Tree,
    /// The kustomizations that are being read, outermost first.
    open: Vec<PathBuf>,
    not_applied: Vec<String>,
}

impl Build<'_> {
    fn not_applied(&mut self, what: &str, span: Span) {
        let place = self.sources.place(span);
        self.not_applied.push(format!("{what} of {}:{}", place.file, place.line));
    }

    /// Adds the resources of a kustomization to the existing ones, and transforms all of them.
    fn target(&mut self, path: &Path, mut all: Accumulated) -> Result<Accumulated, InputError> {
        let file = Kustomization::read(self.sources, self.tree, path)?;
        if self.open.iter().any(|open| open == path) {
            let error = InputError::at(self.sources, file.node.span, "the kustomization contains itself");
            return Err(error.help("remove the folder from `resources`"));
        }
        self.open.push(path.to_owned());
        for (key, span) in file.not_read() {
            self.not_applied(&format!("`{key}`"), span);
        }
        self.resources(&file, &mut all)?;
        for item in file.list("configurations") {
            for document in self.documents(&file, item)? {
                for (key, span) in all.config.add(&document) {
                    self.not_applied(&format!("`{key}`"), span);
                }
            }
        }
        for item in file.list("components") {
            all = match self.folder(&file, item)? {
                Some(component) => self.target(&component, all)?,
                None => all,
            };
        }
        self.transform(&file, &mut all)?;
        all.variables.extend(file.list("vars").iter().cloned());
        self.open.pop();
        Ok(all)
    }

    /// Adds the resources of a kustomization, in their order.
    fn resources(&mut self, file: &Kustomization, all: &mut Accumulated) -> Result<(), InputError> {
        let items: Vec<&Node> = file.list("resources").iter().chain(file.list("bases")).collect();
        let mut ids = Vec::with_capacity(items.len());
        for item in &items {
            let path = join(&file.folder, item.as_str().unwrap_or_default());
            let is_file = !is_remote(item) && self.tree.look(&path) == Found::File;
            ids.push(if is_file { Some(self.add(&path)?) } else { None });
        }
        let sources = &*self.sources;
        let parsed = parallel::each(ids, |id| id.map(|id| parse(sources, id)));
        for (item, parsed) in items.into_iter().zip(parsed) {
            if let Some(documents) = parsed {
                let documents = documents.map_err(|error| InputError::parse(self.sources, &error))?;
                for document in documents {
                    add(document, &mut all.resources);
                }
            } else if let Some(below) = self.folder(file, item)? {
                let below = self.target(&below, Accumulated::default())?;
                all.resources.extend(below.resources);
                all.config.merge(below.config);
                all.variables.extend(below.variables);
            }
        }
        Ok(())
    }

    /// The documents of a file that a kustomization names.
    fn documents(&mut self, file: &Kustomization, item: &Node) -> Result<Vec<Node>, InputError> {
        let path = join(&file.folder, item.as_str().unwrap_or_default());
        if self.tree.look(&path) != Found::File {
            return Err(self.missing(item, &path, "no such file"));
        }
        let id = self.add(&path)?;
        parse(self.sources, id).map_err(|error| InputError::parse(self.sources, &error))
    }

    fn add(&mut self, path: &Path) -> Result<SourceId, InputError> {
        let Text { name, text } = self.tree.read(path)?;
        Ok(self.sources.add(name, text))
    }

    /// The kustomization of a folder that another one names; `None` if it is remote.
    fn folder(&mut self, file: &Kustomization, item: &Node) -> Result<Option<PathBuf>, InputError> {
        if is_remote(item) {
            self.not_applied(&format!("the remote resource {}", item.as_str().unwrap_or_default()), item.span);
            return Ok(None);
        }
        let path = join(&file.folder, item.as_str().unwrap_or_default());
        match (self.tree.look(&path), find(self.tree, &path)) {
            (Found::Folder, Some(found)) => Ok(Some(found)),
            (Found::Folder, None) => Err(self.missing(item, &path, "it has no kustomization.yaml")),
            _ => Err(self.missing(item, &path, "no such file or directory")),
        }
    }

    fn missing(&self, item: &Node, path: &Path, why: &str) -> InputError {
        InputError::at(self.sources, item.span, format!("cannot read {}: {why}", path.display()))
            .help("correct the path in the kustomization; paths are relative to it")
    }

    /// Transforms all resources, in kustomize's order.
    fn transform(&mut self, file: &Kustomization, all: &mut Accumulated) -> Result<(), InputError> {
        for item in file.list("patchesStrategicMerge") {
            let patch = self.merge_patch(file, item)?;
            self.patch(&patch, all)?;
        }
        for item in file.list("patches") {
            let patch = self.read_patch(file, item)?;
            self.patch(&patch, all)?;
        }
        if let Some(namespace) = file.text("namespace") {
            all.resources.iter_mut().for_each(|resource| all.config.set_namespace(resource, namespace));
        }
        let affix = |key: &str| file.text(key).and_then(Node::as_str).unwrap_or_default();
        let (prefix, suffix) = (affix("namePrefix"), affix("nameSuffix"));
        if !prefix.is_empty() || !suffix.is_empty() {
            let keep = ["CustomResourceDefinition", "APIService", "Namespace"];
            for resource in all.resources.iter_mut().filter(|resource| !keep.contains(&resource.kind())) {
                let name = format!("{prefix}{}{suffix}", resource.name());
                resource.rename(&name);
            }
        }
        for label in file.list("labels") {
            if let Some(fields) = label.entry("fields") {
                self.not_applied("`fields` of a label", fields.key_span);
            }
            set_all(all, "labels", label.get("pairs"));
        }
        set_all(all, "labels", file.node.get("commonLabels"));
        set_all(all, "annotations", file.node.get("commonAnnotations"));
        for item in file.list("patchesJson6902") {
            let patch = self.read_patch(file, item)?;
            self.patch(&patch, all)?;
        }
        for item in file.list("replacements") {
            self.replacement(file, item, all)?;
        }
        Ok(())
    }

    /// A patch of `patchesStrategicMerge`: a path, or the patch itself.
    fn merge_patch(&mut self, file: &Kustomization, item: &Node) -> Result<Patch, InputError> {
        let text = item.as_str().unwrap_or_default();
        let documents =
            if text.contains('\n') { patches::inline(self.sources, item, text) } else { self.documents(file, item) };
        Ok(Patch { documents: documents?, target: None, has_text_labels: true, may_rename: false, span: item.span })
    }

    /// A patch of `patches` or `patchesJson6902`.
    fn read_patch(&mut self, file: &Kustomization, item: &Node) -> Result<Patch, InputError> {
        let documents = match (item.get("path"), item.get("patch")) {
            (Some(path), None) => self.documents(file, path)?,
            (None, Some(patch)) => patches::inline(self.sources, patch, patch.as_str().unwrap_or_default())?,
            _ => {
                let error = InputError::at(self.sources, item.span, "a patch has exactly one of `path` and `patch`");
                return Err(error.help("keep one of them"));
            }
        };
        let target = item.get("target").filter(|target| !target.is_null());
        Ok(Patch {
            documents,
            has_text_labels: target.is_some(),
            target: target.map(|target| Selector::read(self.sources, target)).transpose()?,
            may_rename: item.at(&["options", "allowNameChange"]).and_then(Node::as_bool) == Some(true),
            span: item.span,
        })
    }

    fn patch(&mut self, patch: &Patch, all: &mut Accumulated) -> Result<(), InputError> {
        for span in patch.apply(self.sources, &mut all.resources)? {
            let of_crd = patch.documents.iter().find(|document| document.span == span);
            if of_crd.and_then(|document| document.str_at("kind")) != Some("CustomResourceDefinition") {
                continue;
            }
            if self.not_applied.is_empty() {
                let error = InputError::at(self.sources, span, "the patch matches no CRD of the kustomization");
                return Err(error.help("correct its apiVersion, kind and name, or take it out of the kustomization"));
            }
            self.not_applied("a patch without its CRD", patch.span);
        }
        Ok(())
    }

    /// A replacement, or a file with some.
    fn replacement(&mut self, file: &Kustomization, item: &Node, all: &mut Accumulated) -> Result<(), InputError> {
        let read = match item.get("path") {
            Some(path) => self.documents(file, path)?,
            None => vec![item.clone()],
        };
        let read = read.into_iter().flat_map(|document| match document.kind {
            Kind::List(items) => items,
            _ => vec![document],
        });
        for replacement in read {
            if !replacements::replace(self.sources, &mut all.resources, &replacement)? {
                self.not_applied("a replacement", replacement.span);
            }
        }
        Ok(())
    }

    /// Updates names and variables, once, at the end.
    fn finish(&mut self, mut all: Accumulated) -> Vec<Node> {
        for name in all.config.fix_names(&mut all.resources) {
            self.not_applied.push(format!("the new name of {name:?}, which several resources had"));
        }
        let mut variables = Vec::new();
        for var in &all.variables {
            let name = var.str_at("name").unwrap_or_default().to_owned();
            match replacements::variable(&all.resources, var) {
                Some(value) => variables.push((name, value)),
                // A variable that no CRD uses does not matter.
                None if all.resources.iter().any(|resource| resource.uses(&name)) => {
                    self.not_applied(&format!("the variable {name}"), var.span);
                }
                None => {}
            }
        }
        for resource in all.resources.iter_mut().filter(|resource| resource.is_crd()) {
            all.config.fill_in(resource, &variables);
            if let Some(metadata) = edit::get_mut(&mut resource.node, "metadata") {
                edit::as_texts(self.sources, metadata, "annotations");
            }
        }
        let is_local = |node: &Node| {
            let annotations = node.at(&["metadata", "annotations"]);
            annotations.and_then(|all| all.str_at("config.kubernetes.io/local-config")).is_some_and(|is| is != "false")
        };
        all.resources.into_iter().map(|resource| resource.node).filter(|node| !is_local(node)).collect()
    }
}

/// Adds a document, or the documents of a list.
fn add(document: Node, resources: &mut Vec<Resource>) {
    let is_list = document.str_at("kind").is_some_and(|kind| kind.ends_with("List"));
    match document.get("items").filter(|_| is_list).map(|items| items.items().to_vec()) {
        Some(items) => items.into_iter().for_each(|item| add(item, resources)),
        None => resources.push(Resource::new(document)),
    }
}

/// Sets labels or annotations on all resources.
fn set_all(all: &mut Accumulated, key: &str, pairs: Option<&Node>) {
    for entry in pairs.map(Node::entries).unwrap_or_default() {
        for resource in &mut all.resources {
            let metadata = edit::map_at(&mut resource.node, "metadata", entry.key_span);
            if let Some(map) = metadata.and_then(|metadata| edit::map_at(metadata, key, entry.key_span)) {
                edit::set(map, &entry.key, entry.key_span, entry.value.clone());
            }
        }
    }
}

/// Returns true if an entry must be downloaded.
fn is_remote(item: &Node) -> bool {
    let path = item.as_str().unwrap_or_default();
    path.contains("://")
        || path.contains("?ref=")
        || ["git@", "git::", "github.com/", "gitlab.com/", "bitbucket.org/"].iter().any(|host| path.starts_with(host))
}
