//! Starting a server in one line.

use crate::ClusterError;
use crate::binaries::{BinariesError, Sources, Store};
use crate::local::Local;
use crate::spec::Installer;

/// An error of starting a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The binaries could not be installed.
    #[error(transparent)]
    Install(#[from] BinariesError),
    /// The server did not start.
    #[error(transparent)]
    Start(#[from] ClusterError),
    /// No cache folder is known.
    #[error("no cache folder: neither CRDPROOF_CACHE, XDG_CACHE_HOME nor HOME is set")]
    NoCache,
}

/// Starts a local API server of a release such as `1.36`. Installs its binaries first if they are missing: from
/// `KUBEBUILDER_ASSETS`, the cache, an archive, or a build from Go modules, which takes minutes the first time.
///
/// The server stops when the handle is dropped, and also when this process is killed.
///
/// ```no_run
/// # async fn example() -> Result<(), crdproof_envtest::StartError> {
/// let server = crdproof_envtest::start("1.36").await?;
/// println!("Kubernetes {} at {}", server.version(), server.kubeconfig().display());
/// # Ok(())
/// # }
/// ```
pub async fn start(release: &str) -> Result<Local, StartError> {
    let store = Store::from_environment().ok_or(StartError::NoCache)??;
    let sources = Sources::from_environment();
    let release = release.to_owned();
    let install = move || {
        let installer = Installer { store: &store, sources: &sources, progress: &|_| () };
        installer.install_one(&release)
    };
    // Installing waits for files, networks and compilers, which must not block the runtime.
    let assets = tokio::task::spawn_blocking(install).await;
    let assets = assets.map_err(|error| ClusterError::Runtime(std::io::Error::other(error)))??;
    Ok(Local::builder(assets.into()).start().await?)
}
