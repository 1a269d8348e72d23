//! Installs the definitions of a theme, sends its objects, and removes the definitions again.

use std::collections::BTreeMap;
use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};
use ureq::http::Method;

use super::cases::{Case, GROUP, Theme};
use super::fixture::RecordedCase;
use super::server::{Response, Server};
use crate::interrupt::Interrupt;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The name of objects.
const NAME: &str = "value";
/// The printer column that shows that the second schema of a definition is in force.
const NEW_SCHEMA: &str = "new schema";
/// Fields of `.metadata` that differ from run to run.
const SERVER_SET: [&str; 5] = ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"];

pub(super) struct Recorder {
    server: Server,
    interrupt: Interrupt,
    /// Names of the definitions that are installed.
    installed: Vec<String>,
}

/// A case whose definition the server accepted.
struct Installed<'a> {
    case: &'a Case,
    kind: String,
    /// The path of its objects.
    path: String,
    /// The index of its result.
    index: usize,
}

impl Recorder {
    pub(super) fn new(server: Server, interrupt: Interrupt) -> Self {
        Self { server, interrupt, installed: Vec::new() }
    }

    /// Records the responses to all cases of a theme. Its definitions stay installed.
    pub(super) fn record(&mut self, theme: &Theme) -> anyhow::Result<Vec<RecordedCase>> {
        let mut results = self.install_all(theme)?;
        let accepted = |(index, (case, result)): (usize, (_, &RecordedCase))| {
            let kind = result.kind.clone();
            let path = format!("/apis/{GROUP}/v1/{}", kind.to_lowercase());
            result.refusal.is_none().then_some(Installed { case, kind, path, index })
        };
        let installed: Vec<Installed<'_>> = theme.cases.iter().zip(&results).enumerate().filter_map(accepted).collect();
        for each in &installed {
            self.wait_for(&format!("{} served", each.kind), 60, || Ok(self.server.get(&each.path)?.code == 200))?;
        }
        let mut stored = BTreeMap::new();
        for each in installed.iter().filter(|each| each.case.updates) {
            let context = || format!("{}: {}", theme.name, each.case.name);
            stored.insert(each.index, self.create_old_objects(each).with_context(context)?);
            if each.case.previous_schema().is_some() {
                self.replace_schema(each).with_context(context)?;
            }
        }
        for each in &installed {
            let responses = self.send_objects(each, stored.get(&each.index));
            results[each.index].objects = responses.with_context(|| format!("{}: {}", theme.name, each.case.name))?;
        }
        Ok(results)
    }

    fn install_all(&mut self, theme: &Theme) -> anyhow::Result<Vec<RecordedCase>> {
        let mut results = Vec::new();
        let mut unexpected = Vec::new();
        for (index, case) in theme.cases.iter().enumerate() {
            self.interrupt.check()?;
            let kind = theme.kind(index);
            let (refusal, warnings) = self.install(case, &kind)?;
            if let Some(refusal) = refusal.as_ref().filter(|_| !case.objects.is_empty()) {
                let name = &case.name;
                unexpected
                    .push(format!("{}: {name}: the server refused a definition with objects: {refusal}", theme.name));
            }
            results.push(RecordedCase { name: case.name.clone(), kind, refusal, warnings, objects: Vec::new() });
        }
        if !unexpected.is_empty() {
            bail!("{}", unexpected.join("\n"));
        }
        Ok(results)
    }

    /// Installs a definition, and returns the refusal, if any, and the warnings.
    fn install(&mut self, case: &Case, kind: &str) -> anyhow::Result<(Option<Value>, Vec<String>)> {
        let schema = case.previous_schema().or_else(|| case.current_schema()).unwrap_or_default();
        let definition = case.definition(kind, &schema, None);
        let name = definition_name(kind);
        let response =
            self.server.send(&Method::POST, &format!("{DEFINITIONS}?fieldValidation=Strict"), &definition)?;
        match response.code {
            201 => self.installed.push(name),
            // Do not delete definitions of others.
            409 => bail!("{name} already exists; delete it first"),
            _ => return Ok((Some(refusal(&response)), response.warnings)),
        }
        Ok((None, response.warnings))
    }

    /// Creates the old objects of a case, and returns their resource versions.
    fn create_old_objects(&self, each: &Installed<'_>) -> anyhow::Result<Vec<Value>> {
        let mut stored = Vec::new();
        for (index, entry) in each.case.objects.iter().enumerate() {
            let (old, _) = old_and_new(entry)?;
            let object = each.case.object(&each.kind, old, &format!("{NAME}-{index}"))?;
            let response = self.send(&Method::POST, &format!("{}?fieldValidation=Ignore", each.path), &object)?;
            if response.code != 201 {
                bail!("the server refused old object {index}: {}", response.message());
            }
            stored.push(response.body["metadata"]["resourceVersion"].clone());
        }
        Ok(stored)
    }

    /// Replaces the previous schema of a definition by the current one, and waits until it is in force.
    fn replace_schema(&self, each: &Installed<'_>) -> anyhow::Result<()> {
        let name = definition_name(&each.kind);
        let path = format!("{DEFINITIONS}/{name}");
        let schema = each.case.current_schema().unwrap_or_default();
        self.wait_for(&format!("{name} updated"), 20, || {
            let mut definition = each.case.definition(&each.kind, &schema, Some(NEW_SCHEMA));
            let current = self.server.get(&path)?;
            definition["metadata"]["resourceVersion"] = current.body["metadata"]["resourceVersion"].clone();
            let response = self.server.send(&Method::PUT, &path, &definition)?;
            if response.code == 422 {
                bail!("the server refused the new schema: {}", response.message());
            }
            Ok(response.code == 200)
        })?;
        self.wait_for(&format!("{name} in force"), 30, || {
            let table = self.server.get_table(&each.path)?;
            let columns = table.body["columnDefinitions"].as_array();
            Ok(columns.is_some_and(|columns| columns.iter().any(|column| column["name"] == NEW_SCHEMA)))
        })
    }

