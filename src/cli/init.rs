//! `init`: a commented subject file to start from.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::subject::load::{InputError, Texts, Trouble};
use crate::subject::{Crd, Sample};
use anyhow::Result;
use crdproof_schema::document::{Sources, parse};
use serde_json::json;

use super::args::{InitArgs, TextFormat};
use super::console::Console;
use super::exit::Exit;
use super::files::{self, For};

/// What lies in a folder.
#[derive(Debug, Default)]
struct Inventory {
    crds: Vec<Crd>,
    crd_folders: BTreeSet<String>,
    sample_folders: BTreeSet<String>,
    unreadable: usize,
}

/// Writes a subject file for the CRDs found below a folder.
pub(crate) fn init(args: &InitArgs, console: Console) -> Result<Exit> {
    let file = args.folder.join("crdproof.yaml");
    if file.exists() && !args.force && !args.stdout {
        let error = InputError::new(Trouble::Wrong, format!("{} exists already", file.display()));
        return Err(error.help("edit it, or write it anew with --force").into());
    }
    let inventory = take(&args.folder)?;
    if inventory.crds.is_empty() {
        let error = InputError::new(Trouble::Nothing, format!("no CRD was found below {}", args.folder.display()));
        return Err(error.help("run it in the folder that holds your CRDs; rendered manifests, not templates").into());
    }
    let text = subject_file(&inventory);
    if args.stdout {
        console.print(&text)?;
    } else {
        files::write(&file, &text, For::All)?;
    }
    let names: Vec<_> = inventory.crds.iter().map(|crd| crd.name.as_str()).collect();
    match args.format {
        TextFormat::Json if !args.stdout => {
            let answer = json!({"file": file, "crds": names, "unreadable": inventory.unreadable});
            console.print(&format!("{answer:#}\n"))?;
        }
        _ => {
            console.say(&format!("✔ found {} CRDs: {}", names.len(), names.join(", ")));
            if inventory.unreadable > 0 {
                console.say(&format!(
                    "○ {} files are no plain YAML (templates?) and were passed over",
                    inventory.unreadable
                ));
            }
            if !args.stdout {
                console.say(&format!("► wrote {}; next: crdproof run -f {0}", file.display()));
            }
        }
    }
    Ok(Exit::Success)
}

/// Looks at every manifest; files that are no plain YAML, such as chart templates, are counted.
fn take(folder: &Path) -> Result<Inventory> {
    let mut inventory = Inventory::default();
    let mut others = Vec::new();
    for text in Texts::relative_to("").scan(folder)? {
        let mut sources = Sources::default();
        let id = sources.add(text.name.clone(), text.text);
        let Ok(documents) = parse(&sources, id) else {
            inventory.unreadable += 1;
            continue;
        };
        let place = relative(Path::new(&text.name), folder);
        for document in documents {
            if Crd::is_crd(&document) {
                if let Ok(crd) = Crd::read(document) {
                    inventory.crd_folders.insert(place.clone());
                    inventory.crds.push(crd);
                }
            } else {
                others.push((Sample::new(document), place.clone()));
            }
        }
    }
    inventory.crds.sort_by(|left, right| left.name.cmp(&right.name));
    inventory.crds.dedup_by(|left, right| left.name == right.name);
    for (sample, place) in others {
        if inventory.crds.iter().any(|crd| sample.is_of(crd)) {
            inventory.sample_folders.insert(place);
        }
    }
    Ok(inventory)
}

/// The folder of a file as seen from the subject file; the file itself where it lies beside it.
fn relative(file: &Path, base: &Path) -> String {
    let below = file.strip_prefix(base).unwrap_or(file);
    let parent = below.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.map_or_else(|| below.to_owned(), PathBuf::from).to_string_lossy().replace('\\', "/")
}

fn subject_file(inventory: &Inventory) -> String {
    let list = |folders: &BTreeSet<String>| {
        let quoted: Vec<_> =
            folders.iter().map(|folder| serde_json::Value::from(folder.as_str()).to_string()).collect();
        quoted.join(", ")
    };
    let mut text = format!(
        "# What is under test. All keys: `crdproof schema subject`.\n\
         apiVersion: crdproof/v1alpha1\nkind: Subject\nmetadata: {{name: {name}}}\n\n\
         # Files, directories, multi-document YAML; or `command: [kustomize, build, config/crd]`.\n\
         crds:\n  paths: [{paths}]\n  minimumCount: {count}   # an empty render must not pass\n\n",
        name = inventory.crds.first().map_or("subject", |crd| crd.names.plural.as_str()),
        paths = list(&inventory.crd_folders),
        count = inventory.crds.len(),
    );
    if inventory.sample_folders.is_empty() {
        text.push_str("# Objects that must be valid and survive conversion.\n# samples: [config/samples]\n\n");
    } else {
        text.push_str(&format!(
            "# Objects that must be valid and survive conversion.\nsamples: [{}]\n\n",
            list(&inventory.sample_folders)
        ));
    }
    text.push_str(
        "# The state that users have, to compare with.\n# baseline: {git: v1.0.0, paths: [config/crd]}\n\n\
         # The lowest Kubernetes release that you claim to support.\n# kubernetes: {minimum: \"1.31\"}\n\n",
    );
    if inventory.crds.iter().any(|crd| crd.conversion.strategy == "Webhook") {
        text.push_str(
            "# How versions relate. What one version lacks is stashed in an annotation, or declared lost with a date.\n\
             # converter: {fieldMap: {}}\n# fieldMaps:\n# - crd: ",
        );
        text.push_str(
            inventory.crds.iter().find(|crd| crd.conversion.strategy == "Webhook").map_or("", |crd| &crd.name),
        );
        text.push_str("\n#   between: [v1, v2]\n#   stash: [{from: v2, to: v1, path: .spec.field, annotation: example.com/field}]\n\n");
    }
    text.push_str(
        "# Accepted findings, each with a reason and an end.\n\
         # waivers: [{check: manifest/size-applicable, reason: \"installed by server-side apply\", expires: 2027-12-31}]\n",
    );
    text
}
