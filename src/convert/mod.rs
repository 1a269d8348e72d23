//! Asking a converter: strategy None and field maps as functions, webhooks and commands over the wire.

mod answer;
pub mod endpoint;
pub mod exec;
#[cfg(feature = "cluster")]
mod greeting;
pub mod long_lived;
mod opened;
pub mod probe;
#[cfg(feature = "cluster")]
pub mod process;
pub mod review;
#[cfg(feature = "cluster")]
pub mod service;
#[cfg(feature = "cluster")]
pub mod webhook;

pub use answer::Answerer;
pub use opened::{Means, Opened};

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use self::endpoint::{Endpoint, Request};
use crate::field_map::Relation;
use crate::observe::{Ask, Exchange};
use crate::schema;
use crate::subject::{Crd, ProcessConfig, Subject, WebhookConfig};

/// A way to convert the objects of a CRD.
#[derive(Clone)]
pub enum Converter<'a> {
    /// The API server rewrites `apiVersion` and prunes.
    None(&'a Crd),
    /// The declared field maps, compiled once for all objects.
    FieldMap(&'a Crd, Arc<Relation<'a>>),
    /// Something that answers reviews.
    Endpoint(&'a dyn Endpoint, &'a Crd),
}

/// What a subject says about the converter of a CRD.
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
    /// It runs already.
    Running(&'a WebhookConfig),
    /// We start it.
    Process(&'a ProcessConfig),
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
    match (&converter.webhook, &converter.process, &converter.exec) {
        (Some(webhook), _, _) => Ok(Declared::Webhook(Wire::Running(webhook))),
        (None, Some(process), _) => Ok(Declared::Webhook(Wire::Process(process))),
        (None, None, Some(exec)) => Ok(Declared::Exec(&exec.command)),
        // There is exactly one.
        (None, None, None) => Ok(Declared::FieldMap),
    }
}

/// What answers the subject's reviews, where something does.
pub fn open(subject: &Subject, means: &Means) -> Result<Option<Box<dyn Endpoint>>, String> {
    let Some(converter) = &subject.file.converter else { return Ok(None) };
    let folder = subject.folder();
    if let Some(exec) = &converter.exec {
        let (command, patience) = (exec.command.clone(), exec.timeout.map_or(exec::PATIENCE, |timeout| timeout.0));
        if exec.long_lived {
            return Ok(Some(Box::new(long_lived::LongLived::new(command, folder, patience))));
        }
        return Ok(Some(Box::new(exec::Exec { command, folder, patience })));
    }
    if let Some(process) = &converter.process {
        return open_process(subject, process, means).map(Some);
    }
    converter.webhook.as_ref().map(|webhook| open_webhook(webhook, &folder, means)).transpose()
}

#[cfg(feature = "cluster")]
fn open_process(subject: &Subject, config: &ProcessConfig, means: &Means) -> Result<Box<dyn Endpoint>, String> {
    Ok(Box::new(process::Process::start(subject, config, means.server.as_ref())?))
}

#[cfg(not(feature = "cluster"))]
fn open_process(_: &Subject, _: &ProcessConfig, _: &Means) -> Result<Box<dyn Endpoint>, String> {
    Err("this build starts no processes; it lacks the feature `cluster`".into())
}

#[cfg(feature = "cluster")]
fn open_webhook(config: &WebhookConfig, folder: &Path, means: &Means) -> Result<Box<dyn Endpoint>, String> {
    if let Some(service) = &config.service {
        return Ok(Box::new(service::Service::open(config, service, folder, &means.kubeconfig)?));
    }
    let read = |name: &String| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let authorities = config.ca_file.as_ref().map(read).transpose()?;
    let webhook = webhook::Webhook::new(config.url.as_deref().unwrap_or_default(), authorities.as_deref())?;
    Ok(Box::new(match config.timeout {
        Some(timeout) => webhook.patience(timeout.0),
        None => webhook,
    }))
}

#[cfg(not(feature = "cluster"))]
fn open_webhook(_: &WebhookConfig, _: &Path, _: &Means) -> Result<Box<dyn Endpoint>, String> {
    Err("this build asks no webhooks; it lacks the feature `cluster`".into())
}

impl<'a> Converter<'a> {
    /// The converter of a CRD, or why there is none to ask. The endpoint is the one that [`open`] gave.
    pub fn of(subject: &'a Subject, crd: &'a Crd, endpoint: Option<&'a dyn Endpoint>) -> Result<Self, String> {
        match (declared(subject, crd)?, endpoint) {
            (Declared::None, _) => Ok(Self::None(crd)),
            (Declared::FieldMap, _) => {
                let maps = subject.field_maps_of(crd).map(|(_, map)| map);
                let relation = Relation::new(maps, |version| crd.version(version)?.schema.as_ref());
                let relation = relation.map_err(|wrong| format!("its field maps cannot be used: {wrong}"))?;
                Ok(Self::FieldMap(crd, Arc::new(relation)))
            }
            (Declared::Exec(_) | Declared::Webhook(_), Some(endpoint)) => Ok(Self::Endpoint(endpoint, crd)),
            (Declared::Exec(_) | Declared::Webhook(_), None) => Err("its converter could not be opened".into()),
        }
    }

    /// Converts an object. `Err` is the refusal, in the converter's words. As the API server does
    /// after every conversion, what the target version does not know is pruned.
    pub fn convert(&self, object: &Value, from: &str, to: &str) -> Result<Value, String> {
        let (crd, mut converted) = match self {
            Self::None(crd) => (crd, object.clone()),
            Self::FieldMap(crd, relation) => {
                (crd, relation.convert(object, from, to).map_err(|refusal| refusal.to_string())?)
            }
            Self::Endpoint(endpoint, crd) => (crd, asked(*endpoint, crd, object, to)?),
        };
        let version = crd.version(to).ok_or_else(|| format!("{} has no version {to}", crd.name))?;
        // A document that is no object can pass for a sample of a CRD that names neither group nor kind.
        let fields = converted.as_object_mut().ok_or("this is no object")?;
        fields.insert("apiVersion".into(), Value::String(format!("{}/{to}", crd.group)));
        if let Some(schema) = &version.schema {
            schema::prune(schema, &mut converted);
        }
        Ok(converted)
    }
}

/// Sends one object in a review, and treats the answer as an API server does: metadata but labels and
/// annotations is put back.
fn asked(endpoint: &dyn Endpoint, crd: &Crd, object: &Value, to: &str) -> Result<Value, String> {
    let review = review::request("v1", &format!("{}/{to}", crd.group), std::slice::from_ref(object));
    let request = Request::post(review.to_string());
    let (outcome, _) = endpoint.send(&request);
    let exchange = Exchange { ask: Ask::Conversion, method: "POST".into(), sent: String::new(), outcome, micros: 0 };
    let mut objects = exchange.converted()?;
    let (Some(mut converted), true) = (objects.pop(), objects.is_empty()) else {
        return Err("another number of objects came back than was sent".into());
    };
    restore(object, &mut converted);
    Ok(converted)
}

fn restore(original: &Value, converted: &mut Value) {
    let Some(metadata) = original.get("metadata").filter(|metadata| metadata.is_object()) else { return };
    let mut restored = metadata.clone();
    for name in ["labels", "annotations"] {
        match converted.pointer(&format!("/metadata/{name}")) {
            Some(own) => restored[name] = own.clone(),
            None => drop(restored.as_object_mut().and_then(|fields| fields.remove(name))),
        }
    }
    if converted.is_object() {
        converted["metadata"] = restored;
    }
}
