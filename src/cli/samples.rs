//! `audit --samples`: writes real objects into a folder, redacted.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::evidence::SampleFile;
use crate::operate::samples::take;
use crate::subject::Crd;
use crate::subject::load::{InputError, Trouble, read_dump};
use anyhow::Result;
use crdproof_envtest::existing::{Access, Existing};
use crdproof_envtest::{ClusterError, runtime};
use crdproof_schema::document::{Sources, parse};
use serde_json::{Value, json};

use super::args::TextFormat;
use super::args::audit::AuditArgs;
use super::console::Console;
use super::exit::Exit;
use super::files;
use super::servers::cluster_error;

/// Takes samples of a cluster, or of a dump if there is no access.
pub(super) fn samples(args: &AuditArgs, folder: &Path, access: Option<&Access>, console: Console) -> Result<Exit> {
    let name = args.crd.as_deref().unwrap_or_default();
    let count = args.count.get();
    let found = match access {
        None => saved(&args.dump, name, count)?,
        Some(access) => {
            let taking = runtime::block_on(async {
                let taking = async { take(Existing::connect(access).await?.api(), name, count).await };
                runtime::unless_interrupted(taking).await.transpose()
            });
            let taken = taking.and_then(|taken: Result<_, ClusterError>| taken).map_err(cluster_error)?;
            let Some(found) = taken else {
                console.say("○ interrupted; nothing was written");
                return Ok(Exit::Incomplete);
            };
            found
        }
    };
    let Some((definition, objects)) = found else {
        let error = InputError::new(Trouble::Wrong, format!("there is no CRD {name:?}"));
        return Err(error.help("name it in full, such as widgets.example.com").into());
    };
    if objects.is_empty() {
        let error = InputError::new(Trouble::Nothing, format!("no objects of {name}"));
        return Err(error.help("nothing was written").into());
    }
    let crd = read(&definition)?;
    let taken =
        (1..).zip(&objects).map(|(number, object)| SampleFile::of(&crd, object, args.anonymous.then_some(number)));
    let taken: Vec<(PathBuf, Value)> = taken.map(|taken| (folder.join(taken.file), taken.object)).collect();
    if let Some((there, _)) = taken.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        let error = InputError::new(Trouble::Wrong, format!("{} exists already", there.display()));
        return Err(error.help("nothing was written; pass a new folder").into());
    }
    files::private_folder(folder)?;
    for (path, object) in &taken {
        write(path, &format!("{}\n", serde_json::to_string_pretty(object)?))
            .map_err(|error| files::cannot("write", path, &error))?;
    }
    let paths: Vec<String> = taken.iter().map(|(path, _)| path.display().to_string()).collect();
    console.print(&match args.format {
        TextFormat::Text => paths.iter().map(|path| format!("{path}\n")).collect(),
        TextFormat::Json => format!("{}\n", serde_json::to_string_pretty(&json!({"samples": paths}))?),
    })?;
    console.say(&format!("✔ {} samples of {name}; values that look secret are redacted, review the rest", paths.len()));
    Ok(Exit::Success)
}

fn saved(dump: &[String], name: &str, count: usize) -> Result<Option<(Value, Vec<Value>)>> {
    let objects = read_dump(dump)?;
    let is_it = |object: &&Value| object["kind"] == "CustomResourceDefinition" && object["metadata"]["name"] == name;
    let Some(definition) = objects.iter().find(is_it).cloned() else { return Ok(None) };
    let (group, kind) = (&definition["spec"]["group"], &definition["spec"]["names"]["kind"]);
    let of_kind = |object: &&Value| {
        let stated = object["apiVersion"].as_str().and_then(|text| Some(text.split_once('/')?.0));
        stated.is_some() && stated == group.as_str() && object["kind"] == *kind
    };
    let taken = objects.iter().filter(of_kind).take(count).cloned().collect();
    Ok(Some((definition, taken)))
}

/// Reads the CRD with its schemas, which tell what is secret.
fn read(definition: &Value) -> Result<Crd> {
    let mut sources = Sources::default();
    let id = sources.add("the CRD", definition.to_string());
    let wrong = |why: String| InputError::new(Trouble::Wrong, format!("the CRD cannot be read: {why}"));
    let document = parse(&sources, id).map_err(|error| wrong(error.message))?.into_iter().next();
    let document = document.ok_or_else(|| wrong("it is empty".into()))?;
    Ok(Crd::read(document).map_err(|error| wrong(error.message))?)
}

/// Creates a file that only its owner can read; keeps an existing one.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}
