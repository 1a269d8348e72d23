//! What can keep us from having an API server.

use std::path::PathBuf;

/// Why there is no API server, or why it could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// A component did not start, or ended while it was needed.
    #[error("{component} {why}")]
    Component {
        /// `etcd`, `kube-apiserver` or `kube-controller-manager`.
        component: &'static str,
        /// What happened.
        why: String,
        /// The last lines of its log.
        log: String,
        /// What to do.
        help: &'static str,
    },
    /// A file or folder of ours could not be made.
    #[error("cannot write {path}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// No free port could be had on the loopback address.
    #[error("no port is free on 127.0.0.1")]
    Port(#[source] std::io::Error),
    /// A process could not be guarded, so it was not started.
    #[error("cannot start a guarded process")]
    Guard(#[source] std::io::Error),
    /// A certificate could not be made.
    #[error("cannot make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// The client could not be set up.
    #[error("cannot set up the client: {0}")]
    Client(String),
    /// A call had no answer within its deadline.
    #[error("{call} had no answer within {seconds} s")]
    Deadline {
        /// Method and path.
        call: String,
        /// The deadline.
        seconds: u64,
    },
    /// A call failed before there was an answer.
    #[error("{call} failed: {why}")]
    Transport {
        /// Method and path.
        call: String,
        /// What the network said.
        why: String,
    },
    /// What answers is no API server.
    #[error("{call} was not answered as Kubernetes does: {said}")]
    NotKubernetes {
        /// Method and path.
        call: String,
        /// What was said instead.
        said: String,
    },
    /// The server refused what must work.
    #[error("{call} was answered {status}: {message}")]
    Refused {
        /// Method and path.
        call: String,
        /// The status code.
        status: u16,
        /// The server's words.
        message: String,
    },
}

impl ClusterError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Component { help, .. } => help,
            Self::File { .. } => "check that the temporary folder exists, can be written to and has space left",
            Self::Port(_) => "end programs that hold many ports, or wait a minute until the kernel frees them",
            Self::Guard(_) => "check that /bin/sh exists and that more processes may be started",
            Self::Certificate(_) | Self::Client(_) => "this is a defect of crdproof; please report it",
            Self::Deadline { .. } | Self::Transport { .. } => "look at the server's log; it may be overloaded or gone",
            Self::NotKubernetes { .. } => "check the address; something else listens there",
            Self::Refused { .. } => "the server's words say what it did not like",
        }
    }
}
