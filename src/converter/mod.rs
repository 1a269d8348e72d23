//! Calling a converter: strategy None and field maps as functions, webhooks and commands over the wire.

mod answer;
mod convert;
pub mod endpoint;
pub mod exec;
pub mod installed;

mod tls;
mod http;
pub mod long_lived;
mod opened;

pub mod process;
pub mod proxy;
pub mod review;

pub mod service;

pub mod webhook;

pub use answer::{Answerer, Maps};
pub use convert::Converter;
pub use opened::{ConverterResources, SubjectEndpoints};

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use self::endpoint::Endpoint;
use crate::subject::{ConverterConfig, Crd, ProcessConfig, Subject, WebhookConfig};

/// The converter that a subject declares for a CRD.
#[derive(Debug, Clone, Copy)]
pub enum Declared<'a> {
    /// Strategy None.
    None,
    /// The declared field maps.
    FieldMap,
    /// A command for each review.
    Exec(&'a [String]),
    /// A webhook.
    Webhook(Wire<'a>),
}

/// A webhook that a subject names.
#[derive(Debug, Clone, Copy)]
pub enum Wire<'a> {
    /// It already runs.
    Running(&'a WebhookConfig),
    /// crdproof starts it.
    Process(&'a ProcessConfig),
}

/// Returns the declared converter of a CRD, or why there is none.
pub fn declared<'a>(subject: &'a Subject, crd: &Crd) -> Result<Declared<'a>, String> {
    if crd.versions.len() < 2 {
        return Err("one version, so nothing is converted".into());
    }
    let converter = subject.file.converter.as_ref();
    if crd.conversion.strategy == "None" {
        return Ok(Declared::None);
    }
    let Some(converter) = converter else {
        return Err(format!(
            "strategy {}, and the subject names no converter to ask: add `converter` to crdproof.yaml (`crdproof init` \
             proposes one)",
            crd.conversion.strategy
        ));
    };
    match (&converter.webhook, &converter.process, &converter.exec) {
        (Some(webhook), _, _) => Ok(Declared::Webhook(Wire::Running(webhook))),
        (None, Some(process), _) => Ok(Declared::Webhook(Wire::Process(process))),
        (None, None, Some(exec)) => Ok(Declared::Exec(&exec.command)),
        // Exactly one key is set.
        (None, None, None) => Ok(Declared::FieldMap),
    }
}

/// Returns the endpoint that answers the subject's reviews, if any.
pub fn open(subject: &Subject, means: &ConverterResources) -> Result<Option<Box<dyn Endpoint>>, String> {
    subject.file.converter.as_ref().map_or(Ok(None), |converter| open_as(converter, subject, means))
}

/// Returns the endpoint of the previous release's converter, if the subject names one.
pub fn open_baseline(subject: &Subject, means: &ConverterResources) -> Result<Option<Box<dyn Endpoint>>, String> {
    let baseline = subject.file.converter.as_ref().and_then(|converter| converter.baseline.as_deref());
    baseline.map_or(Ok(None), |baseline| open_as(baseline, subject, means))
}

fn open_as(
    converter: &ConverterConfig,
    subject: &Subject,
    means: &ConverterResources,
) -> Result<Option<Box<dyn Endpoint>>, String> {
    let folder = subject.folder();
    if let Some(exec) = &converter.exec {
        let (command, timeout) = (exec.command.clone(), exec.timeout.map_or(exec::TIMEOUT, |timeout| timeout.0));
        if exec.long_lived {
            return Ok(Some(Box::new(long_lived::LongLived::new(command, folder, timeout)?)));
        }
        return Ok(Some(Box::new(exec::Exec::new(command, folder, timeout)?)));
    }
    if let Some(process) = &converter.process {
        return open_process(subject, process, means).map(Some);
    }
    converter.webhook.as_ref().map(|webhook| open_webhook(webhook, &folder, means)).transpose()
}

/// Checks that the programs of the subject's converter and of the previous release's exist. `Err` names one that does
/// not.
pub fn check_programs(subject: &Subject) -> Result<(), String> {
    let converter = subject.file.converter.as_ref();
    let baseline = converter.and_then(|converter| converter.baseline.as_deref());
    for converter in converter.into_iter().chain(baseline) {
        let exec = converter.exec.as_ref().map(|exec| &exec.command);
        let process = converter.process.as_ref().map(|process| &process.run);
        // A program that is named by a variable is known only when the variable is filled in.
        let known = exec.or(process).filter(|words| !words.first().is_some_and(|program| program.contains('$')));
        known.map_or(Ok(()), |words| exec::check_program(words, &subject.folder()))?;
    }
    Ok(())
}

fn open_process(
    subject: &Subject,
    config: &ProcessConfig,
    means: &ConverterResources,
) -> Result<Box<dyn Endpoint>, String> {
    Ok(Box::new(process::Process::start(subject, config, means.server.as_ref())?))
}

fn open_webhook(
    config: &WebhookConfig,
    folder: &Path,
    means: &ConverterResources,
) -> Result<Box<dyn Endpoint>, String> {
    if let Some(service) = &config.service {
        return Ok(Box::new(service::Service::open(config, service, folder, &means.kubeconfig)?));
    }
    let read = |name: &String| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let bundle = |text: &String| STANDARD.decode(text).map_err(|error| format!("caBundle is not base64: {error}"));
    let authorities = match &config.ca_file {
        Some(name) => Some(read(name)?),
        None => config.ca_bundle.as_ref().map(bundle).transpose()?,
    };
    let webhook = webhook::Webhook::new(config.url.as_deref().unwrap_or_default(), authorities.as_deref())?;
    Ok(Box::new(match config.timeout {
        Some(timeout) => webhook.timeout(timeout.0),
        None => webhook,
    }))
}
