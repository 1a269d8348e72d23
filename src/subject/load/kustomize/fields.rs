//! Fields that kustomize changes by configuration: namespaces, references to names, variables.

use crdproof_schema::document::{Kind, Node, Span};

use super::edit;
use super::resource::Resource;

/// A field of some resources.
#[derive(Debug, Clone)]
pub(super) struct FieldSpec {
    group: String,
    version: String,
    kind: String,
    path: Vec<String>,
    /// The location of the specification, if a missing field is created.
    create: Option<Span>,
}

/// A field that holds the name of another resource.
#[derive(Debug, Clone)]
struct NameReference {
    group: String,
    version: String,
    kind: String,
    field: FieldSpec,
}

/// The fields that configurations add to the built-in ones of kustomize.
#[derive(Debug, Default)]
pub(super) struct Config {
    namespaces: Vec<FieldSpec>,
    name_references: Vec<NameReference>,
    variables: Vec<FieldSpec>,
}

/// Keys of configurations for fields that we do not change.
const OTHER_FIELDS: [&str; 7] =
    ["namePrefix", "nameSuffix", "commonLabels", "labels", "templateLabels", "commonAnnotations", "replicas"];

impl FieldSpec {
    fn read(node: &Node) -> Option<Self> {
        let text = |key: &str| node.str_at(key).unwrap_or_default().to_owned();
        let path = edit::split(node.str_at("path")?, '/');
        let create = node.get("create").and_then(Node::as_bool) == Some(true);
        Some(Self {
            group: text("group"),
            version: text("version"),
            kind: text("kind"),
            path: path.iter().map(|step| step.trim_end_matches("[]").to_owned()).collect(),
            create: create.then_some(node.span),
        })
    }

    fn of_crds(path: &str) -> Self {
        Self {
            group: "apiextensions.k8s.io".into(),
            version: String::new(),
            kind: "CustomResourceDefinition".into(),
            path: edit::split(path, '/'),
            create: None,
        }
    }

    fn each(&self, resource: &mut Resource, change: &mut dyn FnMut(&mut Node)) {
        if resource.is_of(&self.group, &self.version, &self.kind) {
            each(&mut resource.node, &self.path, self.create, change);
        }
    }
}

/// Calls a function for every field at a path. Enters lists on the path.
fn each(node: &mut Node, path: &[String], create: Option<Span>, change: &mut dyn FnMut(&mut Node)) {
    let Some((step, rest)) = path.split_first() else { return change(node) };
    if let Kind::List(items) = &mut node.kind {
        return items.iter_mut().for_each(|item| each(item, path, create, change));
    }
    if let Some(span) = create.filter(|_| node.get(step).is_none_or(Node::is_null)) {
        let kind = if rest.is_empty() { Kind::String(String::new()) } else { Kind::Map(Vec::new()) };
        edit::set(node, step, span, Node { span, kind });
    }
    if let Some(next) = edit::get_mut(node, step) {
        each(next, rest, create, change);
    }
}

impl Config {
    /// Adds a configuration file; returns its keys for CRDs that are not supported.
    pub(super) fn add(&mut self, file: &Node) -> Vec<(String, Span)> {
        let specs = |node: &Node, key: &str| -> Vec<FieldSpec> {
            node.get(key).map(Node::items).unwrap_or_default().iter().filter_map(FieldSpec::read).collect()
        };
        self.namespaces.extend(specs(file, "namespace"));
        self.variables.extend(specs(file, "varReference"));
        for reference in file.get("nameReference").map(Node::items).unwrap_or_default() {
            let text = |key: &str| reference.str_at(key).unwrap_or_default().to_owned();
            self.name_references.extend(specs(reference, "fieldSpecs").into_iter().map(|field| NameReference {
                group: text("group"),
                version: text("version"),
                kind: text("kind"),
                field,
            }));
        }
        let concerns_crds = |key: &str| {
            let specs = file.get(key).map(Node::items).unwrap_or_default();
            specs.iter().any(|spec| spec.str_at("kind").is_none_or(|kind| kind == "CustomResourceDefinition"))
        };
        let others = file.entries().iter().filter(|entry| OTHER_FIELDS.contains(&entry.key.as_str()));
        let others = others.filter(|entry| concerns_crds(&entry.key));
        others.map(|entry| (entry.key.clone(), entry.key_span)).collect()
    }

