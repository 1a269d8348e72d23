//! Paths of objects, and query parameters.

/// A kind at one version: group, version, plural, and a namespace for namespaced kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural name.
    pub plural: String,
    /// The namespace, if the kind is namespaced.
    pub namespace: Option<String>,
}

impl Resource {
    /// A namespaced kind.
    pub fn namespaced(group: &str, version: &str, plural: &str, namespace: &str) -> Self {
        Self { namespace: Some(namespace.into()), ..Self::cluster_wide(group, version, plural) }
    }

    /// A cluster-scoped kind.
    pub fn cluster_wide(group: &str, version: &str, plural: &str) -> Self {
        Self { group: group.into(), version: version.into(), plural: plural.into(), namespace: None }
    }

    /// The same kind at another version.
    pub fn at(&self, version: &str) -> Self {
        Self { version: version.into(), ..self.clone() }
    }

    /// The same kind in one namespace.
    pub fn within(&self, namespace: &str) -> Self {
        Self { namespace: Some(namespace.into()), ..self.clone() }
    }

    /// The path of the collection.
    pub fn path(&self) -> String {
        let root = if self.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", encoded(&self.group)) };
        let namespace =
            self.namespace.as_ref().map(|name| format!("/namespaces/{}", encoded(name))).unwrap_or_default();
        format!("{root}/{}{namespace}/{}", encoded(&self.version), encoded(&self.plural))
    }

    /// The path of one object.
    pub fn path_of(&self, name: &str) -> String {
        format!("{}/{}", self.path(), encoded(name))
    }

    /// The path of a subresource of one object, such as `status` or `scale`.
    pub fn part_of(&self, name: &str, part: &str) -> String {
        format!("{}/{part}", self.path_of(name))
    }
}

/// The handling of unknown fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldValidation {
    /// Drops them silently.
    Ignore,
    /// Drops them with a warning.
    Warn,
    /// Refuses the object.
    Strict,
}

/// The query of a call; [`Query::on`] adds it to a path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pairs: Vec<(&'static str, String)>,
}

impl Query {
    /// An empty query.
    pub fn new() -> Self {
        Self::default()
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.pairs.push((name, value.into()));
        self
    }

    /// At most this many objects per page.
    pub fn limit(self, count: u32) -> Self {
        self.with("limit", count.to_string())
    }

    /// The page after the one that returned this token.
    pub fn page(self, token: &str) -> Self {
        self.with("continue", token)
    }

    /// Data that is not older than this, or exactly this with [`Query::exactly`]; `0` reads from the server's cache.
    pub fn resource_version(self, version: &str) -> Self {
        self.with("resourceVersion", version)
    }

    /// Exactly the given resource version.
    pub fn exactly(self) -> Self {
        self.with("resourceVersionMatch", "Exact")
    }

    /// Not older than the given resource version.
    pub fn not_older(self) -> Self {
        self.with("resourceVersionMatch", "NotOlderThan")
    }

    /// Objects with these labels, and with those of an earlier selector.
    pub fn labels(mut self, selector: &str) -> Self {
        if let Some((_, earlier)) = self.pairs.iter_mut().find(|(name, _)| *name == "labelSelector") {
            *earlier = format!("{earlier},{selector}");
            return self;
        }
        self.with("labelSelector", selector)
    }

    /// Objects with these field values.
    pub fn fields(self, selector: &str) -> Self {
        self.with("fieldSelector", selector)
    }

    /// A dry run: everything except storing.
    pub fn dry_run(self) -> Self {
        self.with("dryRun", "All")
    }

    /// Sets the field manager.
    pub fn manager(self, name: &str) -> Self {
        self.with("fieldManager", name)
    }

    /// Takes over fields that other managers own.
    pub fn force(self) -> Self {
        self.with("force", "true")
    }

    /// Sets the handling of unknown fields.
    pub fn validation(self, kind: FieldValidation) -> Self {
        self.with("fieldValidation", format!("{kind:?}"))
    }

    /// Sets the deletion of dependents: `Foreground`, `Background`, `Orphan`.
    pub fn propagation(self, policy: &str) -> Self {
        self.with("propagationPolicy", policy)
    }

    /// Asks a watch for bookmarks.
    pub fn bookmarks(self) -> Self {
        self.with("allowWatchBookmarks", "true")
    }

    pub(super) fn watch(self, seconds: u64) -> Self {
        self.with("watch", "true").with("timeoutSeconds", seconds.to_string())
    }

    /// The path with this query.
    pub fn on(&self, path: impl AsRef<str>) -> String {
        let mut text = path.as_ref().to_owned();
        for (name, value) in &self.pairs {
            let mark = if text.contains('?') { '&' } else { '?' };
            text.push_str(&format!("{mark}{name}={}", encoded(value)));
        }
        text
    }
}

/// Percent-encodes everything with a meaning in a query.
fn encoded(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_group_version_namespace_object_and_part() {
        let widgets = Resource::namespaced("example.com", "v1", "widgets", "default");
        assert_eq!(widgets.at("v2").part_of("a", "status"), "/apis/example.com/v2/namespaces/default/widgets/a/status");
        assert_eq!(Resource::cluster_wide("", "v1", "namespaces").path_of("x"), "/api/v1/namespaces/x");
        // A name stays one segment of the path.
        assert_eq!(Resource::cluster_wide("", "v1", "nodes").path_of("a?b=c/../d"), "/api/v1/nodes/a%3Fb%3Dc%2F..%2Fd");
    }

    #[test]
    fn a_query_is_encoded_and_appended() {
        let query = Query::new().labels("a in (b, c)").limit(2).validation(FieldValidation::Strict);
        assert_eq!(
            query.on("/x?watch=true"),
            "/x?watch=true&labelSelector=a%20in%20%28b%2C%20c%29&limit=2&fieldValidation=Strict"
        );
        assert_eq!(Query::new().on("/x"), "/x");
    }
}