    /// Sends the objects of a case as dry runs.
    fn send_objects(&self, each: &Installed<'_>, stored: Option<&Vec<Value>>) -> anyhow::Result<Vec<Value>> {
        let mut verdicts = Vec::new();
        for (index, value) in each.case.objects.iter().enumerate() {
            let response = if let Some(stored) = stored {
                let name = format!("{NAME}-{index}");
                let (_, new) = old_and_new(value)?;
                let mut object = each.case.object(&each.kind, new, &name)?;
                let metadata = object["metadata"].as_object_mut().context("metadata of an update is an object")?;
                metadata.insert("resourceVersion".into(), stored[index].clone());
                let path = format!("{}/{name}?dryRun=All&fieldValidation=Ignore", each.path);
                self.send(&Method::PUT, &path, &object)?
            } else {
                let object = each.case.object(&each.kind, value, NAME)?;
                self.send(&Method::POST, &format!("{}?dryRun=All&fieldValidation=Ignore", each.path), &object)?
            };
            verdicts.push(verdict(each.case, response));
        }
        Ok(verdicts)
    }

    /// Sends an object; again for a while if its definition is not served yet.
    fn send(&self, method: &Method, path: &str, object: &Value) -> anyhow::Result<Response> {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            self.interrupt.check()?;
            let response = self.server.send(method, path, object)?;
            if !matches!(response.code, 404 | 429 | 503) || Instant::now() > deadline {
                return Ok(response);
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    fn wait_for(
        &self,
        what: &str,
        seconds: u64,
        condition: impl FnMut() -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        poll(what, seconds, &self.interrupt, condition)
    }

    /// Deletes all installed definitions and waits until they are gone, also after an interrupt.
    pub(super) fn remove_definitions(&mut self) -> anyhow::Result<()> {
        for name in &self.installed {
            let context = || format!("cannot delete all of: {}", self.installed.join(", "));
            self.server.delete(&format!("{DEFINITIONS}/{name}")).with_context(context)?;
        }
        for name in mem::take(&mut self.installed) {
            let path = format!("{DEFINITIONS}/{name}");
            poll(&format!("{name} deleted"), 60, &Interrupt::default(), || Ok(self.server.get(&path)?.code == 404))?;
        }
        Ok(())
    }
}

fn definition_name(kind: &str) -> String {
    format!("{}.{GROUP}", kind.to_lowercase())
}

fn old_and_new(entry: &Value) -> anyhow::Result<(&Value, &Value)> {
    match (entry.get("old"), entry.get("new"), entry.as_object().map(Map::len)) {
        (Some(old), Some(new), Some(2)) => Ok((old, new)),
        _ => bail!("objects of an update have the form {{old: ..., new: ...}}"),
    }
}

/// Waits until a condition holds.
fn poll(
    what: &str,
    seconds: u64,
    interrupt: &Interrupt,
    mut condition: impl FnMut() -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    while !condition()? {
        interrupt.check()?;
        if Instant::now() > deadline {
            bail!("{what}: not within {seconds} s");
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Returns the part of a refusal that a fixture keeps: the causes of an invalid object, otherwise the message.
fn refusal(response: &Response) -> Value {
    let code = response.code;
    if code != 422 {
        return json!({"code": code, "message": response.message()});
    }
    let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
    let causes = response.body["details"]["causes"].as_array();
    let mut causes: Vec<[String; 3]> = causes
        .into_iter()
        .flatten()
        .map(|cause| [text(cause, "field"), text(cause, "reason"), text(cause, "message")])
        .collect();
    causes.sort();
    let causes: Vec<Value> = causes
        .into_iter()
        .map(|[field, reason, message]| json!({"field": field, "reason": reason, "message": message}))
        .collect();
    json!({"code": code, "causes": causes})
}

/// Returns the part of the response to an object that a fixture keeps.
fn verdict(case: &Case, response: Response) -> Value {
    let mut verdict = if response.code >= 300 {
        refusal(&response)
    } else {
        let mut object = response.body;
        if case.has_whole_objects() {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.retain(|key, _| !SERVER_SET.contains(&key.as_str()));
            }
        } else {
            object = object["spec"].take();
        }
        json!({"code": response.code, "object": object})
    };
    if !response.warnings.is_empty() {
        verdict["warnings"] = response.warnings.into();
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_sorted_and_complete() {
        let body = json!({"details": {"causes": [{"field": "b", "message": "m"}, {"field": "a", "reason": "r"}]}});
        let response = Response { code: 422, body, warnings: Vec::new() };
        let expected = json!({"code": 422, "causes": [
            {"field": "a", "reason": "r", "message": ""}, {"field": "b", "reason": "", "message": "m"}]});
        assert_eq!(refusal(&response), expected);
        let response = Response { code: 400, body: json!({"message": "no"}), warnings: Vec::new() };
        assert_eq!(refusal(&response), json!({"code": 400, "message": "no"}));
    }

    #[test]
    fn updates_have_an_old_and_a_new_object() {
        assert!(old_and_new(&json!({"old": null, "new": 1})).is_ok());
        assert!(old_and_new(&json!({"old": 1})).is_err());
        assert!(old_and_new(&json!({"old": 1, "new": 2, "more": 3})).is_err());
        assert!(old_and_new(&json!(1)).is_err());
    }
}
