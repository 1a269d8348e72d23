//! Permissions of the current user, as the server reports them.

use std::fmt;

use serde_json::json;

use super::Api;
use crate::ClusterError;

/// A verb on a resource.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Permission {
    /// Such as `create`.
    pub verb: String,
    /// The API group; empty for the core group.
    pub group: String,
    /// The plural name.
    pub resource: String,
    /// A part of the resource, such as `status`; empty for the whole.
    pub subresource: String,
    /// The namespace; empty for all of them, and for what has none.
    pub namespace: String,
}

impl Permission {
    /// A verb on a resource in all namespaces.
    pub fn new(verb: &str, group: &str, resource: &str) -> Self {
        Self { verb: verb.into(), group: group.into(), resource: resource.into(), ..Self::default() }
    }

    /// The same verb on a part of the resource.
    #[must_use]
    pub fn on_part(mut self, subresource: &str) -> Self {
        self.subresource = subresource.into();
        self
    }

    /// The same in one namespace only.
    #[must_use]
    pub fn within(mut self, namespace: &str) -> Self {
        self.namespace = namespace.into();
        self
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, group, resource, subresource, .. } = self;
        write!(f, "{verb} {resource}")?;
        if !subresource.is_empty() {
            write!(f, "/{subresource}")?;
        }
        if group.is_empty() { Ok(()) } else { write!(f, ".{group}") }
    }
}

impl Api {
    /// Asks whether we may do this, by a `SelfSubjectAccessReview`, which stores nothing.
    pub async fn is_allowed(&self, permission: &Permission) -> Result<bool, ClusterError> {
        let Permission { verb, group, resource, subresource, namespace } = permission;
        let attributes = json!({"verb": verb, "group": group, "resource": resource, "subresource": subresource,
                                "namespace": namespace});
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                            "spec": {"resourceAttributes": attributes}});
        let answer = self.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &review).await?.ok()?;
        Ok(answer.json()["status"]["allowed"] == json!(true))
    }
}
