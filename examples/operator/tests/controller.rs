//! A test of the controller on a real API server, which crdproof-envtest installs.

use std::time::Duration;

use k8s_openapi::api::apps::v1::StatefulSet;
use kube::Api;
use kube::api::PostParams;
use operator::v2::{Database, DatabaseSpec, Storage};

#[tokio::test]
async fn a_database_gets_a_stateful_set() {
    let server = crdproof_envtest::start("1.36").await.unwrap();
    // No webhook runs here, so objects are stored at the version that the controller reads.
    let mut crd = operator::crd();
    crd.spec.conversion = None;
    for version in &mut crd.spec.versions {
        version.storage = version.name == "v2";
    }
    server.install_crds(&[serde_json::to_value(crd).unwrap()]).await.unwrap();
    let controller = tokio::spawn(operator::controller::run(server.client()));

    let storage = Storage { size_gb: Some(20), class: Some("fast".into()) };
    let spec = DatabaseSpec { engine: Some("postgres".into()), storage: Some(storage), backup: None };
    let databases = Api::<Database>::namespaced(server.client(), "default");
    databases.create(&PostParams::default(), &Database::new("orders", spec)).await.unwrap();

    let sets = Api::<StatefulSet>::namespaced(server.client(), "default");
    let created = async {
        loop {
            if let Some(set) = sets.get_opt("orders").await.unwrap() {
                return set;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let set = tokio::time::timeout(Duration::from_secs(30), created).await.expect("a StatefulSet");
    controller.abort();
    let claim = serde_json::to_value(&set.spec.unwrap().volume_claim_templates.unwrap()[0].spec).unwrap();
    assert_eq!(claim["resources"]["requests"]["storage"], "20Gi");
    assert_eq!(claim["storageClassName"], "fast");
    assert_eq!(set.metadata.owner_references.unwrap()[0].name, "orders");
}
