//! A `CustomResourceDefinition` in a manifest.

use super::{Column, Kustomized, Scale};
use crdproof_envtest::api::Resource;
use crdproof_schema::document::{Kind, Node, Span};
use crdproof_schema::generate::Context;
use crdproof_schema::structural::{Schema, Secrets};

/// A CRD, parsed tolerantly: checks report missing or wrong parts.
#[derive(Debug, Clone)]
pub struct Crd {
    /// `metadata.name`.
    pub name: String,
    /// `spec.group`.
    pub group: String,
    /// `spec.names`.
    pub names: Names,
    /// `spec.scope`.
    pub scope: String,
    /// `spec.preserveUnknownFields`.
    pub preserve_unknown_fields: bool,
    /// `spec.conversion`; strategy None if it is absent.
    pub conversion: Conversion,
    /// `spec.versions`, in source order.
    pub versions: Vec<Version>,
    /// The role of kustomize for this CRD.
    pub kustomized: Kustomized,
    /// The whole document, for locations and for parts without a field here.
    pub node: Node,
}

/// `spec.names`.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// `kind`.
    pub kind: String,
    /// `plural`.
    pub plural: String,
    /// `singular`; the API server derives it from the kind if it is absent.
    pub singular: Option<String>,
    /// `listKind`; the API server derives it from the kind if it is absent.
    pub list_kind: Option<String>,
    /// `shortNames`.
    pub short_names: Vec<String>,
    /// `categories`.
    pub categories: Vec<String>,
}

/// `spec.conversion`.
#[derive(Debug, Clone)]
pub struct Conversion {
    /// The location of the stanza, or of the spec if there is none.
    pub span: Span,
    /// True if the stanza is present.
    pub stated: bool,
    /// `strategy`; empty if the stanza lacks it.
    pub strategy: String,
    /// `webhook.clientConfig`.
    pub client: Option<ClientConfig>,
    /// The location of `webhook`, if it is present.
    pub webhook: Option<Span>,
    /// `webhook.conversionReviewVersions`.
    pub review_versions: Vec<(String, Span)>,
}

/// `spec.conversion.webhook.clientConfig`.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// Its position in the source.
    pub span: Span,
    /// `url`.
    pub url: Option<(String, Span)>,
    /// `service`.
    pub service: Option<Service>,
    /// `caBundle`, still in base64.
    pub ca_bundle: Option<(String, Span)>,
}

/// `spec.conversion.webhook.clientConfig.service`.
#[derive(Debug, Clone)]
pub struct Service {
    /// Its position in the source.
    pub span: Span,
    /// `name`.
    pub name: String,
    /// `namespace`.
    pub namespace: String,
    /// `path`.
    pub path: Option<(String, Span)>,
    /// `port`.
    pub port: Option<(i64, Span)>,
}

/// One of `spec.versions`.
#[derive(Debug, Clone)]
pub struct Version {
    /// Its position in the source.
    pub span: Span,
    /// `name`.
    pub name: String,
    /// The location of the name.
    pub name_span: Span,
    /// `served`.
    pub served: bool,
    /// `storage`.
    pub storage: bool,
    /// `deprecated`.
    pub deprecated: bool,
    /// `deprecationWarning`.
    pub deprecation_warning: Option<(String, Span)>,
    /// `schema.openAPIV3Schema`.
    pub schema: Option<Schema>,
    /// The schema for generated objects, if hints restrict it.
    pub hinted: Option<Schema>,
    /// `subresources.status`.
    pub status: Option<Span>,
    /// `subresources.scale`.
    pub scale: Option<Scale>,
    /// `additionalPrinterColumns`.
    pub columns: Vec<Column>,
    /// `selectableFields`: path and location of each.
    pub selectable_fields: Vec<(String, Span)>,
    /// The node without its schema, for locations.
    pub node: Node,
}

/// An error in a document that claims to be a CRD.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct CrdError {
    /// The location.
    pub span: Span,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
}

const V1: &str = "apiextensions.k8s.io/v1";

