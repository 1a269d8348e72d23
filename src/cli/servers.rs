//! API servers from flags.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum as _;
use crdproof_envtest::binaries::BinariesError;
use crdproof_envtest::{ClusterError, Provider, Server, ServerOptions};

use super::args::env::{self as flags, ServerArgs};
use super::args::{MatrixArgs, RunArgs};
use super::console::Console;
use super::env;
use super::progress::RunProgress;
use super::subject::settings;
use crate::converter::installed::installed;
use crate::run::{Event, RunError, ServerMatrix, Servers};
use crate::subject::load::{InputError, Trouble};
use crate::subject::{self, ConverterConfig, Subject, WebhookConfig};

/// Returns the API servers that flags or the subject file name; `None` if they name none.
pub(crate) fn servers(subject: &Subject, args: &MatrixArgs) -> Result<Option<Servers>> {
    let provider = provider(subject, args)?;
    let mut asked = args.kubernetes.clone();
    if provider == flags::Provider::Kubeconfig {
        if !asked.is_empty() {
            let error = InputError::new(Trouble::Wrong, "the release of an existing cluster cannot be chosen");
            return Err(error.help("leave --kubernetes out").into());
        }
        // An existing cluster has its own release.
        asked.push(args.server.cluster.context.clone().unwrap_or_else(|| "the current context".into()));
    } else if asked.is_empty() {
        asked = subject.file.kubernetes.versions.iter().map(ToString::to_string).collect();
    }
    if asked.is_empty() {
        return Ok(None);
    }
    let server = ServerArgs { provider: Some(provider), ..args.server.clone() };
    Ok(Some(Servers {
        asked,
        options: options(&server, false)?,
        store: env::store()?,
        sources: env::sources(&server.sources),
        at_once: args.servers,
        in_tree_migration: args.in_tree_migration,
        arguments: arguments(args),
        deployed: args.deployed,
    }))
}

/// Returns the provider that flags or the subject file name.
fn provider(subject: &Subject, args: &MatrixArgs) -> Result<flags::Provider> {
    let provider = args.server.provider.unwrap_or(match subject.file.kubernetes.provider {
        subject::Provider::Local => flags::Provider::Local,
        subject::Provider::K3s => flags::Provider::K3s,
        subject::Provider::Kind => flags::Provider::Kind,
        subject::Provider::Kubeconfig => flags::Provider::Kubeconfig,
    });
    if args.deployed && provider != flags::Provider::Kubeconfig {
        let error = InputError::new(Trouble::Wrong, "--deployed is about CRDs in an existing cluster");
        return Err(error.help("add --provider kubeconfig, or leave --deployed out").into());
    }
    Ok(provider)
}

/// Returns the subject with the webhook that its CRDs name where they are installed, if `--deployed` is given and checks read
/// its responses. A webhook that the subject file names stays.
pub(crate) fn with_installed_webhook(subject: Subject, args: &RunArgs, console: Console) -> Result<Subject> {
    let is_named = subject.file.converter.as_ref().is_some_and(|converter| converter.webhook.is_some());
    if !args.matrix.deployed || is_named {
        return Ok(subject);
    }
    let settings = settings(&args.selection, &subject)?;
    if !settings.selection.reads_answers() {
        return Ok(subject);
    }
    provider(&subject, &args.matrix)?;
    let (mut subject, cluster) = (subject, &args.matrix.server.cluster);
    let webhook = match installed(&subject, &env::run::access(cluster, true)?) {
        Ok(Some(webhook)) => webhook,
        Ok(None) => return Ok(subject),
        // Scenarios read what it converts, too.
        Err(error @ ClusterError::NotAllowed { .. }) if !settings.scenarios().is_empty() => {
            console.say(&format!("○ the webhook is not asked itself, only through objects: {error}"));
            subject.file.converter = None;
            return Ok(subject);
        }
        Err(error) => return Err(cluster_error(error).into()),
    };
    let named = match (&webhook.service, &webhook.url) {
        (Some(service), _) => format!("the Service {}/{}, through the API server", service.namespace, service.name),
        (None, url) => url.clone().unwrap_or_default(),
    };
    console.say(&format!("► the webhook that is asked: {named}"));
    let kubeconfig = cluster.kubeconfig.as_deref().map(std::path::absolute).transpose()?;
    let webhook = WebhookConfig {
        kubeconfig: kubeconfig.map(|path| path.display().to_string()),
        context: cluster.context.clone(),
        ..webhook
    };
    subject.file.converter = Some(ConverterConfig { webhook: Some(webhook), ..ConverterConfig::default() });
    Ok(subject)
}

