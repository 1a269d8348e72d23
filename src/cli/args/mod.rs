//! Flags and arguments.

pub(crate) mod about;
pub(crate) mod audit;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod env;
pub(crate) mod init;
pub(crate) mod job;
pub(crate) mod migrate;
pub(crate) mod minimum;
pub(crate) mod preflight;
pub(crate) mod replay;
mod report;
mod shard;
mod subject;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use crdproof_schema::kubernetes::KubeVersion;

use crate::subject::Period;
pub(crate) use report::{MergeArgs, ReportAction, ReportCommandArgs};
pub(crate) use shard::{ShardArg, ShardArgs};
pub(crate) use subject::{CommandArgs, SubjectArgs};

/// Tests the versions of Kubernetes CRDs, their converter and samples, and gives a verdict with evidence.
#[derive(Debug, Parser)]
#[command(
    name = "crdproof",
    version,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 nothing found, 1 findings, 2 wrong flags or subject file, 3 internal error, \
                  4 nothing was tested, 5 environment not usable, 6 incomplete.\n\n\
                  Example:\n  crdproof run --suite quick config/crd"
)]
pub(crate) struct Cli {
    /// Use of colour.
    #[arg(long, global = true, default_value = "auto", value_name = "WHEN")]
    pub(crate) color: ColorChoice,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Test a subject and report the findings.
    #[command(
        after_help = "Examples:\n  crdproof run -f crdproof.yaml --suite quick --report sarif=crdproof.sarif\n  crdproof run --suite serving --suite storage --kubernetes 1.28..1.37"
    )]
    Run(Box<RunArgs>),
    /// Run all suites on an example operator, on an API server that is installed for it, and write an HTML report.
    ///
    /// If no API server can be installed, the rest is shown and the exit code is 5.
    #[command(after_help = "Examples:\n  crdproof demo\n  crdproof demo --defect")]
    Demo(Box<demo::DemoArgs>),
    /// Run, and accept the findings: from then on only new findings fail.
    ///
    /// The list is crdproof-accepted.yaml beside the subject file. Keep it under version control.
    #[command(after_help = "Example:\n  crdproof accept --suite quick")]
    Accept(Box<RunArgs>),
    /// Try saved counterexamples again: objects that made a check fail in an earlier run.
    ///
    /// `run` saves them in .crdproof/counterexamples beside the subject file. Exit code 1 means that one still fails.
    #[command(after_help = "Example:\n  crdproof replay --prune")]
    Replay(Box<replay::ReplayArgs>),
    /// Judge a recorded run again, without a converter or a server; the exit code is that of the findings.
    #[command(after_help = "Example:\n  crdproof judge recording --report html=crdproof.html")]
    Judge(Box<replay::JudgeArgs>),
    /// Print what `run` would do, and what it would skip and why; starts and changes nothing.
    #[command(after_help = "Example:\n  crdproof plan -f crdproof.yaml --suite all --kubernetes 1.36")]
    Plan(Box<PlanArgs>),
    /// Convert one object, and judge the response of the converter.
    ///
    /// Exit code 1 means that the object was refused, or that a webhook check failed.
    #[command(after_help = "Example:\n  crdproof convert sample.yaml --to v1beta1")]
    Convert(Box<convert::ConvertArgs>),
    /// Serve the field maps as a conversion webhook, over TLS, until interrupted.
    ///
    /// Prints the caBundle for the CRD to standard output. Good enough for a test cluster.
    #[command(
        after_help = "Example:\n  crdproof serve -f crdproof.yaml --listen 0.0.0.0:9443 --name host.docker.internal"
    )]
    Serve(Box<convert::ServeArgs>),
    /// Store every object of a kind at the storage version, on a cluster, and verify that.
    ///
    /// Without --allow-changes it only prints what it would do. It can be stopped and started again.
    /// Exit code 1 means that objects could not be written, or that the result could not be verified.
    #[command(after_help = "Example:\n  crdproof migrate widgets.example.com --context staging --allow-changes --trim")]
    Migrate(Box<migrate::MigrateArgs>),
    /// Inspect a server before anything runs there: its release, known defects, features for the subject, permissions.
    ///
    /// Without RELEASE it inspects the cluster of the kubeconfig, by dry runs only, unless --allow-changes is given.
    /// Exit code 1 means that a missing feature or a defect would break data, ownership or writes.
    #[command(
        after_help = "Examples:\n  crdproof preflight --context staging\n  crdproof preflight 1.31 -f crdproof.yaml\n  crdproof preflight --explain managed-fields"
    )]
    Preflight(Box<preflight::PreflightArgs>),
    /// Find the lowest Kubernetes release that a subject works on: derived from its manifests, then verified on
    /// servers.
    ///
    /// Uses the releases in the cache, and starts as few servers as a bisection needs. On each it installs the CRDs,
    /// compares them with the stored ones, and sends valid and invalid objects as dry runs. A COMMAND replaces this
    /// test: it finds `KUBECONFIG`, `CRDPROOF_NAMESPACE` and `CRDPROOF_KUBERNETES` in its environment, and exits with 0
    /// if the release works.
    /// Exit code 1 means that no installed release works.
    #[command(
        after_help = "Examples:\n  crdproof minimum --derive-only config/crd\n  crdproof minimum -f crdproof.yaml --kubernetes 1.30..1.37\n  crdproof minimum --with storage\n  crdproof minimum -- make test-e2e"
    )]
    Minimum(Box<minimum::MinimumArgs>),
    /// Show which versions a cluster still holds, and what an upgrade would break; only reads.
    ///
    /// Stored versions, managedFields, owner references, conversion webhooks and conditions of every CRD. Exit code 1
    /// means that something is broken now; problems that only an upgrade or an expiry causes are shown and do not
    /// count.
    #[command(
        after_help = "Examples:\n  crdproof audit --context staging\n  crdproof audit --dump crds.json widgets.json\n  crdproof audit --context staging --samples samples --crd widgets.example.com"
    )]
    Audit(Box<audit::AuditArgs>),
    /// Retire a version of a CRD on a cluster: flip, migrate, clean managedFields, trim, unserve, remove.
    ///
    /// Without --allow-changes it only prints what it would do. It verifies every step before the next one, and stops
    /// if the verification fails. It can be stopped and started again.
    /// Exit code 1 means that a step was refused, and why.
    #[command(after_help = "Example:\n  crdproof retire widgets.example.com v1beta1 --context staging --allow-changes")]
    Retire(Box<migrate::RetireArgs>),
    /// Judge a change of CRDs: is the upgrade from OLD to NEW safe? Leaves out findings that OLD has, too.
    #[command(
        after_help = "Examples:\n  crdproof diff git:v1.4.0:config/crd config/crd\n  crdproof diff old.yaml new.yaml --format markdown > UPGRADE.md"
    )]
    Diff(DiffArgs),
    /// List checks and suites.
    #[command(after_help = "Example:\n  crdproof list manifest")]
    List(ListArgs),
    /// Explain a check: its guarantee, the reason, and the remedy.
    #[command(after_help = "Example:\n  crdproof explain manifest/none-strategy-lossless")]
    Explain(ExplainArgs),
    /// Write a commented subject file for the CRDs found in a folder.
    #[command(after_help = "Example:\n  crdproof init --stdout config")]
    Init(init::InitArgs),
    /// Render a saved JSON report again, or merge several into one.
    #[command(after_help = "Example:\n  crdproof report render crdproof.json --report html=crdproof.html")]
    Report(ReportCommandArgs),
    /// Print a Kubernetes Job that runs the shards of a large run in pods, and a job that merges their reports.
    ///
    /// Starts nothing. The image needs crdproof as its entry point and the subject in its working folder. FLAGS are those of
    /// `run`.
    #[command(
        after_help = "Examples:\n  crdproof job --shards 4 --image example.com/test:1 -- --suite all > job.yaml\n  crdproof job matrix --format gitlab --shards 4 -- --suite quick"
    )]
    Job(Box<job::JobArgs>),
    /// Install and manage API server binaries, of any Kubernetes release.
    #[command(
        after_help = "Examples:\n  crdproof env use 1.36\n  KUBEBUILDER_ASSETS=$(crdproof env path 1.31) go test ./..."
    )]
    Env(env::EnvArgs),
    /// Print completions for a shell.
    #[command(after_help = "Example:\n  crdproof completions bash")]
    Completions(about::CompletionsArgs),
    /// Write a man page for each command.
    #[command(after_help = "Example:\n  crdproof man man1")]
    Man(about::ManArgs),
    /// Print the JSON Schema of a file that crdproof reads or writes.
    #[command(after_help = "Example:\n  crdproof schema subject")]
    Schema(about::SchemaArgs),
    /// Print the version of crdproof and of its build.
    #[command(after_help = "Example:\n  crdproof version --verbose")]
    Version(about::VersionArgs),
}