    /// Adds the fields of another configuration.
    pub(super) fn merge(&mut self, other: Self) {
        self.namespaces.extend(other.namespaces);
        self.name_references.extend(other.name_references);
        self.variables.extend(other.variables);
    }

    /// Moves a resource to a namespace, and updates the fields of CRDs that name it.
    pub(super) fn set_namespace(&self, resource: &mut Resource, namespace: &Node) {
        let built_in = FieldSpec::of_crds("spec/conversion/webhook/clientConfig/service/namespace");
        let is_metadata = |field: &FieldSpec| field.path.first().is_some_and(|step| step == "metadata");
        for field in self.namespaces.iter().filter(|field| !is_metadata(field)).chain([&built_in]) {
            field.each(resource, &mut |node| *node = namespace.clone());
        }
        if resource.is_of("", "v1", "Namespace") {
            let name = namespace.as_str().unwrap_or_default();
            resource.rename(name);
        } else if !is_cluster_scoped(resource)
            && let Some(metadata) = edit::map_at(&mut resource.node, "metadata", namespace.span)
        {
            edit::set(metadata, "namespace", namespace.span, namespace.clone());
        }
    }

    /// Updates fields of CRDs that hold the names of renamed resources. Returns ambiguous names.
    pub(super) fn fix_names(&self, resources: &mut [Resource]) -> Vec<String> {
        let mut unclear = Vec::new();
        let others = resources.to_vec();
        for resource in resources.iter_mut().filter(|resource| resource.is_crd()) {
            for NameReference { group, version, kind, field } in &self.name_references {
                field.each(resource, &mut |node| {
                    let Some(name) = node.as_str() else { return };
                    let renamed = others.iter().filter(|other| {
                        other.is_of(group, version, kind) && other.earlier_names.iter().any(|earlier| earlier == name)
                    });
                    let mut names: Vec<&str> = renamed.map(Resource::name).collect();
                    names.sort_unstable();
                    names.dedup();
                    match names[..] {
                        [] => {}
                        [new] => *node = edit::string(new, node.span),
                        _ => unclear.push(name.to_owned()),
                    }
                });
            }
        }
        unclear
    }

    /// Replaces `$(NAME)` in the fields of CRDs that may have variables.
    pub(super) fn fill_in(&self, resource: &mut Resource, variables: &[(String, String)]) {
        let built_in = ["metadata/labels", "metadata/annotations"].map(FieldSpec::of_crds);
        for field in self.variables.iter().chain(&built_in) {
            field.each(resource, &mut |node| fill_in(node, variables));
        }
    }
}

fn fill_in(node: &mut Node, variables: &[(String, String)]) {
    match &mut node.kind {
        Kind::String(text) => {
            for (name, value) in variables {
                *text = text.replace(&format!("$({name})"), value);
            }
        }
        Kind::List(items) => items.iter_mut().for_each(|item| fill_in(item, variables)),
        Kind::Map(entries) => entries.iter_mut().for_each(|entry| fill_in(&mut entry.value, variables)),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) => {}
    }
}

/// Returns true if a resource is cluster-scoped. Unknown kinds count as namespaced.
fn is_cluster_scoped(resource: &Resource) -> bool {
    const CORE: [&str; 3] = ["Namespace", "Node", "PersistentVolume"];
    let kinds: &[&str] = match resource.group_version().0 {
        "" => &CORE,
        "apiextensions.k8s.io" => &["CustomResourceDefinition"],
        "rbac.authorization.k8s.io" => &["ClusterRole", "ClusterRoleBinding"],
        "apiregistration.k8s.io" => &["APIService"],
        "admissionregistration.k8s.io" | "flowcontrol.apiserver.k8s.io" => return true,
        "storage.k8s.io" => &["StorageClass", "CSIDriver", "CSINode", "VolumeAttachment"],
        "scheduling.k8s.io" => &["PriorityClass"],
        "networking.k8s.io" => &["IngressClass"],
        "node.k8s.io" => &["RuntimeClass"],
        "policy" => &["PodSecurityPolicy"],
        "certificates.k8s.io" => &["CertificateSigningRequest", "ClusterTrustBundle"],
        _ => &[],
    };
    kinds.contains(&resource.kind())
}
