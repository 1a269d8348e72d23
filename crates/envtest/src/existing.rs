//! Existing clusters. We change nothing without permission, label and track everything that we create, remove it again,
//! and never change objects of others.

mod objects;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::api::{Answer, Api, Identity, Permission, Query, Resource, definitions};
use super::kubeconfig::{self, Context};
use super::run_id::{LABEL, RunId};
use super::{ClusterError, wait};
use objects::Orphan;

/// An existing cluster, and the permissions that the user gave.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The kubeconfig files, as `KUBECONFIG` lists them.
    pub kubeconfig: Vec<PathBuf>,
    /// The context; the current one by default.
    pub context: Option<String>,
    /// Permission to make changes. Without it only a dry run is possible.
    pub allow_changes: bool,
    /// The context's name, repeated by the user, for contexts that look like production.
    pub confirmed: Option<String>,
    /// True if nothing is stored and the objects are only listed.
    pub dry_run: bool,
}

/// Parts of names of production clusters.
const PRODUCTION: [&str; 4] = ["prod", "prd", "live", "critical"];

/// The timeout of one removal.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A connection to an existing cluster.
pub struct Existing {
    api: Api,
    context: Context,
    identity: Identity,
    run: RunId,
    dry_run: bool,
    made: Mutex<Vec<Made>>,
    /// True if there may be labelled CRDs that callers created.
    adopted: AtomicBool,
    /// Kinds of others with labelled objects that callers created.
    kinds: Mutex<Vec<Resource>>,
}

/// An object that we created.
#[derive(Debug, Clone)]
struct Made {
    path: String,
    uid: String,
}

impl Access {
    /// Finds the cluster and checks the permissions, without sending a request.
    fn checked(&self) -> Result<Context, ClusterError> {
        let context = Context::of(kubeconfig::read(&self.kubeconfig)?, self.context.as_deref())?;
        if self.dry_run {
            return Ok(context);
        }
        let name = &context.name;
        if !self.allow_changes {
            return Err(ClusterError::NotAllowed {
                why: format!("refusing to change context {name:?} ({}) without --allow-changes", context.server),
                help: "add --allow-changes, or --dry-run to see what would be created".into(),
            });
        }
        let suspicious = [name, &context.cluster, &context.server].into_iter().find_map(|text| production(text));
        let twice = self.context.as_ref() == Some(name) && self.confirmed.as_ref() == Some(name);
        match suspicious {
            Some(word) if !twice => Err(ClusterError::NotAllowed {
                why: format!("context {name:?} ({}) looks like production ({word:?})", context.server),
                help: format!("name it twice if you mean it: --context {name} --confirm {name}"),
            }),
            _ => Ok(context),
        }
    }
}

/// The part of a name that looks like production.
fn production(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    // "nonprod" and "pre-prod" are not production; "product" is another word.
    let plain = ["nonprod", "non-prod", "preprod", "pre-prod", "product-", "products"];
    let text = plain.iter().fold(text, |text, word| text.replace(word, ""));
    PRODUCTION.into_iter().find(|word| text.contains(word))
}

impl Existing {
    /// Connects to the cluster. Changes nothing yet.
    pub async fn connect(access: &Access) -> Result<Self, ClusterError> {
        let context = access.checked()?;
        let api = Api::new(context.client().await?, Duration::from_secs(30));
        let identity = match api.identity().await {
            Ok(identity) => identity,
            Err(ClusterError::Refused { status: 401, .. }) => {
                let ended = context.expired().map(|day| format!("; the client certificate ended on {day}"));
                return Err(ClusterError::NotAllowed {
                    why: format!("{} did not accept the credentials{}", context.server, ended.unwrap_or_default()),
                    help: format!("renew the credentials of context {:?}", context.name),
                });
            }
            Err(error) => return Err(error),
        };
        Ok(Self {
            api,
            context,
            identity,
            run: RunId::new(),
            dry_run: access.dry_run,
            made: Mutex::default(),
            adopted: AtomicBool::new(false),
            kinds: Mutex::default(),
        })
    }

    /// The context's name and the server's address.
    pub fn shown(&self) -> String {
        format!("{} ({})", self.context.name, self.context.server)
    }

    /// The context's name.
    pub fn context(&self) -> &str {
        &self.context.name
    }

    /// The name of this run, which labels everything that it creates.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the identity that the server reports.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Raw verbs as the context's user. Objects that are created through them are not tracked.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// Labels a CRD or a namespace that the caller creates. It is found by its label and removed at the end.
    pub fn adopt(&self, object: &mut Value) {
        self.adopted.store(true, Ordering::Relaxed);
        self.label(object);
    }

    fn label(&self, object: &mut Value) {
        object["metadata"]["labels"][LABEL] = json!(self.run.to_string());
        object["metadata"]["labels"]["app.kubernetes.io/managed-by"] = json!("crdproof");
    }

    /// Returns true if an object was created by this run.
    pub fn is_ours(&self, object: &Value) -> bool {
        object["metadata"]["labels"][LABEL] == self.run.to_string().as_str()
    }

