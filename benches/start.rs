//! Time from nothing to a served CRD and to a first custom object: ours and envtest's, with the same binaries, in turn.
//! Prints both and their ratio; asserts nothing about time.
//!
//! ```sh
//! cargo bench --bench start            # ten runs of each
//! cargo bench --bench start -- 3       # three
//! ```
//!
//! Without Go, only ours is measured. Every run is a separate process.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crdproof_envtest::api::{PatchKind, Query, Resource};
use crdproof_envtest::binaries::{Sources, Store, resolve};
use crdproof_envtest::local::{Binaries, Local};
use crdproof_envtest::runtime::block_on;
use crdproof_schema::kubernetes::Selector;
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match arguments.as_slice() {
        [word, assets] if word == "once" => {
            println!("{}", block_on(start_once(Path::new(assets)))??);
            Ok(())
        }
        [] => compare(10),
        [runs] => compare(runs.parse()?),
        _ => Err("usage: cargo bench --bench start [-- RUNS]".into()),
    }
}

fn crd() -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    })
}

/// Starts a server once, and measures the time from the beginning.
async fn start_once(assets: &Path) -> Outcome<Value> {
    let begin = Instant::now();
    let server = Local::builder(Binaries::in_folder(assets)).start().await?;
    server.install_crds(&[crd()]).await?;
    let until_served = begin.elapsed().as_secs_f64();
    let widgets = Resource::namespaced("example.com", "v1", "widgets", "default");
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "size": 1});
    let path = Query::new().manager("bench").on(widgets.path_of("a"));
    server.api().patch(&path, PatchKind::Apply, &widget).await?.ok()?;
    let applied = begin.elapsed().as_secs_f64();
    let memory = memory()?;
    let begin = Instant::now();
    drop(server);
    Ok(json!({"served": until_served, "applied": applied, "stopped": begin.elapsed().as_secs_f64(), "memory": memory}))
}

/// The memory of this process in MB.
fn memory() -> Outcome<f64> {
    let said = Command::new("ps").args(["-o", "rss=", "-p", &std::process::id().to_string()]).output()?.stdout;
    Ok(String::from_utf8(said)?.trim().parse::<f64>()? / 1000.0)
}

fn compare(runs: usize) -> Outcome<()> {
    let root = Store::default_root(&|name| std::env::var_os(name)).ok_or("no home folder")?;
    let selector: Selector = "1.36".parse()?;
    let assets = resolve(&Store::open(root)?, &selector, &Sources::default(), &|_| ())?;
    let assets = assets.into_iter().next().ok_or("no release")?;
    let scratch = tempfile::tempdir()?;
    let file = scratch.path().join("crd.json");
    std::fs::write(&file, crd().to_string())?;
    let envtest = build_envtest(scratch.path())?;
    println!("Kubernetes {}, {runs} starts of each in turn", assets.version);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        ours.push(run_and_parse(Command::new(std::env::current_exe()?).arg("once").arg(&assets.folder))?);
        if let Some(program) = &envtest {
            theirs.push(run_and_parse(Command::new(program).arg(&assets.folder).arg(&file))?);
        }
    }
    for (what, key) in [("CRD served", "served"), ("first object", "applied"), ("stop", "stopped")] {
        let (mine, other) = (median(&ours, key), median(&theirs, key));
        match other {
            Some(other) => {
                let mine = mine.unwrap_or_default();
                println!("{what:<14} crdproof {mine:.2} s   envtest {other:.2} s   ratio {:.2}", mine / other);
            }
            None => println!("{what:<14} crdproof {:.2} s   envtest not measured: no Go", mine.unwrap_or_default()),
        }
    }
    println!("memory of our process beside a started server: {:.1} MB", median(&ours, "memory").unwrap_or_default());
    Ok(())
}

/// Builds the envtest program if Go is installed.
fn build_envtest(folder: &Path) -> Outcome<Option<PathBuf>> {
    if Command::new("go").arg("version").output().is_err() {
        return Ok(None);
    }
    let program = folder.join("envtest");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/envtest");
    let status = Command::new("go").arg("build").arg("-o").arg(&program).arg(".").current_dir(source).status()?;
    if status.success() { Ok(Some(program)) } else { Err("the other arm cannot be built".into()) }
}

fn run_and_parse(command: &mut Command) -> Outcome<Value> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn median(runs: &[Value], key: &str) -> Option<f64> {
    let mut all: Vec<f64> = runs.iter().filter_map(|run| run[key].as_f64()).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}
