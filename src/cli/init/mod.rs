//! `init`: writes a subject file for the content of a folder.

mod ask;
mod find;
mod text;

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use serde_json::json;

use self::find::Found;
use self::text::Proposal;
use super::args::TextFormat;
use super::args::init::InitArgs;
use super::console::Console;
use super::exit::Exit;
use super::files::{self, For};
use crate::run::{self as engine, Selection, ServerMatrix, Settings};
use crate::subject::load::{self, InputError, Manifests, Texts, Trouble, read_manifests};
use crate::subject::{Crd, CrdInputs, Subject};
use crdproof_schema::document::Sources;

/// Writes a subject file for the CRDs found below a folder.
pub(crate) fn init(args: &InitArgs, console: Console) -> Result<Exit> {
    let file = args.folder.join("crdproof.yaml");
    if file.exists() && !args.force && !args.stdout {
        let error = InputError::new(Trouble::Wrong, format!("{} exists already", file.display()));
        return Err(error.help("edit it, or overwrite it with --force").into());
    }
    let mut found = find::look(&args.folder)?;
    if found.crds.is_empty() && !found.chart.as_ref().is_some_and(|_| has_helm()) {
        return Err(nothing(&args.folder, &found).into());
    }
    let read = read(&args.folder, &mut found)?;
    let names: Vec<_> = read.crds.iter().map(|crd| crd.name.as_str()).collect();
    let proposals = text::proposals(&args.folder, &found, &read.crds, &installed(&args.folder, &found));
    let mut chosen = None;
    if ask::is_possible(args) {
        print_found(console, &found, &read, &names, true);
        if !ask::confirm(console, &format!("write {} for them?", file.display())) {
            console.say("○ nothing was written");
            return Ok(Exit::Success);
        }
        chosen = choose(console, &proposals);
    }
    let text = text::subject_file(&args.folder, &found, &read.crds, &proposals, chosen);
    if args.stdout {
        console.print(&text)?;
    } else {
        files::write(&file, &text, For::All)?;
    }
    // The file must be usable before the user is told to use it.
    let planned = if args.stdout { None } else { Some(plan(&load::from_file(&file)?)?) };
    match args.format {
        TextFormat::Json if !args.stdout => {
            let answer = json!({
                "file": file, "crds": names, "paths": found.crd_paths, "samples": found.sample_paths,
                "unreadable": found.unreadable, "checks": planned,
            });
            console.print(&format!("{answer:#}\n"))?;
        }
        _ if ask::is_possible(args) => {}
        _ => print_found(console, &found, &read, &names, false),
    }
    if let (Some(planned), TextFormat::Text) = (planned, args.format) {
        console.say(&format!("✔ plan: {planned} checks of suite quick"));
        console.say(&format!("► wrote {}; next: crdproof run -f {0}", file.display()));
    }
    Ok(Exit::Success)
}

/// Lets the user choose the webhook's address; `None` to decide later.
fn choose(console: Console, proposals: &[Proposal]) -> Option<usize> {
    if proposals.is_empty() {
        return None;
    }
    for (number, proposal) in (1..).zip(proposals) {
        console.say(&format!("  {number}:"));
        proposal.yaml.lines().for_each(|line| console.say(&format!("    {line}")));
    }
    let later = "none of them: conversion is not tested, and the proposals are written as comments";
    let options: Vec<&str> = proposals.iter().map(|proposal| proposal.title).chain([later]).collect();
    let chosen = ask::choose(console, "which webhook converts in a run?", &options);
    (chosen < proposals.len()).then_some(chosen)
}

fn print_found(console: Console, found: &Found, read: &Manifests, names: &[&str], asks: bool) {
    let s = if names.len() == 1 { "" } else { "s" };
    console.say(&format!("✔ found {} CRD{s}: {}", names.len(), names.join(", ")));
    if asks && !found.crd_paths.is_empty() {
        console.say(&format!("  in {}", found.crd_paths.join(", ")));
    }
    if asks && !found.sample_paths.is_empty() {
        console.say(&format!("✔ found samples in {}", found.sample_paths.join(", ")));
    }
    if found.unreadable > 0 {
        console.say(&format!("○ {} files are not plain YAML (templates?) and were passed over", found.unreadable));
    }
    for what in &read.not_applied {
        console.say(&format!("○ {what}"));
    }
    let webhooks = read.crds.iter().filter(|crd| crd.conversion.strategy == "Webhook").count();
    if webhooks > 0 && !asks {
        console.say(&format!(
            "○ {webhooks} converted by a webhook: complete `converter` in the file, or conversion is not tested"
        ));
    }
}

/// Reads the CRDs as the subject file will name them. If paths contain the same CRD twice, leaves out the later ones.
fn read(base: &Path, found: &mut Found) -> Result<Manifests, InputError> {
    let texts = Texts::relative_to(base);
    if let Some(chart) = found.chart.as_ref().filter(|_| found.crds.is_empty()) {
        let command = ["helm", "template", "--include-crds", chart].map(str::to_owned).to_vec();
        let inputs = CrdInputs { command, ..CrdInputs::default() };
        return read_manifests(&mut Sources::default(), &texts, &inputs);
    }
    let mut manifests = Manifests::default();
    let mut kept = Vec::new();
    for path in std::mem::take(&mut found.crd_paths) {
        let inputs = CrdInputs { paths: vec![path.clone()], ..CrdInputs::default() };
        let read = read_manifests(&mut Sources::default(), &texts, &inputs)?;
        if read.crds.iter().all(|crd| manifests.crds.iter().all(|known| known.name != crd.name)) {
            manifests.crds.extend(read.crds);
            manifests.not_applied.extend(read.not_applied);
            kept.push(path);
        }
    }
    found.crd_paths = kept;
    Ok(manifests)
}

/// Reads the CRDs with the names of their webhooks in a cluster, if a kustomization has them.
fn installed(base: &Path, found: &Found) -> Vec<Crd> {
    let inputs = CrdInputs { paths: found.installed_by.iter().cloned().collect(), ..CrdInputs::default() };
    // It only improves the proposal, so its errors do not matter.
    let read = read_manifests(&mut Sources::default(), &Texts::relative_to(base), &inputs);
    read.map(|read| read.crds).unwrap_or_default()
}

/// Plans the quick suite and returns the number of its checks.
fn plan(subject: &Subject) -> Result<usize> {
    let selection = Selection::named(&["quick".to_owned()], &[], &[], subject)?;
    let settings = Settings { selection, seed: 1, ..Settings::default() };
    Ok(engine::plan(subject, &settings, &ServerMatrix::default()).planned.len())
}

fn nothing(folder: &Path, found: &Found) -> InputError {
    let error = InputError::new(Trouble::Nothing, format!("no CRD was found below {}", folder.display()));
    match &found.chart {
        Some(chart) => error
            .help(format!("the templates of the chart {chart} have CRDs: install helm and run `crdproof init` again")),
        None if folder.join("PROJECT").is_file() => {
            error.help("generate the CRDs of this project first: run `make manifests`, then `crdproof init` again")
        }
        None => error.help(
            "pass the folder that contains your CRDs: `crdproof init FOLDER`; templates must be rendered first, such as with \
             `helm template --include-crds CHART > crds.yaml`",
        ),
    }
}

fn has_helm() -> bool {
    let version = Command::new("helm").arg("version").stdin(Stdio::null()).output();
    version.is_ok_and(|output| output.status.success())
}