    /// Creates an object with our label, which is removed at the end. In a dry run the server only validates it.
    pub async fn create(&self, kind: &Resource, mut object: Value) -> Result<Answer, ClusterError> {
        self.label(&mut object);
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let path = kind.path_of(&name);
        let query = Query::new().manager("crdproof");
        let query = if self.dry_run { query.dry_run() } else { query };
        let answer = self.api.post(&query.on(kind.path()), &object).await?;
        if answer.status == 409 {
            return Err(ClusterError::Exists { what: path });
        }
        let answer = answer.ok()?;
        let uid = answer.json()["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push(Made { path, uid });
        Ok(answer)
    }

    /// Refuses what could not be done to its end, before anything is created: CRDs of these names must not be there, and
    /// we must be allowed to create and remove CRDs and a namespace, and to do what `more` lists.
    pub async fn check(&self, crds: &[&str], more: &[Permission]) -> Result<(), ClusterError> {
        let of_crds = ["get", "list", "create", "delete"]
            .map(|verb| Permission::new(verb, "apiextensions.k8s.io", "customresourcedefinitions"));
        let of_namespaces = ["get", "create", "delete"].map(|verb| Permission::new(verb, "", "namespaces"));
        let of_crds = of_crds.into_iter().filter(|_| !crds.is_empty());
        let needed: Vec<Permission> = of_crds.chain(of_namespaces).chain(more.iter().cloned()).collect();
        self.check_allowed(&needed).await?;
        self.check_absent(crds).await
    }

    /// Refuses CRDs that are there already.
    pub async fn check_absent(&self, crds: &[&str]) -> Result<(), ClusterError> {
        for name in crds {
            let path = definitions().path_of(name);
            match self.api.get(&path).await? {
                answer if answer.status == 404 => {}
                answer if answer.is_success() => return Err(ClusterError::Exists { what: path }),
                answer => drop(answer.ok()?),
            }
        }
        Ok(())
    }

    /// Installs CRDs that are not there and returns when every served version answers. One that is there
    /// already is refused before anything is created.
    pub async fn install_crds(&self, crds: &[Value]) -> Result<(), ClusterError> {
        let names: Vec<&str> = crds.iter().filter_map(|crd| crd["metadata"]["name"].as_str()).collect();
        self.check_absent(&names).await?;
        for crd in crds {
            self.create(&definitions(), crd.clone()).await?;
        }
        if self.dry_run { Ok(()) } else { self.api.until_served(crds).await }
    }

    /// Creates a namespace of this run, unless it has one, and returns its name.
    pub async fn create_namespace(&self) -> Result<String, ClusterError> {
        let (name, kind) = (self.run.name(), Resource::cluster_wide("", "v1", "namespaces"));
        if !self.made().contains(&kind.path_of(&name)) {
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            self.create(&kind, object).await?;
        }
        Ok(name)
    }

    /// Returns the objects that were created or, in a dry run, would be, in that order.
    pub fn made(&self) -> Vec<String> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|made| made.path.clone()).collect()
    }

    /// Removes everything that we created, the last first, and waits until it is gone. Objects that cannot be removed
    /// are listed in the error, and everything else is still removed.
    pub async fn clean_up(&self) -> Result<(), ClusterError> {
        let mut left = Vec::new();
        let kinds = std::mem::take(&mut *self.kinds.lock().unwrap_or_else(PoisonError::into_inner));
        for kind in kinds.iter().rev() {
            match self.remove_objects(kind).await {
                Ok(()) => {}
                Err(ClusterError::Left { what, .. }) => left.extend(what),
                Err(error) => left.push(format!("{} with the label {} ({error})", kind.path(), self.selector())),
            }
        }
        if self.adopted.load(Ordering::Relaxed)
            && let Err(why) = self.remove_adopted().await
        {
            left.push(format!("what carries the label {LABEL}={} ({why})", self.run));
        }
        loop {
            let Some(made) = self.made.lock().unwrap_or_else(PoisonError::into_inner).pop() else { break };
            if self.dry_run {
                continue;
            }
            if let Err(why) = remove(&self.api, &made.path, &made.uid).await {
                left.push(format!("{} ({why})", made.path));
            }
        }
        if left.is_empty() { Ok(()) } else { Err(ClusterError::Left { what: left, run: self.run.to_string() }) }
    }

    /// Removes the CRDs that callers created, including one whose creation was interrupted before the response.
    async fn remove_adopted(&self) -> Result<(), String> {
        let query = Query::new().labels(&format!("{LABEL}={}", self.run));
        let listed = self.api.get(&query.on(definitions().path())).await.and_then(Answer::ok);
        let listed = listed.map_err(|error| error.to_string())?.json();
        for item in listed["items"].as_array().into_iter().flatten() {
            let text = |name: &str| item["metadata"][name].as_str().unwrap_or_default().to_owned();
            remove(&self.api, &definitions().path_of(&text("name")), &text("uid")).await?;
        }
        Ok(())
    }
}

