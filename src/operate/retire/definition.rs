//! The CRD during a retirement: the remaining steps, and their patches.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Gated, Plan, Refusal, RetireRequest, Step};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Api, PatchKind, Query, Resource, definitions};
use crdproof_schema::kubernetes::api_version_order;

/// A CRD as a server has it.
pub(super) struct Definition {
    name: String,
    body: Value,
    /// The time of the read, by the server's clock.
    read: Option<jiff::Timestamp>,
}

impl Definition {
    pub(super) async fn read(api: &Api, name: &str) -> Result<Self, ClusterError> {
        let answer = api.get(&definitions().path_of(name)).await?.ok()?;
        let date = answer.headers.get("date").and_then(|date| date.to_str().ok());
        let read = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok()).map(|date| date.timestamp());
        Ok(Self { name: name.to_owned(), body: answer.json(), read })
    }

    fn versions(&self) -> &[Value] {
        self.body["spec"]["versions"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn version(&self, name: &str) -> Option<&Value> {
        self.versions().iter().find(|version| version["name"] == name)
    }

    pub(super) fn is_served(&self, name: &str) -> bool {
        self.version(name).is_some_and(|version| version["served"] == true)
    }

    pub(super) fn storage(&self) -> String {
        let storage = self.versions().iter().find(|version| version["storage"] == true);
        storage.map(|version| text(&version["name"])).unwrap_or_default()
    }

    pub(super) fn stored(&self) -> Vec<String> {
        self.body["status"]["storedVersions"].as_array().into_iter().flatten().map(text).collect()
    }

    /// The other served versions, the preferred one first.
    fn others(&self, but: &str) -> Vec<String> {
        let served = self.versions().iter().filter(|version| version["served"] == true);
        let mut names: Vec<String> = served.map(|version| text(&version["name"])).filter(|name| name != but).collect();
        names.sort_by(|left, right| api_version_order(left, right));
        names
    }

    /// Returns the remaining steps.
    pub(super) fn plan(&self, wish: &RetireRequest) -> Result<Plan, Refusal> {
        let (crd, gone) = (&wish.crd, &wish.version);
        let others = self.others(gone);
        let Some(newest) = others.first() else {
            return Err(Refusal::new(
                format!("{crd} serves no version but {gone}"),
                "serve another version first, so that objects can be read and written",
            ));
        };
        let (storage, stored, listed) = (self.storage(), self.stored(), self.version(gone).is_some());
        if !listed && stored.contains(gone) {
            return Err(Refusal::new(
                format!(
                    "{crd} has no version {gone}, and storedVersions names it: objects may be stored that no client can read"
                ),
                format!("restore {gone} in spec.versions with `served: false`, and run the command again"),
            ));
        }
        let to = match &wish.to {
            Some(to) if storage != *gone && *to != storage => {
                return Err(Refusal::new(
                    format!("{crd} already stores {storage}, not {to}"),
                    "remove --to: it applies only if the retired version is the storage version",
                ));
            }
            Some(to) if !others.contains(to) => {
                return Err(Refusal::new(
                    format!("{crd} does not serve {to}"),
                    format!("--to takes one of: {}", others.join(", ")),
                ));
            }
            _ if storage != *gone => storage.clone(),
            Some(to) => to.clone(),
            None => newest.clone(),
        };
        let through = if others.contains(&to) { &to } else { newest };
        let spec = &self.body["spec"];
        let kind = Resource::cluster_wide(&text(&spec["group"]), through, &text(&spec["names"]["plural"]));
        let is_stored = stored.contains(gone) || storage == *gone;
        let steps = [
            (Step::Flip, storage == *gone),
            (Step::Migrate, is_stored),
            (Step::Clean, true),
            (Step::Trim, is_stored),
            (Step::Unserve, self.is_served(gone)),
            (Step::Check, listed),
            (Step::Remove, listed),
        ];
        let steps = steps.into_iter().filter_map(|(step, wanted)| wanted.then_some(step)).collect();
        Ok(Plan { steps, to, kind, storage, stored, listed })
    }

    /// Returns the time since the last change, by the server's clock; zero if it is unknown.
    pub(super) fn unchanged_for(&self) -> Duration {
        let entries = self.body["metadata"]["managedFields"].as_array().into_iter().flatten();
        let changes = entries.filter(|entry| entry["subresource"] != "status");
        let times = changes.map(|entry| entry["time"].as_str().and_then(|time| time.parse::<jiff::Timestamp>().ok()));
        // An entry without a time does not tell when it was written.
        let last = times.collect::<Option<Vec<_>>>().and_then(|times| times.into_iter().max());
        let (Some(read), Some(last)) = (self.read, last) else { return Duration::ZERO };
        // Both clocks have a resolution of one second.
        Duration::try_from(read.duration_since(last)).unwrap_or_default().saturating_sub(Duration::from_secs(1))
    }

    /// Returns the path of a version, with a test that it is still there.
    fn at(&self, name: &str) -> Option<(String, Value)> {
        let index = self.versions().iter().position(|version| version["name"] == name)?;
        let path = format!("/spec/versions/{index}");
        let test = json!({"op": "test", "path": format!("{path}/name"), "value": name});
        Some((path, test))
    }

    pub(super) fn flip(&self, to: &str) -> Vec<Value> {
        let mut patch = Vec::new();
        for name in self.versions().iter().map(|version| text(&version["name"])) {
            if let Some((path, test)) = self.at(&name) {
                patch.push(test);
                patch.push(json!({"op": "replace", "path": format!("{path}/storage"), "value": name == to}));
            }
        }
        patch
    }

    pub(super) fn unserve(&self, name: &str) -> Vec<Value> {
        let Some((path, test)) = self.at(name) else { return Vec::new() };
        vec![test, json!({"op": "replace", "path": format!("{path}/served"), "value": false})]
    }

    pub(super) fn remove(&self, name: &str) -> Vec<Value> {
        let Some((path, test)) = self.at(name) else { return Vec::new() };
        vec![test, json!({"op": "remove", "path": path})]
    }

    /// Applies a patch.
    pub(super) async fn change(&self, api: &Api, patch: Vec<Value>) -> Gated<()> {
        let whole = Query::new().manager("crdproof").on(definitions().path_of(&self.name));
        let answer = api.patch(&whole, PatchKind::Json, &Value::Array(patch)).await?;
        Ok(if answer.is_success() {
            Ok(())
        } else {
            let why =
                format!("the server answered the change of {} with {}: {}", self.name, answer.status, answer.message());
            Err(Refusal::new(why, "correct what the server's message names, then run the command again"))
        })
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::Step::{Check, Clean, Flip, Migrate, Remove, Trim, Unserve};
    use super::*;
    use crate::operate::migrate::Pace;

    fn plan(versions: &Value, stored: &Value, gone: &str, to: Option<&str>) -> Result<Plan, Refusal> {
        let spec = json!({"group": "example.com", "names": {"plural": "widgets"}, "versions": versions});
        let body = json!({"spec": spec, "status": {"storedVersions": stored}});
        let wish = RetireRequest {
            crd: "widgets.example.com".into(),
            version: gone.into(),
            to: to.map(str::to_owned),
            drain: Duration::ZERO,
            pace: Pace::default(),
        };
        Definition { name: wish.crd.clone(), body, read: None }.plan(&wish)
    }

    fn version(name: &str, served: bool, storage: bool) -> Value {
        json!({"name": name, "served": served, "storage": storage})
    }

    #[test]
    fn completed_steps_are_not_repeated() {
        let three = |stored: &str, served: bool| {
            json!([
                version("v1", served, stored == "v1"),
                version("v1beta1", true, false),
                version("v2", true, stored == "v2")
            ])
        };
        let steps = |plan: Result<Plan, Refusal>| plan.map(|plan| plan.steps);
        let all = plan(&three("v1", true), &json!(["v1"]), "v1", None);
        assert_eq!(all.as_ref().map(|plan| plan.to.as_str()), Ok("v2"));
        assert_eq!(steps(all), Ok(vec![Flip, Migrate, Clean, Trim, Unserve, Check, Remove]));
        let flipped = plan(&three("v2", true), &json!(["v1", "v2"]), "v1", None);
        assert_eq!(steps(flipped), Ok(vec![Migrate, Clean, Trim, Unserve, Check, Remove]));
        let trimmed = plan(&three("v2", false), &json!(["v2"]), "v1", None);
        assert_eq!(steps(trimmed), Ok(vec![Clean, Check, Remove]));
        let gone = plan(&json!([version("v2", true, true)]), &json!(["v2"]), "v1", None);
        assert_eq!(steps(gone), Ok(vec![Clean]));
        let chosen = plan(&three("v1", true), &json!(["v1"]), "v1", Some("v1beta1"));
        assert_eq!(chosen.map(|plan| (plan.to, plan.kind.version)), Ok(("v1beta1".into(), "v1beta1".into())));
        // Objects are written through a version that is served and remains.
        let hidden = json!([version("v1", true, false), version("v2", false, true), version("v1beta1", true, false)]);
        let through = plan(&hidden, &json!(["v2"]), "v1", None);
        assert_eq!(through.map(|plan| (plan.to, plan.kind.version)), Ok(("v2".into(), "v1beta1".into())));
    }

    #[test]
    fn failed_preconditions_name_a_remedy() {
        let refused = |plan: Result<Plan, Refusal>| plan.map_or_else(|refusal| refusal.why, |plan| format!("{plan:?}"));
        let alone = json!([version("v1", true, true), version("v2", false, false)]);
        assert!(refused(plan(&alone, &json!(["v1"]), "v1", None)).contains("serves no version but v1"));
        let two = json!([version("v1", true, true), version("v2", true, false)]);
        assert!(refused(plan(&two, &json!(["v1"]), "v1", Some("v3"))).contains("does not serve v3"));
        assert!(refused(plan(&two, &json!(["v1"]), "v1", Some("v1"))).contains("does not serve v1"));
        assert!(refused(plan(&two, &json!(["v1"]), "v2", Some("v2"))).contains("already stores v1"));
        let ghost = json!([version("v2", true, true)]);
        assert!(refused(plan(&ghost, &json!(["v1", "v2"]), "v1", None)).contains("no client can read"));
    }

    #[test]
    fn the_time_since_the_last_change_is_measured_by_the_servers_clock() {
        let body = json!({"metadata": {"managedFields": [
            {"time": "2026-11-16T12:00:00Z"},
            {"time": "2026-11-16T12:00:50Z", "subresource": "status"},
            {"time": "2026-11-16T12:00:30Z"}]}});
        let read = "2026-11-16T12:01:00Z".parse().ok();
        let mut definition = Definition { name: String::new(), body, read };
        assert_eq!(definition.unchanged_for(), Duration::from_secs(29));
        definition.body["metadata"]["managedFields"][0]["time"] = Value::Null;
        assert_eq!(definition.unchanged_for(), Duration::ZERO);
    }
}
