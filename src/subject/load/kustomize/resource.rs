//! Resources of a kustomization, and selectors of patches and replacements.

use crdproof_schema::document::{Node, Sources};
use regex::Regex;

use super::super::InputError;
use super::edit;

/// A document in a kustomization.
#[derive(Debug, Clone)]
pub(super) struct Resource {
    /// The current document.
    pub(super) node: Node,
    /// Its earlier names, oldest first.
    pub(super) earlier_names: Vec<String>,
    /// True if not all changes were applied. Never true for CRDs.
    pub(super) is_approximate: bool,
}

impl Resource {
    pub(super) fn new(node: Node) -> Self {
        Self { node, earlier_names: Vec::new(), is_approximate: false }
    }

    pub(super) fn kind(&self) -> &str {
        self.node.str_at("kind").unwrap_or_default()
    }

    /// Group and version.
    pub(super) fn group_version(&self) -> (&str, &str) {
        let api = self.node.str_at("apiVersion").unwrap_or_default();
        api.split_once('/').unwrap_or(("", api))
    }

    pub(super) fn name(&self) -> &str {
        self.node.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default()
    }

    pub(super) fn namespace(&self) -> &str {
        self.node.at(&["metadata", "namespace"]).and_then(Node::as_str).unwrap_or_default()
    }

    /// Returns true if it is a CRD, of any API version.
    pub(super) fn is_crd(&self) -> bool {
        self.kind() == "CustomResourceDefinition"
    }

    /// Its current name and its earlier ones.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.earlier_names.iter().map(String::as_str).chain([self.name()])
    }

    /// Changes its name and records the old one.
    pub(super) fn rename(&mut self, name: &str) {
        let old = self.name().to_owned();
        if let Some(node) = edit::get_mut(&mut self.node, "metadata").and_then(|node| edit::get_mut(node, "name")) {
            *node = edit::string(name, node.span);
            self.earlier_names.push(old);
        }
    }

    /// Returns true if the metadata of a CRD uses a variable.
    pub(super) fn uses(&self, variable: &str) -> bool {
        let metadata = self.node.get("metadata").filter(|_| self.is_crd());
        metadata.is_some_and(|metadata| metadata.to_value().to_string().contains(&format!("$({variable})")))
    }

    /// Returns true if kind, group and version match; an empty one matches all.
    pub(super) fn is_of(&self, group: &str, version: &str, kind: &str) -> bool {
        let (own_group, own_version) = self.group_version();
        let fits = |wanted: &str, own: &str| wanted.is_empty() || wanted == own;
        fits(group, own_group) && fits(version, own_version) && fits(kind, self.kind())
    }
}

/// Selects resources by expressions: the `target` of a patch, the `select` of a replacement.
#[derive(Debug)]
pub(super) struct Selector {
    group: Option<Regex>,
    version: Option<Regex>,
    kind: Option<Regex>,
    name: Option<Regex>,
    namespace: Option<Regex>,
    labels: Option<String>,
    annotations: Option<String>,
}

impl Selector {
    /// Reads a selector.
    pub(super) fn read(sources: &Sources, node: &Node) -> Result<Self, InputError> {
        let pattern = |key: &str| -> Result<Option<Regex>, InputError> {
            let Some(value) = node.get(key) else { return Ok(None) };
            let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { return Ok(None) };
            let regex = Regex::new(&format!("^(?:{text})$")).map_err(|error| {
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                InputError::at(sources, value.span, format!("{text:?} is not a regular expression: {why}"))
                    .help("kustomize reads the target of a patch as regular expressions")
            })?;
            Ok(Some(regex))
        };
        let text = |key: &str| node.str_at(key).filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(Self {
            group: pattern("group")?,
            version: pattern("version")?,
            kind: pattern("kind")?,
            name: pattern("name")?,
            namespace: pattern("namespace")?,
            labels: text("labelSelector"),
            annotations: text("annotationSelector"),
        })
    }

    /// Returns true if it is empty, and so selects everything.
    pub(super) fn is_empty(&self) -> bool {
        let patterns = [&self.group, &self.version, &self.kind, &self.name, &self.namespace];
        patterns.into_iter().all(Option::is_none) && self.labels.is_none() && self.annotations.is_none()
    }

    /// Returns true if it selects a resource; `None` if its form is not supported.
    pub(super) fn selects(&self, resource: &Resource) -> Option<bool> {
        let (group, version) = resource.group_version();
        let fits = |pattern: &Option<Regex>, text: &str| pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
        let namespace = match resource.namespace() {
            "" if !resource.is_crd() => "default",
            namespace => namespace,
        };
        let selected = fits(&self.group, group)
            && fits(&self.version, version)
            && fits(&self.kind, resource.kind())
            && fits(&self.namespace, namespace)
            && resource.names().any(|name| fits(&self.name, name));
        if !selected {
            return Some(false);
        }
        let has = |selector: &Option<String>, key: &str| match selector {
            None => Some(true),
            Some(selector) => matches(selector, resource.node.at(&["metadata", key])),
        };
        Some(has(&self.labels, "labels")? && has(&self.annotations, "annotations")?)
    }
}

/// Returns true if labels match a selector of `key`, `!key`, `key=value` and `key!=value`; `None` for other forms.
fn matches(selector: &str, labels: Option<&Node>) -> Option<bool> {
    if selector.contains(['(', ')', '<', '>']) {
        return None;
    }
    let value = |key: &str| labels.and_then(|labels| labels.str_at(key.trim()));
    let fits = |term: &str| match (term.split_once("!="), term.split_once('='), term.strip_prefix('!')) {
        (Some((key, wanted)), _, _) => value(key) != Some(wanted.trim()),
        (None, Some((key, wanted)), _) => value(key) == Some(wanted.trim_start_matches('=').trim()),
        (None, None, Some(key)) => value(key).is_none(),
        (None, None, None) => value(term).is_some(),
    };
    Some(selector.split(',').map(str::trim).all(fits))
}