/// Removes one object, if it still has this uid, and waits until it is gone.
async fn remove(api: &Api, path: &str, uid: &str) -> Result<(), String> {
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background",
                         "preconditions": {"uid": uid}});
    let answer = api.delete_with(path, &options).await.map_err(|error| error.to_string())?;
    match answer.status {
        // Another client has removed or replaced it.
        404 | 409 => return Ok(()),
        _ => drop(answer.ok().map_err(|error| error.to_string())?),
    }
    let gone = wait::until(TIMEOUT, Duration::from_millis(500), || async {
        let answer = api.get(path).await.ok()?;
        (answer.status == 404 || answer.json()["metadata"]["uid"] != uid).then_some(())
    });
    gone.await.ok_or_else(|| format!("still there {} s after its deletion", TIMEOUT.as_secs()))
}

/// Removes leftovers of runs that have ended from a cluster; of all runs with `all`. Returns the paths.
pub(super) async fn sweep(access: &Access, all: bool) -> Result<Vec<String>, ClusterError> {
    let cluster = Existing::connect(access).await?;
    let kinds = [definitions(), Resource::cluster_wide("", "v1", "namespaces")];
    let mut swept = Vec::new();
    // Objects come first: a namespace cannot go while a webhook does not convert the objects in it.
    let (orphans, mut left) = objects::labelled(&cluster.api).await?;
    for Orphan { path, uid, run } in orphans {
        if !(all || run.is_some_and(|run| run.is_orphan())) {
            continue;
        }
        match if access.dry_run { Ok(()) } else { remove(&cluster.api, &path, &uid).await } {
            Ok(()) => swept.push(path),
            Err(why) => left.push(format!("{path} ({why})")),
        }
    }
    for kind in kinds {
        let listed = cluster.api.get(&Query::new().labels(LABEL).on(kind.path())).await?.ok()?.json();
        for item in listed["items"].as_array().into_iter().flatten() {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let meta = &item["metadata"];
            let run = RunId::parse(&text(&meta["labels"][LABEL]));
            if !(all || run.is_some_and(|run| run.is_orphan())) {
                continue;
            }
            let path = kind.path_of(&text(&meta["name"]));
            if !access.dry_run
                && let Err(why) = remove(&cluster.api, &path, &text(&meta["uid"])).await
            {
                left.push(format!("{path} ({why})"));
                continue;
            }
            swept.push(path);
        }
    }
    if left.is_empty() { Ok(swept) } else { Err(ClusterError::Left { what: left, run: "sweep".into() }) }
}

impl std::fmt::Debug for Existing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Existing").field("context", &self.context.name).field("run", &self.run).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(context: &str, folder: &tempfile::TempDir) -> Access {
        let path = folder.path().join("config");
        let text = format!(
            "{{apiVersion: v1, kind: Config, current-context: {context}, \
             clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:1'}}}}], users: [{{name: u, user: {{}}}}], \
             contexts: [{{name: {context}, context: {{cluster: c, user: u}}}}]}}"
        );
        std::fs::write(&path, text).unwrap();
        Access { kubeconfig: vec![path], ..Access::default() }
    }

    #[test]
    fn changes_need_permission_and_production_a_confirmation() {
        let folder = tempfile::tempdir().unwrap();
        let said = |access: &Access| access.checked().err().map(|error| error.to_string()).unwrap_or_default();
        let mut test = access("test", &folder);
        assert!(said(&test).ends_with("without --allow-changes"), "{}", said(&test));
        test.allow_changes = true;
        assert_eq!(said(&test), "");

        let mut prod = access("eu-prod-1", &folder);
        prod.allow_changes = true;
        assert_eq!(said(&prod), "context \"eu-prod-1\" (https://127.0.0.1:1) looks like production (\"prod\")");
        prod.confirmed = Some("eu-prod-1".into());
        assert_ne!(said(&prod), "", "once is not twice");
        prod.context = Some("eu-prod-1".into());
        assert_eq!(said(&prod), "");
        prod.confirmed = Some("test".into());
        assert_ne!(said(&prod), "");
        prod.dry_run = true;
        assert_eq!(said(&prod), "", "a dry run changes nothing");
    }

    #[test]
    fn production_is_recognised_by_name() {
        for name in ["prod", "EU-PRD-2", "https://live.example.com", "mission-critical"] {
            assert!(production(name).is_some(), "{name}");
        }
        for name in ["kind-kind", "nonprod-eu", "pre-prod", "products-test", "minikube"] {
            assert!(production(name).is_none(), "{name}");
        }
    }

    #[test]
    fn an_unknown_context_lists_the_known_ones() {
        let folder = tempfile::tempdir().unwrap();
        let mut access = access("test", &folder);
        access.context = Some("tset".into());
        assert_eq!(
            access.checked().unwrap_err().to_string(),
            "the kubeconfig: there is no context \"tset\", only: test"
        );
        access.kubeconfig = vec![folder.path().join("none")];
        assert!(access.checked().unwrap_err().to_string().ends_with("there is no such file"));
    }
}
