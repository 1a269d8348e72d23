//! Compares our manifest checks with a real API server: `scripts/plant-defects`.
//!
//! Plants every kind of defect of `fixtures/defects` into some CRDs of a folder. A local API server gets each as a dry
//! run; its refusal, its warnings, or its silence are compared with our findings.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

mod ours;
mod plant;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crdproof::subject::Crd;
use crdproof_envtest::api::Api;
use crdproof_envtest::binaries::Store;
use crdproof_envtest::local::{Binaries, Local};
use crdproof_schema::document::{Sources, parse};
use serde_json::{Value, json};

use ours::{Answer, Outcomes, Verdict, verdict};
use plant::Defect;

type Failure = Box<dyn std::error::Error>;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Warn";

/// The arguments of the command line.
struct Arguments {
    /// A folder of CRDs; without one the defects are planted into `fixtures/defects/base.yaml`.
    folder: Option<PathBuf>,
    kubernetes: String,
    /// Number of CRDs that each defect is planted into.
    each: usize,
    /// Defects whose name contains this.
    only: String,
    /// The file for the server's responses.
    record: Option<PathBuf>,
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments =
        Arguments { folder: None, kubernetes: "1.36".into(), each: 3, only: String::new(), record: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--kubernetes" => arguments.kubernetes = next()?,
            "--each" => arguments.each = next()?.parse().map_err(|_| "--each needs a number".to_owned())?,
            "--only" => arguments.only = next()?,
            "--record" => arguments.record = Some(next()?.into()),
            folder => arguments.folder = Some(folder.into()),
        }
    }
    Ok(arguments)
}

fn main() -> Result<ExitCode, Failure> {
    let arguments = arguments()?;
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/defects");
    let defects = defects(&fixtures, &arguments.only)?;
    let crds = match &arguments.folder {
        Some(folder) => crds(folder)?,
        None => documents(&fixtures.join("base.yaml"))?,
    };
    if crds.is_empty() || defects.is_empty() {
        return Err("there is no CRD, or no defect of that name".into());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let server = Local::builder(binaries(&arguments.kubernetes)?).start().await?;
        let mut table = Table::default();
        compare_all(&server.api(), &defects, &crds, arguments.each, &mut table).await?;
        table.print();
        if let Some(file) = &arguments.record {
            let kubernetes = server.version().to_string();
            std::fs::write(file, table.recorded(&kubernetes)?)?;
        }
        Ok(if table.rows.iter().any(|row| row.outcome.is_wrong()) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    })
}