/// Returns the flags that repeat the settings of servers. The permission to change an existing cluster must be given
/// anew, because a copied command may meet another cluster.
fn arguments(args: &MatrixArgs) -> Vec<String> {
    let ServerArgs { provider, feature_gates, runtime_config, controllers, image, k3s, cluster, .. } = &args.server;
    let provider = provider.and_then(|provider| provider.to_possible_value());
    let switches = |flag: &str, switches: &[(String, bool)]| {
        let pair = |(name, is_on): &(String, bool)| [flag.to_owned(), format!("{name}={is_on}")];
        switches.iter().map(pair).collect::<Vec<_>>()
    };
    let path = cluster.kubeconfig.as_ref().map(|path| path.display().to_string());
    let values = [
        ("--provider", provider.map(|provider| provider.get_name().to_owned())),
        ("--controllers", (!controllers.is_empty()).then(|| controllers.join(","))),
        ("--image", image.clone()),
        ("--k3s", k3s.as_ref().map(|path| path.display().to_string())),
        ("--kubeconfig", path),
        ("--context", cluster.context.clone()),
    ];
    let values = values.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value?]));
    let values =
        values.chain(switches("--feature-gate", feature_gates)).chain(switches("--runtime-config", runtime_config));
    let alone = [("--in-tree-migration", args.in_tree_migration), ("--deployed", args.deployed)];
    let alone = alone.into_iter().filter(|(_, is_on)| *is_on).map(|(flag, _)| flag.to_owned());
    alone.chain(values.flatten()).collect()
}

/// Returns the servers of a run by name, and shows progress.
pub(crate) fn matrix(servers: Option<&Servers>, narrator: &RunProgress) -> Result<ServerMatrix, RunError> {
    let Some(servers) = servers else { return Ok(ServerMatrix::default()) };
    let matrix = servers.matrix(&|progress| narrator.observe(&Event::Installing(progress)));
    narrator.observe(&Event::Installed);
    matrix
}

/// Returns the settings of servers from flags.
pub(crate) fn options(args: &ServerArgs, dry_run: bool) -> Result<ServerOptions> {
    let mut options = ServerOptions::default();
    options.provider = match args.provider() {
        flags::Provider::Local => Provider::Local,
        flags::Provider::K3s => Provider::K3s,
        flags::Provider::Kind => Provider::Kind,
        flags::Provider::Kubeconfig => {
            options.access = Some(env::run::access(&args.cluster, dry_run)?);
            Provider::Existing
        }
    };
    options.feature_gates.clone_from(&args.feature_gates);
    options.runtime_config.clone_from(&args.runtime_config);
    options.controllers.clone_from(&args.controllers);
    options.image.clone_from(&args.image);
    options.k3s = k3s(args);
    options.kind.clone_from(&args.kind);
    options.kind_config = args.kind_config.as_deref().map(env::run::kind_config).transpose()?;
    options.logs.clone_from(&args.logs);
    Ok(options)
}

/// The k3s program that flags or the environment name.
fn k3s(args: &ServerArgs) -> Option<PathBuf> {
    let named = || std::env::var_os("K3S_BIN").filter(|path| !path.is_empty()).map(PathBuf::from);
    let beside = || args.sources.assets.as_ref().map(|folder| folder.join("k3s")).filter(|path| path.is_file());
    args.k3s.clone().or_else(named).or_else(beside)
}

/// Returns a description of a server, as a clause.
pub(crate) fn describe(server: &Server) -> String {
    let version = server.version();
    match server {
        Server::Local(_) => format!("Kubernetes {version} runs"),
        Server::K3s(_) => format!("Kubernetes {version} runs in k3s"),
        Server::Kind(kind) => format!("Kubernetes {version} runs in the kind cluster {}", kind.name()),
        Server::Existing(cluster) => format!("context {} is Kubernetes {version}", cluster.shown()),
    }
}

