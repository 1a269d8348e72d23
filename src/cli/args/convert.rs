//! The arguments of `convert` and `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::replay::SecretArgs;
use super::{CommandArgs, SubjectArgs};

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The object: a file, git:REF:PATH, or - for standard input.
    #[arg(value_name = "OBJECT")]
    pub(crate) object: String,
    /// The version to convert to.
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: String,
    #[command(flatten)]
    subject: NamedSubjectArgs,
    #[command(flatten)]
    pub(crate) secrets: SecretArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    subject: NamedSubjectArgs,
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9443")]
    pub(crate) listen: SocketAddr,
    /// A name or address for the generated certificate, besides localhost; repeatable.
    #[arg(long = "name", value_name = "NAME", conflicts_with = "cert")]
    pub(crate) names: Vec<String>,
    /// A certificate in PEM instead of a generated one.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// Its key.
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// The CA that signed it, printed as caBundle [default: the certificate itself].
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) ca: Option<PathBuf>,
}

/// A subject that is named only by flags.
#[derive(Debug, Args)]
pub(crate) struct NamedSubjectArgs {
    /// The subject file [default: crdproof.yaml].
    #[arg(short, long, value_name = "FILE", conflicts_with = "crds")]
    file: Option<PathBuf>,
    /// CRDs instead of a subject file: files or folders; repeatable.
    #[arg(long = "crd", value_name = "SOURCE")]
    crds: Vec<String>,
    #[command(flatten)]
    commands: CommandArgs,
}

impl NamedSubjectArgs {
    pub(crate) fn subject(&self) -> SubjectArgs {
        SubjectArgs { sources: self.crds.clone(), file: self.file.clone(), commands: self.commands }
    }
}

impl ConvertArgs {
    pub(crate) fn subject(&self) -> SubjectArgs {
        self.subject.subject()
    }
}

impl ServeArgs {
    pub(crate) fn subject(&self) -> SubjectArgs {
        self.subject.subject()
    }
}
