//! Errors of API servers.

use std::path::PathBuf;

/// An error of starting or calling an API server.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// A component did not start, or ended too early.
    #[error("{component} {why}")]
    Component {
        /// `etcd`, `kube-apiserver` or `kube-controller-manager`.
        component: &'static str,
        /// The event.
        why: String,
        /// The last lines of its log.
        log: String,
        /// The remedy.
        help: &'static str,
    },
    /// The server has no such kind.
    #[error("the server does not have the kind {kind} of {api_version}")]
    UnknownKind {
        /// The kind.
        kind: String,
        /// Its group and version.
        api_version: String,
    },
    /// A file or folder could not be created.
    #[error("cannot write {path}")]
    File {
        /// The path.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// No port of the loopback address is free.
    #[error("no port is free on 127.0.0.1")]
    Port(#[source] std::io::Error),
    /// The runtime could not start its threads.
    #[error("cannot start a runtime")]
    Runtime(#[source] std::io::Error),
    /// A listener could not be opened.
    #[error("cannot listen on {address}: {why}")]
    Listen {
        /// The address.
        address: String,
        /// The cause.
        why: String,
    },
    /// A process could not be guarded, so it was not started.
    #[error("cannot start a guarded process")]
    Guard(#[source] std::io::Error),
    /// A certificate could not be generated.
    #[error("cannot make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// The client could not be created.
    #[error("cannot set up the client: {0}")]
    Client(String),
    /// A call had no response within its deadline.
    #[error("{call} had no answer within {seconds} s")]
    Deadline {
        /// Method and path.
        call: String,
        /// The deadline.
        seconds: u64,
    },
    /// A call failed before its response.
    #[error("{call} failed: {why}")]
    Transport {
        /// Method and path.
        call: String,
        /// The error of the network.
        why: String,
    },
    /// Something that a provider needs is missing.
    #[error("{what} is missing: {why}")]
    Missing {
        /// The missing thing.
        what: String,
        /// The symptom.
        why: String,
        /// The remedy.
        help: String,
    },
    /// A provider could not start its server.
    #[error("{provider}: {why}")]
    Provider {
        /// `k3s` or `kind`.
        provider: &'static str,
        /// The event.
        why: String,
        /// The last lines of its log.
        log: String,
    },
    /// A kubeconfig cannot be used.
    #[error("{path}: {why}")]
    Kubeconfig {
        /// The path.
        path: String,
        /// The cause.
        why: String,
    },
    /// The user is not allowed to do this, or not authenticated.
    #[error("{why}")]
    NotAllowed {
        /// The cause.
        why: String,
        /// The remedy.
        help: String,
    },
    /// An object of this name exists, and was not created by us.
    #[error("{what} exists already and will not be touched")]
    Exists {
        /// Its path.
        what: String,
    },
    /// Something that we created could not be removed.
    #[error("left behind: {}", .what.join(", "))]
    Left {
        /// Paths, each with a reason.
        what: Vec<String>,
        /// The run that created it.
        run: String,
    },
    /// Something failed, and then something that we made could not be removed.
    #[error("{}; then, {left}", crate::api::error_chain(.reason.as_ref()))]
    FailedAndLeft {
        /// The reason of the failure.
        reason: Box<ClusterError>,
        /// Names what is left.
        left: Box<ClusterError>,
    },
    /// The server is not an API server.
    #[error("{call}: the response is not that of a Kubernetes API server: {said}")]
    NotKubernetes {
        /// Method and path.
        call: String,
        /// Its response.
        said: String,
    },
    /// The server refused a request that must succeed.
    #[error("{call} was answered {status}: {message}")]
    Refused {
        /// Method and path.
        call: String,
        /// The status code.
        status: u16,
        /// The server's message.
        message: String,
    },
}

impl ClusterError {
    /// The end of a log with details, if there is one.
    pub fn log(&self) -> Option<&str> {
        match self {
            Self::Component { log, .. } | Self::Provider { log, .. } => Some(log).filter(|log| !log.is_empty()),
            Self::FailedAndLeft { reason, .. } => return reason.log(),
            _ => None,
        }
        .map(String::as_str)
    }

    /// Returns the remedy.
    pub fn help(&self) -> &str {
        match self {
            Self::Component { help, .. } => help,
            Self::Missing { help, .. } | Self::NotAllowed { help, .. } => help,
            Self::Provider { .. } => "its log says why",
            Self::Kubeconfig { .. } => "check --kubeconfig and --context; `kubectl config get-contexts` lists contexts",
            Self::Exists { .. } => "take a cluster without it, or the provider `local`",
            Self::FailedAndLeft { reason, .. } => reason.help(),
            Self::Left { .. } => "`crdproof env sweep` with the same --kubeconfig and --context tries again",
            Self::File { .. } => "check that the temporary folder exists, can be written to and has space left",
            Self::UnknownKind { .. } => "add the CRD of the kind, or check apiVersion and kind",
            Self::Port(_) => "end programs that hold many ports, or wait a minute until the kernel frees them",
            Self::Listen { .. } => "check that the address is one of this machine's",
            Self::Guard(_) => "check that /bin/sh exists and that more processes may be started",
            Self::Runtime(_) => "check that more threads may be started",
            Self::Certificate(_) | Self::Client(_) => "this is a defect of crdproof; please report it",
            Self::Deadline { .. } => "look at the server's log; it may be overloaded",
            Self::Transport { .. } => "check that the server runs and that its address is right",
            Self::NotKubernetes { .. } => "check the address; something else listens there",
            Self::Refused { .. } => {
                "correct what the server's message names, and check that you may do this (`kubectl auth can-i`)"
            }
        }
    }
}