/// Plants each defect into some CRDs, different ones for each defect, and compares.
async fn compare_all(
    api: &Api,
    defects: &[Defect],
    crds: &[Value],
    each: usize,
    table: &mut Table,
) -> Result<(), Failure> {
    let mut before: BTreeMap<usize, Option<(Verdict, Vec<String>)>> = BTreeMap::new();
    for (number, defect) in defects.iter().enumerate() {
        let mut planted = 0;
        for turn in 0..crds.len() {
            // A step that shares no divisor with most counts reaches all CRDs.
            let index = (number * 31 + turn * 37) % crds.len();
            if planted == each.min(crds.len()) {
                break;
            }
            if let std::collections::btree_map::Entry::Vacant(entry) = before.entry(index) {
                // A CRD that the server refuses without the defect shows nothing.
                let answer = api.post(CRDS, &crds[index]).await?;
                entry.insert(answer.is_success().then(|| (verdict(&crds[index]), answer.warnings())));
            }
            let Some(Some((own, own_warnings))) = before.get(&index) else { continue };
            let Some(crd) = defect.plant(&crds[index]) else { continue };
            let answer = api.post(CRDS, &crd).await?;
            let mut warnings = answer.warnings();
            warnings.retain(|warning| !own_warnings.contains(warning));
            let ours = verdict(&crd);
            let seen = Answer { refused: !answer.is_success(), warned: !warnings.is_empty() };
            planted += 1;
            table.rows.push(Row {
                defect: format!("{}: {}", defect.theme, defect.name),
                crd: crds[index]["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
                outcome: ours.compare(Some(own), &seen, defect),
                server: if seen.refused { answer.message() } else { warnings.join("; ") },
                seen,
                ours: ours.summary(),
            });
        }
        if planted == 0 {
            eprintln!("{}: {} fits into no CRD", defect.theme, defect.name);
        }
    }
    Ok(())
}

struct Row {
    defect: String,
    crd: String,
    outcome: Outcomes,
    server: String,
    seen: Answer,
    ours: String,
}

#[derive(Default)]
struct Table {
    rows: Vec<Row>,
}

impl Table {
    fn print(&self) {
        for row in &self.rows {
            let Row { defect, crd, outcome, seen, .. } = row;
            let word = if seen.refused {
                "refused"
            } else if seen.warned {
                "warned"
            } else {
                "accepted"
            };
            println!("{:<16} {word:<9} {defect} in {crd}", format!("{outcome:?}"));
            if outcome.is_wrong() {
                let end: String = row.server.chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect();
                println!("    server: {end}\n    ours:   {}", row.ours);
            }
        }
        let kinds: std::collections::BTreeSet<&str> = self.rows.iter().map(|row| row.defect.as_str()).collect();
        println!("{} kinds of defects, {} planted", kinds.len(), self.rows.len());
        let mut counts: BTreeMap<Outcomes, usize> = BTreeMap::new();
        self.rows.iter().for_each(|row| *counts.entry(row.outcome).or_default() += 1);
        for (outcome, count) in counts {
            println!("{:<16} {count}", format!("{outcome:?}"));
        }
    }

    /// The server's responses, for the test that compares ours with them.
    fn recorded(&self, kubernetes: &str) -> Result<String, Failure> {
        let lines: Result<Vec<_>, _> = self
            .rows
            .iter()
            .map(|row| {
                let Answer { refused, warned } = row.seen;
                serde_json::to_string(&json!({"defect": row.defect, "refused": refused, "warned": warned}))
            })
            .collect();
        Ok(format!("{{\"kubernetes\": \"{kubernetes}\", \"answers\": [\n{}\n]}}\n", lines?.join(",\n")))
    }
}

fn documents(file: &Path) -> Result<Vec<Value>, Failure> {
    let mut sources = Sources::default();
    let id = sources.add(file.display().to_string(), std::fs::read_to_string(file)?);
    let nodes = parse(&sources, id).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(nodes.iter().map(crdproof_schema::document::Node::to_value).collect())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml" || ending == "json"));
    files.sort();
    Ok(files)
}

fn defects(folder: &Path, only: &str) -> Result<Vec<Defect>, Failure> {
    let mut all = Vec::new();
    for file in files(folder)? {
        let theme = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for document in documents(&file)? {
            all.extend(plant::read(&theme, &document));
        }
    }
    all.retain(|defect| defect.name.contains(only));
    Ok(all)
}

fn crds(folder: &Path) -> Result<Vec<Value>, Failure> {
    let mut all = Vec::new();
    for file in files(folder)? {
        let mut sources = Sources::default();
        let id = sources.add(file.display().to_string(), std::fs::read_to_string(&file)?);
        let Ok(nodes) = parse(&sources, id) else { continue };
        all.extend(nodes.iter().filter(|node| Crd::is_crd(node)).map(crdproof_schema::document::Node::to_value));
    }
    Ok(all)
}

/// The newest installed build of a release.
fn binaries(release: &str) -> Result<Binaries, String> {
    let env = |name: &str| std::env::var_os(name);
    let store = Store::default_root(&env).and_then(|root| Store::open(root).ok()).ok_or("there is no cache")?;
    let mut fitting = store.entries().into_iter().filter(|entry| {
        let version = entry.manifest.kubernetes.map(|version| version.to_string()).unwrap_or_default();
        version == release || version.starts_with(&format!("{release}."))
    });
    let entry =
        fitting.next_back().ok_or(format!("{release} is not installed; `crdproof env use {release}` builds it"))?;
    Ok(Binaries::in_folder(entry.folder))
}