/// Turns an error of a run into one with a remedy and an exit code.
pub(crate) fn run_error(error: RunError, subject: &Subject) -> InputError {
    let message = error.to_string();
    match error {
        RunError::Nothing => nothing(),
        RunError::Install(error) => install_error(error),
        RunError::Cluster(error) => cluster_error(error),
        RunError::NoRelease { .. } => InputError::new(Trouble::Environment, message)
            .help("`crdproof env list` shows what is installed and what can be built"),
        RunError::Converter(why) => {
            let webhook = subject.file.converter.as_ref().and_then(|converter| converter.webhook.as_ref());
            let url = webhook.and_then(|webhook| webhook.url.as_ref());
            let url = url.map(|url| format!("{url}: ")).unwrap_or_default();
            unreachable(&format!("{url}{why}"), remedy(subject))
        }
        RunError::ExistingCluster { help, .. } => InputError::new(Trouble::Wrong, message).help(help),
        _ => InputError::new(Trouble::Environment, message),
    }
}

/// The error for an empty selection, which is not a success.
pub(crate) fn nothing() -> InputError {
    let error = InputError::new(Trouble::Nothing, "the selection leaves nothing to test");
    error.help("`crdproof plan` shows what is skipped and why")
}

/// The error for a converter that does not answer; nothing is judged.
pub(crate) fn unreachable(why: &str, help: &str) -> InputError {
    InputError::new(Trouble::Environment, format!("the converter cannot be called: {why}")).help(help)
}

/// Returns the remedy for a subject's converter that cannot be called.
pub(crate) fn remedy(subject: &Subject) -> &'static str {
    if subject.file.converter.as_ref().is_some_and(|converter| converter.process.is_some()) {
        "correct `converter.process` in the subject file; `crdproof convert OBJECT --to VERSION` tries it with one object"
    } else {
        "start it, or correct `converter` in the subject file; `crdproof convert OBJECT --to VERSION` tries it with one \
         object"
    }
}

/// Turns an error of a server into one with the end of its log and a remedy.
pub(crate) fn cluster_error(error: ClusterError) -> InputError {
    let help = error.help().to_owned();
    let indent = |log: &str| log.lines().map(|line| format!("\n  {line}")).collect::<String>();
    let log = error.log().map(indent).unwrap_or_default();
    InputError::new(Trouble::Environment, format!("{:#}{log}", anyhow::Error::from(error))).help(help)
}

/// Turns an error of an installation into one with its remedy and the right exit code.
pub(crate) fn install_error(error: BinariesError) -> InputError {
    let trouble = match &error {
        BinariesError::Selector(_) | BinariesError::Ambiguous { .. } | BinariesError::Inexact { .. } => Trouble::Wrong,
        BinariesError::NoRelease { .. } => Trouble::Nothing,
        _ => Trouble::Environment,
    };
    let help = error.help();
    InputError::new(trouble, format!("{:#}", anyhow::Error::from(error))).help(help)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::args::{Cli, Command};
    use super::*;

    #[test]
    fn settings_of_servers_are_repeated_but_not_permissions() {
        let words = "crdproof run --kubernetes 1.36 --in-tree-migration --feature-gate A=true --controllers a,b \
                     --runtime-config api/alpha=false";
        let Command::Run(args) = Cli::parse_from(words.split_whitespace()).command else { panic!("not a run") };
        let wanted = "--in-tree-migration --controllers a,b --feature-gate A=true --runtime-config api/alpha=false";
        assert_eq!(arguments(&args.matrix).join(" "), wanted);
        let words = "crdproof run --provider kubeconfig --kubeconfig k --context test --allow-changes --confirm test";
        let Command::Run(args) = Cli::parse_from(words.split_whitespace()).command else { panic!("not a run") };
        assert_eq!(arguments(&args.matrix).join(" "), "--provider kubeconfig --kubeconfig k --context test");
    }
}
