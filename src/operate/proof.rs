//! Verified migration, for clusters whose etcd cannot be read: a pass that rewrites nothing proves that nothing was
//! left to rewrite, because API servers skip a write only if the stored bytes would be the same.

use serde_json::{Value, json};

use super::migrate::{Migrated, Pace, migrate};
use crdproof_envtest::ClusterError;
use crdproof_envtest::api::{Api, PatchKind, Resource, definitions};

/// The maximum number of passes over all objects.
const PASSES: usize = 5;

/// The state of a kind before its migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// The kind at its storage version, or at a served one if that is not served.
    pub kind: Resource,
    /// The storage version.
    pub storage: String,
    /// `status.storedVersions`.
    pub stored: Vec<String>,
    /// The generation of the CRD, which must not change meanwhile.
    pub generation: i64,
}

/// The end of a migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// The last pass rewrote nothing, so nothing is stored at another version.
    Proven {
        /// All passes.
        passes: Vec<Migrated>,
    },
    /// Some objects could not be written.
    Failed {
        /// All passes.
        passes: Vec<Migrated>,
    },
    /// Every pass rewrote something: the converter is not deterministic, or the storage version is still changing.
    Restless {
        /// All passes.
        passes: Vec<Migrated>,
    },
}

/// Reads the state of a CRD for a migration.
pub async fn outlook(api: &Api, crd: &str) -> Result<Outlook, ClusterError> {
    let definition = api.get(&definitions().path_of(crd)).await?.ok()?.json();
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let versions = spec["versions"].as_array().cloned().unwrap_or_default();
    let storage = versions.iter().find(|version| version["storage"] == true);
    let served = storage.filter(|version| version["served"] == true);
    let served = served.or_else(|| versions.iter().find(|version| version["served"] == true));
    let (Some(storage), Some(served)) = (storage, served) else {
        return Err(ClusterError::Missing {
            what: format!("a served version of {crd}"),
            why: "no version is served, so nothing can be written".into(),
            help: "serve a version first".into(),
        });
    };
    let stored = definition["status"]["storedVersions"].as_array().cloned().unwrap_or_default();
    Ok(Outlook {
        kind: Resource::cluster_wide(&text(&spec["group"]), &text(&served["name"]), &text(&spec["names"]["plural"])),
        storage: text(&storage["name"]),
        stored: stored.iter().map(text).collect(),
        generation: definition["metadata"]["generation"].as_i64().unwrap_or_default(),
    })
}

/// Migrates until a pass rewrites nothing. Calls `progress` with the number of the pass and its result so far.
pub async fn migrate_until_proven(
    api: &Api,
    outlook: &Outlook,
    pace: Pace,
    progress: &mut (dyn FnMut(usize, &Migrated) + Send),
) -> Result<Proof, ClusterError> {
    let mut passes = Vec::new();
    while passes.len() < PASSES {
        let number = passes.len() + 1;
        let pass = migrate(api, &outlook.kind, pace, &mut |so_far| progress(number, so_far)).await?;
        let (moved, failed) = (pass.rewritten, pass.failures);
        passes.push(pass);
        if failed > 0 {
            return Ok(Proof::Failed { passes });
        }
        // The first pass alone proves nothing: a concurrent write may still have used the old version.
        if moved == 0 && passes.len() > 1 {
            return Ok(Proof::Proven { passes });
        }
    }
    Ok(Proof::Restless { passes })
}

/// Leaves only the storage version in `storedVersions`, if the CRD has not changed since the migration.
pub async fn trim(api: &Api, crd: &str, outlook: &Outlook) -> Result<(), ClusterError> {
    let now = self::outlook(api, crd).await?;
    if now.generation != outlook.generation || now.storage != outlook.storage {
        return Err(ClusterError::NotAllowed {
            why: format!("{crd} was changed during the migration, which voids the proof"),
            help: "migrate again".into(),
        });
    }
    let changes = json!({"status": {"storedVersions": [outlook.storage]}});
    api.patch(&definitions().part_of(crd, "status"), PatchKind::Merge, &changes).await?.ok()?;
    Ok(())
}
