//! The content of a folder: CRDs, their kustomizations and folders, samples, the manager's source.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crdproof_schema::document::{Node, Sources, parse};

use crate::subject::load::{InputError, Texts};
use crate::subject::{Crd, Sample};

/// Folders with files of others, or with intentionally wrong files.
const NOT_OURS: [&str; 3] = ["vendor", "node_modules", "testdata"];

/// Usual folders of samples.
const SAMPLES: [&str; 4] = ["samples", "sample", "examples", "example"];

/// Folders with objects that may be intentionally wrong.
const TESTS: [&str; 5] = ["test", "tests", "e2e", "hack", "docs"];

/// The usual paths of a manager's main function.
const MAINS: [&str; 2] = ["cmd/main.go", "main.go"];

/// The files that were found below a folder. Paths are relative to it.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The CRDs, by name.
    pub(super) crds: BTreeMap<String, Crd>,
    /// The paths to read them from.
    pub(super) crd_paths: Vec<String>,
    /// A chart whose templates contain CRDs, if nothing else does.
    pub(super) chart: Option<String>,
    /// The paths of samples.
    pub(super) sample_paths: Vec<String>,
    /// Files that are not plain YAML.
    pub(super) unreadable: usize,
    /// The kustomization that installs the CRDs of the first path, with the names in a cluster.
    pub(super) installed_by: Option<String>,
    /// Folders of projects with a `PROJECT` file, and the main package of each, if it exists.
    pub(super) projects: Vec<(PathBuf, Option<PathBuf>)>,
}

/// One readable file.
struct File {
    path: PathBuf,
    documents: Vec<Node>,
}

impl File {
    fn crds(&self) -> impl Iterator<Item = Crd> {
        let whole = |node: &&Node| {
            Crd::is_crd(node) && ["group", "names", "versions"].iter().all(|key| node.at(&["spec", key]).is_some())
        };
        self.documents.iter().filter(whole).filter_map(|node| Crd::read(node.clone()).ok())
    }

