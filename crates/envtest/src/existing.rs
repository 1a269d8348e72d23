//! A cluster that was there before us. We are guests: nothing is done without leave, everything that we
//! make is labelled, known and removed again, and what was there is not touched.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::api::{Answer, Api, Identity, Permission, Query, Resource, definitions};
use super::kubeconfig::{self, Context};
use super::run_id::{LABEL, RunId};
use super::{ClusterError, wait};

/// An existing cluster, and what we may do there.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The kubeconfig files, as `KUBECONFIG` lists them.
    pub kubeconfig: Vec<PathBuf>,
    /// The context; the current one where it is not said.
    pub context: Option<String>,
    /// Leave to make changes. Without it only a dry run is possible.
    pub allow_changes: bool,
    /// The context's name once more, for those that look like production.
    pub confirmed: Option<String>,
    /// Nothing is stored; what would be made is listed.
    pub dry_run: bool,
}

/// Parts of names that clusters have on which people depend.
const PRODUCTION: [&str; 4] = ["prod", "prd", "live", "critical"];

/// The timeout of one removal.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A cluster that was there before us.
pub struct Existing {
    api: Api,
    context: Context,
    identity: Identity,
    run: RunId,
    dry_run: bool,
    made: Mutex<Vec<Made>>,
    /// Whether there may be things of ours that we did not create by ourselves.
    adopted: AtomicBool,
}

/// Something that we made.
#[derive(Debug, Clone)]
struct Made {
    path: String,
    uid: String,
}

impl Access {
    /// Finds the cluster and checks that it may be used, without asking it anything.
    fn checked(&self) -> Result<Context, ClusterError> {
        let context = Context::of(kubeconfig::read(&self.kubeconfig)?, self.context.as_deref())?;
        if self.dry_run {
            return Ok(context);
        }
        let name = &context.name;
        if !self.allow_changes {
            return Err(ClusterError::NotAllowed {
                why: format!("refusing to change context {name:?} ({}) without --allow-changes", context.server),
                help: "add --allow-changes, or --dry-run to see what would be made".into(),
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

/// The word by which a name looks like production.
fn production(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    // "nonprod" and "pre-prod" are what they say; "product" is a word of its own.
    let plain = ["nonprod", "non-prod", "preprod", "pre-prod", "product-", "products"];
    let text = plain.iter().fold(text, |text, word| text.replace(word, ""));
    PRODUCTION.into_iter().find(|word| text.contains(word))
}

impl Existing {
    /// Reaches the cluster. Nothing is changed yet.
    pub async fn connect(access: &Access) -> Result<Self, ClusterError> {
        let context = access.checked()?;
        let api = Api::new(context.client().await?, Duration::from_secs(30));
        let identity = match api.identity().await {
            Ok(identity) => identity,
            Err(ClusterError::Refused { status: 401, .. }) => {
                let ended = context.expired().map(|day| format!("; the client certificate ended on {day}"));
                return Err(ClusterError::NotAllowed {
                    why: format!("{} does not know who asks{}", context.server, ended.unwrap_or_default()),
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

    /// The name that everything of this run carries.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns what the server says about itself.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Raw verbs as the context's user. What is created through them is not known to us.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// Marks a CRD or a namespace as ours, for callers that create it by themselves. It is found by its label and removed
    /// at the end.
    pub fn adopt(&self, object: &mut Value) {
        self.adopted.store(true, Ordering::Relaxed);
        self.label(object);
    }

    fn label(&self, object: &mut Value) {
        object["metadata"]["labels"][LABEL] = json!(self.run.to_string());
        object["metadata"]["labels"]["app.kubernetes.io/managed-by"] = json!("crdproof");
    }

    /// Returns whether an object is of this run.
    pub fn is_ours(&self, object: &Value) -> bool {
        object["metadata"]["labels"][LABEL] == self.run.to_string().as_str()
    }

    /// Creates an object that carries our label and is removed at the end. In a dry run the server only
    /// checks it.
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
        let of_crds = of_crds.iter().filter(|_| !crds.is_empty());
        let mut missing = Vec::new();
        for permission in of_crds.chain(&of_namespaces).chain(more) {
            match self.api.is_allowed(permission).await {
                Ok(false) => missing.push(permission.to_string()),
                // A server that does not tell is asked by doing it.
                Ok(true) | Err(ClusterError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if missing.is_empty() {
            return self.check_absent(crds).await;
        }
        Err(ClusterError::NotAllowed {
            why: format!("the user of context {:?} may not {}", self.context.name, missing.join(", ")),
            help: "grant these permissions, or use a context of a user who has them".into(),
        })
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

    /// Returns what was made, or in a dry run would be, in that order.
    pub fn made(&self) -> Vec<String> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|made| made.path.clone()).collect()
    }

    /// Removes what we made, the last first, and waits until it is gone. What cannot be removed is named
    /// in the error, and everything else is removed all the same.
    pub async fn clean_up(&self) -> Result<(), ClusterError> {
        let mut left = Vec::new();
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

    /// Removes the CRDs that others created for us; also one whose creation was cut off before the answer came.
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

/// Removes one object, if it still is the one that we mean, and waits until it is gone.
async fn remove(api: &Api, path: &str, uid: &str) -> Result<(), String> {
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background",
                         "preconditions": {"uid": uid}});
    let answer = api.delete_with(path, &options).await.map_err(|error| error.to_string())?;
    match answer.status {
        // Somebody else has removed it, or put another in its place.
        404 | 409 => return Ok(()),
        _ => drop(answer.ok().map_err(|error| error.to_string())?),
    }
    let gone = wait::until(TIMEOUT, Duration::from_millis(500), || async {
        let answer = api.get(path).await.ok()?;
        (answer.status == 404 || answer.json()["metadata"]["uid"] != uid).then_some(())
    });
    gone.await.ok_or_else(|| format!("still there {} s after its deletion", TIMEOUT.as_secs()))
}

/// Removes what runs that have ended left in a cluster; all runs' things with `all`. Returns the paths.
pub(super) async fn sweep(access: &Access, all: bool) -> Result<Vec<String>, ClusterError> {
    let cluster = Existing::connect(access).await?;
    let kinds = [definitions(), Resource::cluster_wide("", "v1", "namespaces")];
    let (mut swept, mut left) = (Vec::new(), Vec::new());
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
    fn leave_is_asked_for_and_production_is_named_twice() {
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
    fn production_is_known_by_its_name() {
        for name in ["prod", "EU-PRD-2", "https://live.example.com", "mission-critical"] {
            assert!(production(name).is_some(), "{name}");
        }
        for name in ["kind-kind", "nonprod-eu", "pre-prod", "products-test", "minikube"] {
            assert!(production(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_wrong_context_lists_those_there_are() {
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
