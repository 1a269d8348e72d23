//! The pipeline in one expression, for tests of operators.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::checks::Severity;
use crate::converter::endpoint::{Function, ReplacementEndpoint, Request};
use crate::converter::{ConverterResources, SubjectEndpoints, review};
use crate::report::{Report, Style, counterexample, terminal};
use crate::run::{Options, RunError, Selection, Servers, Settings, execute, plan};
use crate::subject::Subject;
use crate::subject::load::{self, InputError};
use crdproof_envtest::ServerOptions;
use crdproof_envtest::binaries::{Sources, Store};

/// An error that prevented a test. Defects of the subject are findings, never errors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the subject, a suite or a check cannot be used.
    #[error("{0}")]
    Input(InputError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// No cache folder for API servers is known.
    #[error("no cache folder: neither CRDPROOF_CACHE, XDG_CACHE_HOME nor HOME is set")]
    NoCache,
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

/// Loads a subject: a `crdproof.yaml`, a CRD file, or a folder of CRDs.
///
/// ```
/// let report = crdproof::check("fixtures/crds/databases/crdproof.yaml")?.run()?;
/// assert!(report.has_passed());
/// # Ok::<(), crdproof::Error>(())
/// ```
///
/// Relative paths start at the current directory, which in tests is the folder of your `Cargo.toml`.
pub fn check(path: impl AsRef<Path>) -> Result<Checker, Error> {
    let path = path.as_ref();
    let is_subject_file = path.file_name().is_some_and(|name| name == "crdproof.yaml");
    let subject =
        if is_subject_file { load::from_file(path)? } else { load::from_paths(vec![path.display().to_string()])? };
    Ok(Checker::new(subject))
}

/// A subject and its settings. [`check`] creates one, and [`Checker::run`] runs it.
///
/// Every setting has a default, so `check(path)?.run()?` is a whole test.
#[must_use]
pub struct Checker {
    subject: Subject,
    suites: Vec<String>,
    only: Vec<String>,
    kubernetes: Vec<String>,
    settings: Settings,
}

impl Checker {
    fn new(subject: Subject) -> Self {
        let settings = Settings { seed: 1, ..Settings::default() };
        Self { subject, suites: Vec::new(), only: Vec::new(), kubernetes: Vec::new(), settings }
    }

    /// Runs this suite, by name or file; repeatable. By default, runs the suites of the subject file, otherwise
    /// `converter` if a conversion function is given, otherwise `quick`.
    pub fn suite(mut self, name: &str) -> Self {
        self.suites.push(name.to_owned());
        self
    }

    /// Runs only these checks: a family, an id, or a glob such as `manifest/*`; repeatable.
    ///
    /// ```
    /// let checker = crdproof::check("fixtures/crds/three-versions/crds")?.only("manifest/one-storage-version");
    /// assert_eq!(checker.run()?.summary.passed, 1);
    /// # Ok::<(), crdproof::Error>(())
    /// ```
    pub fn only(mut self, check: &str) -> Self {
        self.only.push(check.to_owned());
        self
    }

    /// Converts by a function: it gets an object and the desired `apiVersion`, and returns the converted object or a
    /// refusal.
    ///
    /// The function is called as an API server calls a webhook: also with parts of objects, with objects without
    /// `metadata`, and from several threads at once. A refusal is judged by its reason.
    ///
    /// ```
    /// use serde_json::{Value, json};
    ///
    /// fn convert(object: &Value, to: &str) -> Result<Value, String> {
    ///     let mut object = object.clone();
    ///     object["apiVersion"] = json!(to);
    ///     Ok(object)
    /// }
    /// let report = crdproof::check("fixtures/crds/three-versions/crds")?.converter(convert).objects(50).run()?;
    /// # drop(report);
    /// # Ok::<(), crdproof::Error>(())
    /// ```
    pub fn converter<E: fmt::Display>(
        mut self,
        convert: impl Fn(&Value, &str) -> Result<Value, E> + Send + Sync + 'static,
    ) -> Self {
        let answer = move |request: &Request| {
            let review: Value = match serde_json::from_slice(&request.body) {
                Ok(review) => review,
                Err(error) => return (400, error.to_string().into_bytes()),
            };
            let convert = |object: &Value, to: &str| {
                let mut converted = convert(object, to).map_err(|error| error.to_string())?;
                review::add_metadata(&mut converted);
                Ok(converted)
            };
            match review::answer(&review, convert) {
                Ok(answer) => (200, answer.to_string().into_bytes()),
                Err(why) => (400, why.as_bytes().to_vec()),
            }
        };
        self.settings.endpoint = Some(ReplacementEndpoint(Arc::new(Function(answer))));
        self
    }

    /// Generates this many objects for every version, instead of the number of the suites.
    pub fn objects(mut self, count: usize) -> Self {
        self.settings.objects = Some(count);
        self
    }

    /// Generates objects from this seed instead of 1.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Runs scenarios on a real API server of this release, such as `1.36`; repeatable. Installs its binaries first if
    /// they are missing.
    pub fn kubernetes(mut self, release: &str) -> Self {
        self.kubernetes.push(release.to_owned());
        self
    }

    /// Runs everything and returns the report. Defects of the subject are findings in it, not errors.
    ///
    /// It blocks, so call it from a plain `#[test]`, or from `tokio::task::spawn_blocking`.
    pub fn run(mut self) -> Result<Report, Error> {
        if self.suites.is_empty() && self.subject.file.suites.is_empty() && self.settings.endpoint.is_some() {
            self.suites.push("converter".into());
        }
        self.settings.selection = Selection::named(&self.suites, &self.only, &[], &self.subject)?;
        let servers = if self.kubernetes.is_empty() { None } else { Some(self.servers()?) };
        let matrix = servers.as_ref().map(|servers| servers.matrix(&|_| ())).transpose()?.unwrap_or_default();
        let plan = plan(&self.subject, &self.settings, &matrix);
        let mut options = Options::today();
        options.endpoint = SubjectEndpoints::with(ConverterResources::default());
        let (ran, _) = execute(&plan, servers.as_ref(), &options, &|_| ())?;
        Ok(ran.report)
    }

    fn servers(&self) -> Result<Servers, Error> {
        let store = Store::from_environment().ok_or(Error::NoCache)?.map_err(RunError::Install)?;
        Ok(Servers {
            asked: self.kubernetes.clone(),
            options: ServerOptions::default(),
            store,
            sources: Sources::from_environment(),
            at_once: None,
            in_tree_migration: false,
            arguments: Vec::new(),
            deployed: false,
        })
    }
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").field("subject", &self.subject.name).finish_non_exhaustive()
    }
}