/// The selection of checks.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What to check")]
pub(crate) struct SelectionArgs {
    /// Suite to run, by name or file; repeatable [default: those of the subject file, otherwise quick].
    #[arg(short, long = "suite", value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    /// Only these checks: a family, an id, or a glob such as 'manifest/*'; repeatable.
    #[arg(long, value_name = "CHECK")]
    pub(crate) only: Vec<String>,
    /// All checks except these; repeatable.
    #[arg(long, value_name = "CHECK")]
    pub(crate) except: Vec<String>,
    /// Seed of generated objects; the same seed gives the same objects.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Objects to generate for every version and try on the converter [default: as the suites say].
    #[arg(long, value_name = "NUMBER")]
    pub(crate) objects: Option<usize>,
    /// Time limit for all work on one CRD, such as 90s or 5m; results until then are judged [default: that of the suites,
    /// 2m for most].
    #[arg(long, value_name = "DURATION")]
    pub(crate) time: Option<Period>,
}

/// The reports to write, and when to fail.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportArgs {
    /// Write a report: FORMAT or FORMAT=PATH; repeatable. Without a path, or with -, it goes to stdout.
    /// Formats: terminal, json, junit, sarif, html, markdown, github, conformance.
    #[arg(long = "report", value_name = "FORMAT[=PATH]")]
    pub(crate) reports: Vec<String>,
    /// The lowest severity that makes the exit code 1.
    #[arg(long, value_enum, default_value = "error", value_name = "SEVERITY")]
    pub(crate) fail_on: FailOn,
    /// Fail on inconclusive checks, too.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Show every finding, and the checks that passed.
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print no human report.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Threads that judge [default: two for each core].
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    #[command(flatten)]
    pub(crate) shard: ShardArgs,
    #[command(flatten)]
    pub(crate) matrix: MatrixArgs,
    #[command(flatten)]
    pub(crate) keep: replay::KeepArgs,
    #[command(flatten)]
    pub(crate) secrets: replay::SecretArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// The selection of API servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "API servers")]
