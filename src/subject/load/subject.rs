//! Loading subjects from a subject file, from bare paths, and from texts.

use std::path::Path;

use super::{Commands, InputError, Manifests, Text, Texts, Trouble, read_manifests};
use super::{field_maps, manifests};
use crate::subject::{
    ACCEPTED_FILE, API_VERSION, Accepted, Baseline, Crd, CrdInputs, Sample, Subject, SubjectFile, apply_hints,
};
use crdproof_schema::document::{Node, Sources, Span, decode, parse};

/// Loads the subject that a subject file describes. Paths in it are relative to it.
pub fn from_file(path: &Path) -> Result<Subject, InputError> {
    from_file_with(path, Commands::Allowed)
}

/// Loads the subject that a subject file describes, and runs only the permitted commands.
pub fn from_file_with(path: &Path, commands: Commands) -> Result<Subject, InputError> {
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    let mut sources = Sources::default();
    let text = Texts::relative_to("").read(&path.display().to_string())?.into_iter().next();
    let Some(Text { name, text }) = text else {
        return Err(InputError::new(Trouble::Wrong, format!("{} is not a subject file", path.display())));
    };
    let (file, document) = read_file(&mut sources, name, text)?;
    if let (Some(pointer), Some(why)) = (commands.refused(&file), commands.why_not()) {
        let key = pointer.trim_start_matches('/').replace('/', ".");
        let error = InputError::at(&sources, document.nearest(pointer).span, format!("{key} is not run: {why}"));
        return Err(error.help("name CRDs as SOURCE instead of the file, or read the command and allow it"));
    }
    let mut subject = load(sources, file, Some(document), &Texts::relative_to(folder).with(commands))?;
    subject.arguments = Some(vec!["-f".into(), path.display().to_string()]);
    subject.accepted = read_accepted(&mut subject.sources, &path.with_file_name(ACCEPTED_FILE))?;
    Ok(subject)
}

/// Loads bare CRD paths as a subject without a file.
pub fn from_paths(paths: Vec<String>) -> Result<Subject, InputError> {
    from_paths_with(paths, Commands::Allowed)
}

/// Loads bare CRD paths, and runs only the permitted commands.
pub fn from_paths_with(paths: Vec<String>, commands: Commands) -> Result<Subject, InputError> {
    let file = SubjectFile::for_paths(paths.clone());
    let subject = load(Sources::default(), file, None, &Texts::relative_to("").with(commands))?;
    Ok(Subject { arguments: Some(paths), ..subject })
}

/// Loads a subject from texts, without touching the file system: CRDs, samples and an earlier state. Useful in tests of
/// operators.
pub fn from_texts(crds: Vec<Text>, samples: Vec<Text>, baseline: Option<Vec<Text>>) -> Result<Subject, InputError> {
    let mut sources = Sources::default();
    let manifests = manifests::from_texts(&mut sources, crds)?;
    let samples = manifests::from_texts(&mut sources, samples)?;
    let baseline = baseline.map(|texts| manifests::from_texts(&mut sources, texts)).transpose()?;
    let samples = samples.others.into_iter().map(Sample::new).collect();
    assemble(sources, SubjectFile::for_paths(Vec::new()), None, manifests, [samples, Vec::new()], baseline)
}

/// Loads two states of CRDs for a comparison.
pub fn compare(old: &str, new: &str, commands: Commands) -> Result<Subject, InputError> {
    let mut sources = Sources::default();
    let texts = Texts::relative_to("").with(commands);
    let inputs = |path: &str| CrdInputs { paths: vec![path.to_owned()], ..CrdInputs::default() };
    let old = read_manifests(&mut sources, &texts, &inputs(old))?;
    let manifests = read_manifests(&mut sources, &texts, &inputs(new))?;
    if old.crds.is_empty() && manifests.crds.is_empty() {
        return Err(nothing(&manifests, 1));
    }
    let file = SubjectFile::for_paths(vec![new.to_owned()]);
    assemble(sources, file, None, manifests, [Vec::new(), Vec::new()], Some(old))
}

/// Adopts the parts of a subject file that matter for a comparison: its name, waivers, accepted findings, declared
/// losses, and the Kubernetes versions. Does not read its CRDs.
pub fn decide(subject: &mut Subject, path: &Path) -> Result<(), InputError> {
    let text = Texts::relative_to("").read(&path.display().to_string())?.into_iter().next();
    let Some(Text { name, text }) = text else { return Ok(()) };
    let (file, document) = read_file(&mut subject.sources, name, text)?;
    subject.accepted = read_accepted(&mut subject.sources, &path.with_file_name(ACCEPTED_FILE))?;
    if !file.metadata.name.is_empty() {
        subject.name.clone_from(&file.metadata.name);
    }
    subject.file.waivers = file.waivers;
    subject.file.losses = file.losses;
    subject.file.kubernetes = file.kubernetes;
    subject.document = Some(document);
    Ok(())
}

