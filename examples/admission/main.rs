//! Compares generated objects with the verdict of a real API server: `scripts/admission`.
//!
//! Installs every CRD of a folder on a local control plane, with conversion set to None. Creates objects of every
//! served version as dry runs with strict field validation, and judges status by dry runs on one real object. The
//! server must refuse invalid objects for the intended reason. Our own validator must agree on every object.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

mod corpus;
mod table;
mod trial;

use std::path::PathBuf;
use std::time::Instant;

use crdproof_envtest::binaries::Store;
use crdproof_envtest::local::{Binaries, Local};
use serde_json::json;

use table::Table;

/// CRDs on the server at the same time.
const WAVE: usize = 24;

/// The arguments of the command line.
pub(crate) struct Arguments {
    folder: PathBuf,
    kubernetes: String,
    only: String,
    /// Objects of each version.
    objects: usize,
    /// Maximum number of invalid objects of each version.
    negative: usize,
    offline: bool,
    seed: u64,
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments = Arguments {
        folder: PathBuf::new(),
        kubernetes: "1.36".to_owned(),
        only: String::new(),
        objects: 200,
        negative: 100,
        offline: false,
        seed: 1,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text} is not a number"));
        match word.as_str() {
            "--kubernetes" => arguments.kubernetes = next()?,
            "--only" => arguments.only = next()?,
            "--objects" => arguments.objects = number(next()?)?,
            "--negative" => arguments.negative = number(next()?)?,
            "--seed" => arguments.seed = number(next()?)? as u64,
            "--offline" => arguments.offline = true,
            folder => arguments.folder = PathBuf::from(folder),
        }
    }
    if arguments.folder.as_os_str().is_empty() {
        return Err("usage: admission FOLDER [--kubernetes 1.36] [--only TEXT] [--objects N] [--negative N] [--seed N] [--offline]".into());
    }
    Ok(arguments)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments()?;
    let crds = corpus::load(&arguments.folder, &arguments.only)?;
    if crds.is_empty() {
        return Err(
            format!("{} has no CRD whose name contains {:?}", arguments.folder.display(), arguments.only).into()
        );
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let started = Instant::now();
    let mut table = Table::default();
    if arguments.offline {
        for crd in &crds {
            trial::offline(crd, &arguments, &mut table);
        }
    } else {
        runtime.block_on(async {
            let server = Local::builder(binaries(&arguments.kubernetes)?).start().await?;
            for wave in crds.chunks(WAVE) {
                trial::wave(&server, wave, &arguments, &mut table).await?;
                eprintln!("{:>6.0} s  {} CRDs", started.elapsed().as_secs_f64(), table.crds.len());
            }
            Ok::<_, Box<dyn std::error::Error>>(())
        })?;
    }
    table.print();
    Ok(())
}

/// The newest build of an installed release.
fn binaries(release: &str) -> Result<Binaries, String> {
    let env = |name: &str| std::env::var_os(name);
    let store = Store::default_root(&env).and_then(|root| Store::open(root).ok()).ok_or("there is no cache")?;
    let entries = store.entries().into_iter();
    let mut fitting = entries.filter(|entry| {
        let version = entry.manifest.kubernetes.map(|version| version.to_string()).unwrap_or_default();
        version == release || version.starts_with(&format!("{release}."))
    });
    let entry =
        fitting.next_back().ok_or(format!("{release} is not available; `crdproof env use {release}` builds it"))?;
    Ok(Binaries::in_folder(entry.folder))
}

/// The namespace of namespaced objects.
pub(crate) fn namespace() -> serde_json::Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
}