pub(crate) struct MatrixArgs {
    /// Kubernetes releases to run scenarios on, such as 1.36 or 1.28..1.37; repeatable [default: those of the subject file].
    ///
    /// Releases of a range that cannot be installed are counted as skipped, with the reason.
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) kubernetes: Vec<String>,
    /// Also let the control plane migrate, if it can; local servers are started accordingly. Takes a few minutes.
    #[arg(long)]
    pub(crate) in_tree_migration: bool,
    /// Test the CRDs that are installed in an existing cluster, through the webhooks that they name; for --provider
    /// kubeconfig.
    ///
    /// Creates objects in a namespace of its own, and removes them. The CRDs are not changed, so scenarios that change them do
    /// not run. `crdproof env rbac` prints the permissions, `crdproof plan` the objects.
    #[arg(long)]
    pub(crate) deployed: bool,
    /// Number of API servers that run at once [default: as many as free memory and cores allow].
    #[arg(long, value_name = "COUNT")]
    pub(crate) servers: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) server: env::ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    #[command(flatten)]
    pub(crate) shard: ShardArgs,
    #[command(flatten)]
    pub(crate) matrix: MatrixArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The old state: file, directory, git:REF:PATH, or - for standard input.
    #[arg(value_name = "OLD")]
    pub(crate) old: String,
    /// The new state, in the same form.
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
    /// Only these checks: a family, an id, or a glob such as 'upgrade/*'; repeatable.
    #[arg(long, value_name = "CHECK")]
    pub(crate) only: Vec<String>,
    /// All checks except these; repeatable.
    #[arg(long, value_name = "CHECK")]
    pub(crate) except: Vec<String>,
    /// The subject file for waivers and Kubernetes versions [default: crdproof.yaml, if it exists].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The lowest Kubernetes release to upgrade on; from 1.30 on some constraints weigh less.
    #[arg(long, value_name = "VERSION")]
    pub(crate) minimum: Option<KubeVersion>,
    /// Output on stdout: text writes nothing, markdown the upgrade guide, json the report.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: DiffFormat,
    #[command(flatten)]
    pub(crate) commands: CommandArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// Only the findings, for people, on stderr.
    Text,
    /// The upgrade guide.
    Markdown,
    /// The report, for programs.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only checks of this family, or matching this glob.
    #[arg(value_name = "CHECK")]
    pub(crate) only: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The check's id; suggests similar ids.
    pub(crate) id: String,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Any finding.
    Note,
    /// Warnings and errors.
    Warning,
    /// Errors.
    Error,
    /// Nothing.
    Never,
}