impl Crd {
    /// Returns the parts of the CRD that a generator of objects of one version needs.
    pub fn context(&self, version: &Version) -> Context {
        let context = Context::new(&self.group, &version.name, &self.names.kind);
        let context = if self.is_namespaced() { context.namespaced() } else { context };
        let context = if version.status.is_some() { context.with_status_subresource() } else { context };
        match version.scale.as_ref().and_then(Scale::paths) {
            Some(scale) => context.with_scale(scale),
            None => context,
        }
    }

    /// Returns the secret fields of its objects, by its schemas.
    pub fn secrets(&self) -> Secrets {
        Secrets::new(self.versions.iter().filter_map(|version| version.schema.as_ref()))
    }

    /// Returns true if a document claims to be a CRD of any API version.
    pub fn is_crd(node: &Node) -> bool {
        node.str_at("kind") == Some("CustomResourceDefinition")
            && node.str_at("apiVersion").is_some_and(|api| api.starts_with("apiextensions.k8s.io/"))
    }

    /// Reads a CRD document.
    pub fn read(node: Node) -> Result<Self, CrdError> {
        let error = |span: Span, message: String, help: &str| CrdError { span, message, help: help.to_owned() };
        match node.get("apiVersion").and_then(|api| Some((api.as_str()?, api.span))) {
            Some((V1, _)) => {}
            Some((other, span)) => {
                let help = "write the CRD as apiextensions.k8s.io/v1: Kubernetes 1.22 stopped serving v1beta1. \
                            `schema`, `subresources` and `additionalPrinterColumns` move under each version, \
                            `JSONPath` becomes `jsonPath`, `preserveUnknownFields` becomes false";
                return Err(error(span, format!("{other} CRDs cannot be judged"), help));
            }
            None => {
                let help = "add `apiVersion: apiextensions.k8s.io/v1`";
                return Err(error(node.span, "apiVersion is missing".into(), help));
            }
        }
        let Some(name) = node.at(&["metadata", "name"]).and_then(Node::as_str) else {
            let span = node.get("metadata").unwrap_or(&node).span;
            return Err(error(span, "metadata.name is missing".into(), "name the CRD <plural>.<group>"));
        };
        let Some(spec) = node.get("spec").filter(|spec| matches!(spec.kind, Kind::Map(_))) else {
            let help = "a CRD needs a spec with group, names and versions";
            return Err(error(node.span, "spec is missing".into(), help));
        };
        Ok(Self {
            name: name.to_owned(),
            group: owned(spec, "group"),
            names: spec.get("names").map(Names::read).unwrap_or_default(),
            scope: owned(spec, "scope"),
            preserve_unknown_fields: flag(spec, "preserveUnknownFields"),
            conversion: Conversion::read(spec),
            versions: spec
                .get("versions")
                .map(|versions| versions.items().iter().map(Version::read).collect())
                .unwrap_or_default(),
            kustomized: Kustomized::default(),
            node,
        })
    }

    /// The storage version: the first one that is marked.
    pub fn storage(&self) -> Option<&Version> {
        self.versions.iter().find(|version| version.storage)
    }

    /// The version of this name.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// Returns true if the kind is namespaced.
    pub fn is_namespaced(&self) -> bool {
        self.scope == "Namespaced"
    }

    /// Returns the resource in a namespace, or cluster-wide if the CRD says so, without a version.
    pub fn resource(&self, namespace: &str) -> Resource {
        let resource = Resource::cluster_wide(&self.group, "", &self.names.plural);
        if self.is_namespaced() { resource.within(namespace) } else { resource }
    }

    /// Returns true if the strategy is None.
    pub fn converts_by_none(&self) -> bool {
        self.conversion.strategy == "None"
    }

    /// Returns the location of a part of the document, or of the nearest part above it.
    pub fn span_at(&self, pointer: &str) -> Span {
        self.node.nearest(pointer).span
    }
}

