//! The index of release archives, in the format of the controller-tools project: `releases`, by release and archive
//! name, each with `hash` (SHA-512) and `selfLink` (the address).

use super::error::BinariesError;
use super::probe::Machine;
use crdproof_schema::document::{Node, Sources as Texts, parse};
use crdproof_schema::kubernetes::{KubeVersion, Selector};

/// Archives for one machine, oldest release first.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    archives: Vec<Archive>,
}

/// An archive of one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Archive {
    pub(super) version: KubeVersion,
    pub(super) name: String,
    pub(super) sha512: String,
    pub(super) url: String,
}

impl Index {
    /// Reads the archives for a platform. Skips pre-releases and unknown entries: one unexpected line must not hide all
    /// others.
    pub(super) fn read(url: &str, text: &str, machine: Machine) -> Result<Self, BinariesError> {
        let wrong = |reason: &str| BinariesError::Fetch { url: url.to_owned(), reason: reason.to_owned() };
        let mut texts = Texts::default();
        let id = texts.add(url, text);
        let documents = parse(&texts, id).map_err(|error| wrong(&format!("it is not YAML: {}", error.message)))?;
        let releases = documents.first().and_then(|document| document.get("releases"));
        let releases = releases.ok_or_else(|| wrong("it is not an index of releases"))?;
        let mut archives: Vec<Archive> = Vec::new();
        for release in releases.entries() {
            let Some(version) = released(release.key.as_str()) else { continue };
            for archive in release.value.entries() {
                archives.extend(read_archive(version, archive.key.as_str(), &archive.value, machine));
            }
        }
        archives.sort_by_key(|archive| archive.version);
        Ok(Self { archives })
    }

    /// The archives of the selected releases, oldest first.
    pub(super) fn fitting(&self, selector: Selector) -> Vec<Archive> {
        self.archives.iter().filter(|archive| selector.matches(archive.version)).cloned().collect()
    }
}

fn released(name: &str) -> Option<KubeVersion> {
    let version: KubeVersion = name.parse().ok()?;
    (version.patch.is_some() && name.trim_start_matches('v') == version.to_string()).then_some(version)
}

fn read_archive(version: KubeVersion, name: &str, node: &Node, machine: Machine) -> Option<Archive> {
    // A name with a slash would lead outside of the download folder.
    let fits = name.ends_with(&format!("-{}-{}.tar.gz", machine.os, machine.arch)) && !name.contains(['/', '\\']);
    let sha512 = node.str_at("hash")?.to_ascii_lowercase();
    let valid = sha512.len() == 128 && sha512.bytes().all(|byte| byte.is_ascii_hexdigit());
    let url = node.str_at("selfLink")?.to_owned();
    (fits && valid).then(|| Archive { version, name: name.to_owned(), sha512, url })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine { os: "linux", arch: "amd64" };

    #[test]
    fn archives_for_the_platform_are_read() {
        let hash = "a".repeat(128);
        let text = format!(
            "releases:\n  v1.36.0:\n    envtest-v1.36.0-linux-amd64.tar.gz:\n      hash: {hash}\n      selfLink: https://example.com/a\n    \
             envtest-v1.36.0-linux-arm64.tar.gz: {{hash: {hash}, selfLink: https://example.com/b}}\n  \
             v1.37.0-rc.1:\n    envtest-v1.37.0-rc.1-linux-amd64.tar.gz: {{hash: {hash}, selfLink: https://example.com/c}}\n  \
             v1.35.0:\n    envtest-v1.35.0-linux-amd64.tar.gz: {{hash: short, selfLink: https://example.com/d}}\n    \
             ../x-linux-amd64.tar.gz: {{hash: {hash}, selfLink: https://example.com/e}}\n"
        );
        let index = Index::read("index", &text, MACHINE).unwrap();
        let found: Vec<_> = index.fitting(Selector::Latest).into_iter().map(|archive| archive.url).collect();
        assert_eq!(found, ["https://example.com/a"]);
    }

    #[test]
    fn a_text_that_is_not_an_index_is_refused() {
        let error = Index::read("index", "hello: world", MACHINE).unwrap_err();
        assert_eq!(error.to_string(), "cannot fetch index: it is not an index of releases");
        let error = Index::read("index", "a: [", MACHINE).unwrap_err();
        assert!(error.to_string().starts_with("cannot fetch index: it is not YAML"), "{error}");
    }
}
