//! The API servers of a run: the requested releases, and installing them.

use std::num::NonZeroUsize;

use super::events::Event;
use super::{Absent, RunError, ServerMatrix};
use crate::operate::in_tree;
use crdproof_envtest::binaries::{Progress, Sources, Store};
use crdproof_envtest::{ClusterError, Installer, Provider, ServerOptions, ServerSpec};
use crdproof_schema::kubernetes::{KubeVersion, Selector, SelectorError};

/// The API servers that a run may use.
#[derive(Debug, Clone)]
pub struct Servers {
    /// Requested releases and ranges, such as `1.36` or `1.28..1.37`.
    pub asked: Vec<String>,
    /// The settings of the servers.
    pub options: ServerOptions,
    /// The cache of their binaries.
    pub store: Store,
    /// The sources of binaries.
    pub sources: Sources,
    /// The number of servers that run at once; by default as many as memory and cores allow.
    pub at_once: Option<NonZeroUsize>,
    /// True if the control plane migrates, too.
    pub in_tree_migration: bool,
    /// Arguments of a run that repeat these settings, besides the releases.
    pub arguments: Vec<String>,
    /// True if the CRDs are installed on an existing cluster, and must not be changed.
    pub deployed: bool,
}

/// One server that can be started.
pub(super) struct Prepared {
    /// The requested names; the first is that of events.
    pub(super) names: Vec<String>,
    /// True if it was named by itself, so that a run without it fails.
    pub(super) required: bool,
    version: Option<KubeVersion>,
    pub(super) spec: ServerSpec,
}

/// Receives events while servers are prepared.
pub(super) type Observer<'o> = &'o (dyn Fn(&Event<'_>) + Sync);

impl Servers {
    /// Returns the servers by name, with ranges expanded to releases. Installs and starts nothing.
    pub fn matrix(&self, progress: &dyn Fn(Progress)) -> Result<ServerMatrix, RunError> {
        let mut matrix = ServerMatrix {
            in_tree_migration: self.in_tree_migration,
            deployed: self.deployed,
            ..ServerMatrix::default()
        };
        for text in &self.asked {
            let range = self.range(text, progress)?;
            for release in range.as_deref().unwrap_or(std::slice::from_ref(text)) {
                if !matrix.servers.contains(release) {
                    matrix.servers.push(release.clone());
                }
            }
            matrix.ranges.extend(range.map(|releases| (text.clone(), releases)));
        }
        // An existing cluster has its own release.
        let releases = matrix.servers.iter().filter(|_| self.options.provider != Provider::Existing);
        let releases = releases.flat_map(|release| ["--kubernetes".to_owned(), release.clone()]);
        matrix.arguments = self.arguments.iter().cloned().chain(releases).collect();
        Ok(matrix)
    }

    /// Returns the releases of a range; `None` if the text is not a range.
    fn range(&self, text: &str, progress: &dyn Fn(Progress)) -> Result<Option<Vec<String>>, RunError> {
        // Other providers support only single releases, and an existing cluster is named by its context.
        if self.options.provider != Provider::Local {
            return Ok(None);
        }
        let selector: Selector = text.parse().map_err(|error: SelectorError| RunError::Install(error.into()))?;
        if !matches!(selector, Selector::Range(_) | Selector::Installed) {
            return Ok(None);
        }
        let releases = self.installer(progress).expand(selector)?;
        Ok(Some(releases.iter().map(ToString::to_string).collect()))
    }

    fn installer<'i>(&'i self, progress: &'i dyn Fn(Progress)) -> Installer<'i> {
        Installer { store: &self.store, sources: &self.sources, progress }
    }

    /// Installs the requested releases, in order. A release of a range that cannot be installed is absent.
    pub(super) fn prepare(
        &self,
        matrix: &ServerMatrix,
        observer: Observer<'_>,
    ) -> Result<(Vec<Prepared>, Vec<Absent>), RunError> {
        let progress = |progress| observer(&Event::Installing(progress));
        let (mut prepared, mut absent): (Vec<Prepared>, Vec<Absent>) = (Vec::new(), Vec::new());
        for release in &matrix.servers {
            let required = self.asked.contains(release) && !matrix.ranges.contains_key(release);
            let spec = self.options.spec(release, self.installer(&progress));
            let ready = match spec {
                Ok(spec) => self.ready(spec).map_err(RunError::Cluster),
                Err(error) if required => Err(RunError::Install(error)),
                Err(error) => {
                    absent.push(skipped(release, &error.in_a_line(), observer));
                    continue;
                }
            };
            let (spec, version) = match ready {
                Ok(ready) => ready,
                Err(error) if required => return Err(error),
                Err(error) => {
                    absent.push(skipped(release, &error.to_string(), observer));
                    continue;
                }
            };
            // `1.36` and `1.36.4` may be the same.
            match prepared.iter_mut().find(|earlier| version.is_some() && earlier.version == version) {
                Some(earlier) => {
                    earlier.required |= required;
                    earlier.names.push(release.clone());
                }
                None => prepared.push(Prepared { names: vec![release.clone()], required, version, spec }),
            }
        }
        observer(&Event::Installed);
        matrix.check(&absent)?;
        Ok((prepared, absent))
    }

    /// Completes a server, and returns its release if it is known before the start.
    fn ready(&self, spec: ServerSpec) -> Result<(ServerSpec, Option<KubeVersion>), ClusterError> {
        let spec = if self.in_tree_migration { migrating(spec)? } else { spec };
        let version = spec.version()?;
        Ok((spec, version))
    }
}

/// Returns the server with a control plane that migrates storage by itself, if we configure it.
fn migrating(spec: ServerSpec) -> Result<ServerSpec, ClusterError> {
    let ServerSpec::Local(builder) = spec else { return Ok(spec) };
    let version = builder.version()?;
    // Older controller managers lack these controllers, and would not start.
    if !version.at_least(30) {
        return Ok(ServerSpec::Local(builder));
    }
    let (gates, api) = in_tree::switches(version.minor);
    let mut builder = builder.controllers(in_tree::CONTROLLERS);
    for gate in gates {
        builder = builder.feature_gate(gate, true);
    }
    if let Some(api) = api {
        builder = builder.runtime_config(api, true);
    }
    Ok(ServerSpec::Local(Box::new(builder)))
}

/// Records a release that is left out, with the first line of the reason.
pub(super) fn skipped(release: &str, reason: &str, observer: Observer<'_>) -> Absent {
    let reason = reason.lines().next().unwrap_or_default().to_owned();
    observer(&Event::ServerSkipped { release, reason: &reason });
    Absent { kubernetes: release.to_owned(), reason }
}

impl ServerMatrix {
    /// Fails if no release of a range is left.
    pub(super) fn check(&self, absent: &[Absent]) -> Result<(), RunError> {
        for (range, releases) in &self.ranges {
            let reasons: Vec<Absent> = releases
                .iter()
                .filter_map(|release| absent.iter().find(|one| one.kubernetes == *release).cloned())
                .collect();
            if reasons.len() == releases.len() {
                return Err(RunError::NoRelease { range: range.clone(), reasons });
            }
        }
        Ok(())
    }
}