impl Report {
    /// Returns true if something was tested and no error was found. Warnings and notes do not count.
    pub fn has_passed(&self) -> bool {
        !self.results.is_empty()
            && self.problems.is_empty()
            && !self.counting().any(|finding| finding.severity == Severity::Error)
    }

    /// Panics unless the subject has passed. The message is the terminal report. It ends with the first counterexample
    /// as a diff: the object before the conversion, and the object after converting back.
    ///
    /// ```should_panic
    /// let report = crdproof::check("fixtures/crds/databases-none/crds")?.suite("converter").run()?;
    /// report.assert_passed(); // .spec.password is lost on the way v2→v1→v2
    /// # Ok::<(), crdproof::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is an error among the findings, or nothing was tested.
    #[track_caller]
    pub fn assert_passed(&self) {
        assert!(self.has_passed(), "\n{}{}", terminal(self, Style::PLAIN), self.first_counterexample());
    }

    /// The counterexample of the first error that has one.
    fn first_counterexample(&self) -> String {
        let mut errors = self.counting().filter(|finding| finding.severity == Severity::Error);
        let shown = errors.find_map(|finding| Some((finding, counterexample(finding.evidence.as_deref()?)?)));
        shown.map_or(String::new(), |(finding, objects)| {
            format!("\ncounterexample: {}\n\n{objects}\nhelp: {}\n", finding.message, finding.help)
        })
    }
}
