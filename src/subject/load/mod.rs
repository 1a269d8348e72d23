//! Reading a subject: files, directories, standard input, commands and git. Everything that can be wrong with an input
//! is an [`InputError`] with a location and a remedy.

mod command;
mod conversion;
mod dump;
mod error;
mod field_maps;
mod kustomize;
mod manifests;
mod parallel;
mod subject;
mod texts;
mod tree;

pub use command::Commands;
pub use dump::read_dump;
pub use error::{InputError, Trouble};
pub use manifests::{Manifests, read_manifests};
pub use subject::{compare, decide, from_file, from_file_with, from_paths, from_paths_with, from_texts};
pub use texts::{Text, Texts};
