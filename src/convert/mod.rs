//! Asking a converter: strategy None and field maps as functions, webhooks and commands over the wire.

mod answer;
mod converter;
pub mod endpoint;
pub mod exec;
pub mod probe;
pub mod review;
#[cfg(feature = "cluster")]
pub mod webhook;

pub use answer::{Answerer, Maps};
pub use converter::Converter;

use std::path::Path;

use self::endpoint::Endpoint;
use crate::subject::{ConverterConfig, Crd, Subject, WebhookConfig};

/// What a subject says about the converter of a CRD.
#[derive(Debug, Clone, Copy)]
pub enum Declared<'a> {
    /// Strategy None.
    None,
    /// The declared field maps.
    FieldMap,
    /// A command for each review.
    Exec(&'a [String]),
    /// A webhook that runs.
    Webhook(&'a WebhookConfig),
}

/// How the objects of a CRD are converted, or why there is nobody to ask.
pub fn declared<'a>(subject: &'a Subject, crd: &Crd) -> Result<Declared<'a>, String> {
    if crd.versions.len() < 2 {
        return Err("one version, so nothing is converted".into());
    }
    let converter = subject.file.converter.as_ref();
    if crd.conversion.strategy == "None" {
        return Ok(Declared::None);
    }
    let Some(converter) = converter else {
        return Err(format!("strategy {}, and the subject names no converter to ask", crd.conversion.strategy));
    };
    match (&converter.webhook, &converter.exec, &converter.field_map) {
        (Some(webhook), _, _) => Ok(Declared::Webhook(webhook)),
        (None, Some(command), _) => Ok(Declared::Exec(command)),
        (None, None, Some(_)) => Ok(Declared::FieldMap),
        (None, None, None) => Err("this release starts no processes".into()),
    }
}

/// What answers the subject's reviews, where something does.
pub fn open(subject: &Subject) -> Result<Option<Box<dyn Endpoint>>, String> {
    subject.file.converter.as_ref().map_or(Ok(None), |converter| open_as(converter, subject))
}

/// What answers reviews as the previous release does, where the subject names it.
pub fn open_baseline(subject: &Subject) -> Result<Option<Box<dyn Endpoint>>, String> {
    let baseline = subject.file.converter.as_ref().and_then(|converter| converter.baseline.as_deref());
    baseline.map_or(Ok(None), |baseline| open_as(baseline, subject))
}

fn open_as(converter: &ConverterConfig, subject: &Subject) -> Result<Option<Box<dyn Endpoint>>, String> {
    let folder = subject.folder();
    if let Some(command) = &converter.exec {
        let exec = exec::Exec { command: command.clone(), folder };
        return Ok(Some(Box::new(exec)));
    }
    converter.webhook.as_ref().map(|webhook| open_webhook(webhook, &folder)).transpose()
}

#[cfg(feature = "cluster")]
fn open_webhook(config: &WebhookConfig, folder: &Path) -> Result<Box<dyn Endpoint>, String> {
    let read = |name: &String| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let authorities = config.ca_file.as_ref().map(read).transpose()?;
    Ok(Box::new(webhook::Webhook::new(&config.url, authorities.as_deref())?))
}

#[cfg(not(feature = "cluster"))]
fn open_webhook(_: &WebhookConfig, _: &Path) -> Result<Box<dyn Endpoint>, String> {
    Err("this build asks no webhooks; it lacks the feature `cluster`".into())
}