fn read_file(sources: &mut Sources, name: String, text: String) -> Result<(SubjectFile, Node), InputError> {
    let id = sources.add(name, text);
    let mut documents = parse(sources, id).map_err(|error| InputError::parse(sources, &error))?;
    if documents.len() != 1 {
        let message = format!("a subject file is one document; here are {}", documents.len());
        return Err(
            InputError::at(sources, Span::start_of(id), message).help("`crdproof init` writes one to start from")
        );
    }
    let document = documents.remove(0);
    let file: SubjectFile = decode(&document).map_err(|error| {
        let error = InputError::decode(sources, document.span, error);
        if !error.message.starts_with("unknown key") {
            return error;
        }
        let help = error.help.iter().map(|help| format!("{help} ")).collect::<String>();
        error.help(format!("{help}`crdproof schema subject` shows all keys; `crdproof plan` checks the file again"))
    })?;
    if let Some(problem) = file.problem() {
        let span = document.nearest(&problem.pointer).span;
        return Err(InputError::at(sources, span, problem.message).help(problem.help));
    }
    Ok((file, document))
}

/// Reads the accepted findings beside a subject file; none if there is no such file.
fn read_accepted(sources: &mut Sources, path: &Path) -> Result<Accepted, InputError> {
    if !path.is_file() {
        return Ok(Accepted::default());
    }
    let help = "`crdproof accept` writes the file anew";
    let text = Texts::relative_to("").read(&path.display().to_string())?.into_iter().next();
    let Some(Text { name, text }) = text else { return Ok(Accepted::default()) };
    let id = sources.add(name, text);
    let documents = parse(sources, id).map_err(|error| InputError::parse(sources, &error))?;
    let Some(document) = documents.first() else {
        return Err(InputError::at(sources, Span::start_of(id), "the file is empty").help(help));
    };
    let accepted: Accepted = decode(document).map_err(|error| InputError::decode(sources, document.span, error))?;
    if accepted.kind != "Accepted" || accepted.api_version != API_VERSION {
        let message = format!("this is not a list of accepted findings of {API_VERSION}");
        return Err(InputError::at(sources, document.span, message).help(help));
    }
    Ok(accepted)
}

fn load(mut sources: Sources, file: SubjectFile, document: Option<Node>, texts: &Texts) -> Result<Subject, InputError> {
    let manifests = read_manifests(&mut sources, texts, &file.crds)?;
    let minimum = file.crds.minimum_count.unwrap_or(1);
    if manifests.crds.len() < minimum {
        return Err(nothing(&manifests, minimum));
    }
    let mut objects = |paths: &[String]| {
        let read = manifests::read_objects(&mut sources, texts, paths)?;
        Ok::<_, InputError>(read.into_iter().map(Sample::new).collect::<Vec<_>>())
    };
    let samples = objects(&file.samples)?;
    let recorded = objects(&file.recorded)?;
    let baseline = match &file.baseline {
        Some(baseline) => Some(read_manifests(&mut sources, texts, &baseline_inputs(baseline))?),
        None => None,
    };
    let prerequisites = match file.converter.as_ref().and_then(|converter| converter.process.as_ref()) {
        Some(process) => manifests::read_all(&mut sources, texts, &process.manifests)?,
        None => Vec::new(),
    };
    let subject = assemble(sources, file, document, manifests, [samples, recorded], baseline)?;
    Ok(Subject { prerequisites, ..subject })
}

fn baseline_inputs(baseline: &Baseline) -> CrdInputs {
    let at = |path: &String| match &baseline.git {
        Some(revision) => format!("git:{revision}:{path}"),
        None => path.clone(),
    };
    CrdInputs { paths: baseline.paths.iter().map(at).collect(), command: baseline.command.clone(), minimum_count: None }
}

fn assemble(
    sources: Sources,
    file: SubjectFile,
    document: Option<Node>,
    manifests: Manifests,
    [samples, recorded]: [Vec<Sample>; 2],
    baseline: Option<Manifests>,
) -> Result<Subject, InputError> {
    let mut passed_over = manifests.passed_over();
    for what in baseline.iter().flat_map(|baseline| &baseline.not_applied) {
        *passed_over.entry(what.clone()).or_default() += 1;
    }
    let name = subject_name(&file, &manifests.crds);
    let mut crds = manifests.crds;
    if let (Err(index), Some(document)) = (apply_hints(&file.generate.hints, &mut crds), &document) {
        let span = document.nearest(&format!("/generate/hints/{index}/path")).span;
        let message = format!("no field is named {:?}", file.generate.hints[index].path.as_str());
        return Err(InputError::at(&sources, span, message).help("`kubectl explain` shows the fields of a CRD"));
    }
    let subject = Subject {
        name,
        arguments: None,
        sources,
        crds,
        baseline: baseline.map(|baseline| baseline.crds),
        samples,
        recorded,
        prerequisites: Vec::new(),
        accepted: Accepted::default(),
        passed_over,
        file,
        document,
    };
    match field_maps::first_mistake(&subject) {
        Some(error) => Err(error),
        None => Ok(subject),
    }
}

fn subject_name(file: &SubjectFile, crds: &[Crd]) -> String {
    match (file.metadata.name.as_str(), crds) {
        ("", [crd]) => crd.name.clone(),
        ("", _) => "crds".into(),
        (name, _) => name.to_owned(),
    }
}

fn nothing(manifests: &Manifests, minimum: usize) -> InputError {
    let others: Vec<String> = manifests.passed_over().iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let passed_over = if others.is_empty() { String::new() } else { format!("; passed over: {}", others.join(", ")) };
    let message = format!("found {} CRDs, need at least {minimum}{passed_over}", manifests.crds.len());
    InputError::new(Trouble::Nothing, message).help(
        "check the paths, or let `crdproof init` look for CRDs below this folder; a render that comes out empty must not pass",
    )
}