    /// Returns true if it contains only CRDs.
    fn is_dedicated(&self) -> bool {
        self.documents.iter().all(Crd::is_crd)
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// Searches a folder.
pub(super) fn look(base: &Path) -> Result<Found, InputError> {
    let mut found = Found::default();
    let (files, templates) = files(base, &mut found)?;
    let chosen = choose(&files, &mut found);
    found.crd_paths.extend(chosen);
    if found.crds.is_empty() {
        let of_chart = |path: &PathBuf| {
            path.ancestors().find(|folder| base.join(folder).join("Chart.yaml").is_file()).map(as_text)
        };
        found.chart = templates.iter().find_map(of_chart);
    }
    found.installed_by = installed_by(&files, &found.crd_paths);
    found.sample_paths = samples(&files, &found.crds);
    found.projects = projects(base, &files);
    Ok(found)
}

/// Reads all files that are plain YAML. Also returns the templates that mention a CRD.
fn files(base: &Path, found: &mut Found) -> Result<(Vec<File>, Vec<PathBuf>), InputError> {
    let (mut files, mut templates) = (Vec::new(), Vec::new());
    for text in Texts::relative_to("").scan(base)? {
        let path = Path::new(&text.name).strip_prefix(base).unwrap_or(Path::new(&text.name)).to_owned();
        if path.components().any(|part| NOT_OURS.iter().any(|name| part.as_os_str() == *name)) {
            continue;
        }
        let is_template = path.ancestors().skip(1).any(|folder| {
            folder.ends_with("templates")
                && folder.parent().is_some_and(|chart| base.join(chart).join("Chart.yaml").is_file())
        });
        let mentions_crd = text.text.contains("CustomResourceDefinition");
        let mut sources = Sources::default();
        let id = sources.add(text.name, text.text);
        match parse(&sources, id) {
            _ if is_template => {
                templates.extend(mentions_crd.then_some(path));
            }
            Ok(documents) => files.push(File { path, documents }),
            Err(_) => found.unreadable += 1,
        }
    }
    Ok((files, templates))
}

/// Chooses the source of each CRD: the kustomization that lists its file, a separate file, a bundle.
fn choose(files: &[File], found: &mut Found) -> Vec<String> {
    let mut paths = Vec::new();
    let by_path: BTreeMap<&Path, &File> = files.iter().map(|file| (file.path.as_path(), file)).collect();
    let mut kustomizations: Vec<(&Path, Vec<&File>)> = files
        .iter()
        .filter(|file| is_kustomization(&file.path))
        .map(|file| {
            (file.folder(), listed(file).into_iter().filter_map(|path| by_path.get(path.as_path()).copied()).collect())
        })
        .collect();
    // Kustomizations above their CRDs come first, then those with most of them.
    let below =
        |(folder, files): &(&Path, Vec<&File>)| files.iter().filter(|file| file.path.starts_with(folder)).count();
    kustomizations.sort_by_key(|entry| (std::cmp::Reverse(below(entry)), entry.0.to_owned()));
    for (folder, listed) in &kustomizations {
        let crds: Vec<Crd> = listed.iter().flat_map(|file| file.crds()).collect();
        if !crds.is_empty() && crds.iter().all(|crd| !found.crds.contains_key(&crd.name)) {
            found.crds.extend(crds.into_iter().map(|crd| (crd.name.clone(), crd)));
            paths.push(as_text(folder));
        }
    }
    let mut rest: Vec<&File> = files.iter().filter(|file| file.crds().next().is_some()).collect();
    rest.sort_by_key(|file| (!file.is_dedicated(), file.path.components().count(), file.path.clone()));
    let mut own: BTreeSet<&Path> = BTreeSet::new();
    for file in rest {
        let crds: Vec<Crd> = file.crds().collect();
        if crds.iter().all(|crd| !found.crds.contains_key(&crd.name)) {
            found.crds.extend(crds.into_iter().map(|crd| (crd.name.clone(), crd)));
            own.insert(&file.path);
        }
    }
    let has_crds = |file: &File| file.crds().next().is_some() || is_kustomization(&file.path);
    paths.extend(folders_or_files(files, &own, has_crds));
    paths
}

/// Names whole folders if all relevant files were chosen, otherwise single files.
fn folders_or_files(files: &[File], chosen: &BTreeSet<&Path>, matters: impl Fn(&File) -> bool) -> Vec<String> {
    let mut paths: BTreeSet<String> = BTreeSet::new();
    for path in chosen {
        let is_whole = |folder: &&Path| {
            let mut inside = files.iter().filter(|file| file.path.starts_with(folder)).filter(|file| matters(file));
            !folder.as_os_str().is_empty() && inside.all(|file| chosen.contains(file.path.as_path()))
        };
        // The highest folder that contains only chosen files, but not above the first fork.
        let folder = path.parent().filter(is_whole);
        paths.insert(folder.map_or_else(|| as_text(path), as_text));
    }
    let nested = |path: &String| paths.iter().any(|other| other != path && Path::new(path).starts_with(other));
    paths.iter().filter(|path| !nested(path)).cloned().collect()
}

/// Chooses samples: objects of the CRDs, from folders for samples if there are any.
fn samples(files: &[File], crds: &BTreeMap<String, Crd>) -> Vec<String> {
    let is_sample = |node: &Node| {
        let sample = Sample::new(node.clone());
        crds.values().any(|crd| sample.is_of(crd))
    };
    let within = |file: &File, names: &[&str]| {
        file.folder().components().any(|part| names.iter().any(|name| part.as_os_str() == *name))
    };
    let all: Vec<&File> = files.iter().filter(|file| file.documents.iter().any(is_sample)).collect();
    let meant: BTreeSet<&Path> =
        all.iter().filter(|file| within(file, &SAMPLES)).map(|file| file.path.as_path()).collect();
    let others = all.iter().filter(|file| !within(file, &TESTS)).map(|file| file.path.as_path());
    let chosen = if meant.is_empty() { others.collect() } else { meant };
    folders_or_files(files, &chosen, |file| {
        !is_kustomization(&file.path) && file.documents.iter().any(|node| is_sample(node) || Crd::is_crd(node))
    })
}

/// The kustomization that contains that of the first path and downloads nothing.
fn installed_by(files: &[File], paths: &[String]) -> Option<String> {
    let inner = PathBuf::from(paths.first()?);
    let outer = files.iter().filter(|file| is_kustomization(&file.path)).find(|file| {
        let listed = listed(file);
        listed.contains(&inner) && !listed.iter().any(|path| path.to_string_lossy().contains("://"))
    });
    outer.map(|file| as_text(file.folder()))
}

/// The files and folders that a kustomization lists under `resources`.
fn listed(file: &File) -> Vec<PathBuf> {
    let items = |key: &'static str| file.documents.iter().filter_map(move |node| node.get(key)).flat_map(Node::items);
    let paths = items("resources").chain(items("bases")).filter_map(Node::as_str);
    paths.map(|path| normal(&file.folder().join(path))).collect()
}

/// Removes `.` and `..` lexically.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}

fn is_kustomization(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "kustomization")
}

/// Projects of kubebuilder and operator-sdk: the folder itself and those that contain a `config`.
fn projects(base: &Path, files: &[File]) -> Vec<(PathBuf, Option<PathBuf>)> {
    let configs = files.iter().flat_map(|file| file.path.ancestors()).filter(|folder| folder.ends_with("config"));
    let folders: BTreeSet<PathBuf> = configs.filter_map(Path::parent).map(Path::to_owned).collect();
    let is_project = |folder: &PathBuf| base.join(folder).join("PROJECT").is_file();
    let main = |folder: &PathBuf| MAINS.iter().map(|main| folder.join(main)).find(|main| base.join(main).is_file());
    let mut projects: Vec<_> = folders.into_iter().map(|folder| (main(&folder), folder)).collect();
    projects.retain(|(main, folder)| main.is_some() || is_project(folder));
    projects.into_iter().map(|(main, folder)| (folder, main)).collect()
}

pub(super) fn as_text(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    if text.is_empty() { ".".to_owned() } else { text }
}