impl Names {
    fn read(node: &Node) -> Self {
        let texts = |key: &str| -> Vec<String> {
            let list = node.get(key).map(Node::items).unwrap_or_default();
            list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        };
        Self {
            kind: owned(node, "kind"),
            plural: owned(node, "plural"),
            singular: node.str_at("singular").map(str::to_owned),
            list_kind: node.str_at("listKind").map(str::to_owned),
            short_names: texts("shortNames"),
            categories: texts("categories"),
        }
    }
}

impl Conversion {
    fn read(spec: &Node) -> Self {
        let Some(node) = spec.get("conversion").filter(|node| !node.is_null()) else {
            let (strategy, review_versions) = ("None".into(), Vec::new());
            return Self { span: spec.span, stated: false, strategy, client: None, webhook: None, review_versions };
        };
        let entry_span = |node: &Node, key: &str| node.entry(key).map(|entry| entry.key_span.to(entry.value.span));
        let webhook = node.get("webhook").filter(|webhook| !webhook.is_null());
        let versions = webhook.and_then(|webhook| webhook.get("conversionReviewVersions"));
        Self {
            span: entry_span(spec, "conversion").unwrap_or(node.span),
            stated: true,
            strategy: owned(node, "strategy"),
            client: webhook.and_then(|webhook| webhook.get("clientConfig")).map(ClientConfig::read),
            webhook: webhook.and(entry_span(node, "webhook")),
            review_versions: versions
                .map(Node::items)
                .unwrap_or_default()
                .iter()
                .map(|item| (item.as_str().unwrap_or_default().to_owned(), item.span))
                .collect(),
        }
    }
}

impl ClientConfig {
    fn read(node: &Node) -> Self {
        Self {
            span: node.span,
            url: spanned(node, "url"),
            service: node.get("service").filter(|service| !service.is_null()).map(|service| Service {
                span: service.span,
                name: owned(service, "name"),
                namespace: owned(service, "namespace"),
                path: spanned(service, "path"),
                port: service.get("port").and_then(|port| match &port.kind {
                    Kind::Number(number) => number.as_i64().map(|number| (number, port.span)),
                    _ => None,
                }),
            }),
            ca_bundle: spanned(node, "caBundle"),
        }
    }
}

impl Version {
    fn read(node: &Node) -> Self {
        let subresources = node.get("subresources");
        let enabled = |key: &str| {
            subresources.and_then(|subresources| subresources.entry(key)).filter(|entry| !entry.value.is_null())
        };
        Self {
            span: node.span,
            name: owned(node, "name"),
            name_span: node.get("name").unwrap_or(node).span,
            served: flag(node, "served"),
            storage: flag(node, "storage"),
            deprecated: flag(node, "deprecated"),
            deprecation_warning: spanned(node, "deprecationWarning"),
            schema: node.at(&["schema", "openAPIV3Schema"]).filter(|schema| !schema.is_null()).map(Schema::read),
            hinted: None,
            status: enabled("status").map(|entry| entry.key_span.to(entry.value.span)),
            scale: enabled("scale").map(Scale::read),
            columns: items(node, "additionalPrinterColumns").map(Column::read).collect(),
            selectable_fields: items(node, "selectableFields")
                .map(|field| spanned(field, "jsonPath").unwrap_or((String::new(), field.span)))
                .collect(),
            node: without_schema(node),
        }
    }
}

/// The node of a version without its schema, which is the largest part and has its own type.
fn without_schema(node: &Node) -> Node {
    let entries = node.entries().iter().filter(|entry| entry.key != "schema");
    Node { span: node.span, kind: Kind::Map(entries.cloned().collect()) }
}

fn items<'a>(node: &'a Node, key: &str) -> impl Iterator<Item = &'a Node> {
    node.get(key).map(Node::items).unwrap_or_default().iter()
}

pub(super) fn owned(node: &Node, key: &str) -> String {
    node.str_at(key).unwrap_or_default().to_owned()
}

fn flag(node: &Node, key: &str) -> bool {
    node.get(key).and_then(Node::as_bool).unwrap_or_default()
}

pub(super) fn spanned(node: &Node, key: &str) -> Option<(String, Span)> {
    let value = node.get(key)?;
    Some((value.as_str()?.to_owned(), value.span))
}
