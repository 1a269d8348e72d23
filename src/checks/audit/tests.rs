use serde_json::{Value, json};

use super::*;

const TODAY: Date = jiff::civil::date(2026, 1, 15);

/// A CRD without problems, with one change.
fn changed(change: impl FnOnce(&mut Value)) -> CrdInventory {
    let mut crd = json!({"metadata": {"name": "widgets.example.com"}, "spec": {"group": "example.com",
        "names": {"kind": "Widget", "plural": "widgets"}, "versions": [
            {"name": "v1", "served": true, "storage": false}, {"name": "v2", "served": true, "storage": true}]},
        "status": {"storedVersions": ["v2"], "conditions": [{"type": "Established", "status": "True"},
            {"type": "NamesAccepted", "status": "True"}]}});
    change(&mut crd);
    CrdInventory::read(&crd)
}

fn audited(inventory: &CrdInventory) -> Audited {
    judge(inventory, TODAY, 30)
}

/// Returns the facts that need attention.
fn said(audited: &Audited) -> Vec<(Level, &str)> {
    let facts = audited.facts.iter().filter(|fact| fact.level != Level::Ok);
    facts.map(|fact| (fact.level, fact.text.as_str())).collect()
}

#[track_caller]
fn only(inventory: &CrdInventory, level: Level, words: &str) -> Audited {
    let audited = audited(inventory);
    let said = said(&audited);
    assert!(said.len() == 1 && said[0].0 == level && said[0].1.contains(words), "{said:?} does not say {words:?}");
    audited
}

fn written(object: &Value) -> CrdInventory {
    let mut inventory = changed(|_| ());
    inventory.add(object);
    inventory
}

fn entry(version: &str) -> Value {
    json!({"metadata": {"name": "a", "managedFields": [{"manager": "alice", "apiVersion": format!("example.com/{version}")}]}})
}

#[test]
fn a_crd_without_problems_is_clean() {
    let audited = audited(&written(&entry("v1")));
    assert_eq!((said(&audited), audited.worst()), (vec![], Level::Ok));
    assert_eq!((audited.next.len(), audited.objects), (0, Some(1)));
    assert!(audited.facts.iter().any(|fact| fact.text == "managedFields at v1: alice 1"), "{audited:?}");
}

#[test]
fn other_stored_versions_are_reported() {
    let served = changed(|crd| crd["status"]["storedVersions"] = json!(["v1", "v2"]));
    let audited = only(&served, Level::Warning, "may still be stored at v1: an upgrade that removes it strands them");
    assert_eq!(audited.next, ["crdproof migrate widgets.example.com --trim"]);

    let unserved = changed(|crd| {
        crd["status"]["storedVersions"] = json!(["v1", "v2"]);
        crd["spec"]["versions"][0]["served"] = json!(false);
    });
    let audited = only(&unserved, Level::Warning, "v1, which is not served");
    assert_eq!(audited.next.last().unwrap(), "crdproof retire widgets.example.com v1");

    let gone = changed(|crd| crd["status"]["storedVersions"] = json!(["v0", "v2"]));
    only(&gone, Level::Error, "names v0, which the CRD does not have");
    let other = changed(|crd| crd["status"]["storedVersions"] = json!(["v1"]));
    assert!(said(&self::audited(&other)).iter().any(|(_, text)| text.contains("does not name the storage version v2")));
}

#[test]
fn entries_of_a_removed_version_block_apply() {
    let audited = only(&written(&entry("v0")), Level::Error, "v0, which is gone, block server-side apply: alice 1");
    assert_eq!(audited.next, ["crdproof retire widgets.example.com v0"]);
    assert_eq!(audited.facts.last().unwrap().objects.as_ref().unwrap().first, ["a"]);

    let mut unserved = changed(|crd| crd["spec"]["versions"][0]["served"] = json!(false));
    unserved.add(&entry("v1"));
    only(&unserved, Level::Warning, "once it is removed");
}

#[test]
fn manifests_at_a_removed_version_are_reported() {
    let applied = |version: &str| {
        let mut object = entry("v2");
        let text = json!({"apiVersion": format!("example.com/{version}")}).to_string();
        object["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": text});
        written(&object)
    };
    only(&applied("v0"), Level::Warning, "1 objects were last applied at v0, which is gone");
    assert_eq!(said(&audited(&applied("v1"))), []);
}

#[test]
fn owners_at_a_removed_version_are_reported() {
    let owned = |version: &str| {
        let mut inventory = changed(|_| ());
        let owner = json!({"apiVersion": format!("example.com/{version}"), "kind": "Widget"});
        inventory.add_owned("pods", &json!({"metadata": {"name": "p", "ownerReferences": [owner]}}));
        inventory
    };
    only(&owned("v0"), Level::Error, "1 objects name an owner at v0, which is gone");
    assert_eq!(said(&audited(&owned("v1"))), []);
}

#[test]
fn unhealthy_conditions_are_reported() {
    let with = |name: &str, status: &str| {
        let condition = json!({"type": name, "status": status, "reason": "Why", "message": "words"});
        changed(|crd| crd["status"]["conditions"] = json!([condition]))
    };
    only(&with("Established", "False"), Level::Error, "is not Established (Why: words)");
    only(&with("NamesAccepted", "False"), Level::Error, "is not NamesAccepted");
    only(&with("NonStructuralSchema", "True"), Level::Error, "not structural");
    only(&with("Terminating", "True"), Level::Error, "being deleted");
    only(&with("KubernetesAPIApprovalPolicyConformant", "False"), Level::Warning, "protected group");
    for (name, status) in [
        ("Established", "True"),
        ("NonStructuralSchema", "False"),
        ("Terminating", "False"),
        ("KubernetesAPIApprovalPolicyConformant", "True"),
    ] {
        assert_eq!(said(&audited(&with(name, status))), [], "{name}");
    }
    only(&changed(|crd| crd["status"]["conditions"] = json!([])), Level::Unknown, "no conditions");
}

#[test]
fn unread_kinds_are_reported() {
    let not_read = |why: NotRead| CrdInventory { not_read: Some(why), ..changed(|_| ()) };
    let audited = only(&not_read(NotRead::Forbidden("may not".into())), Level::Unknown, "not read: may not");
    assert_eq!(audited.objects, None);
    only(&not_read(NotRead::Broken("500".into())), Level::Error, "cannot be listed: 500");
    only(&not_read(NotRead::Unavailable("none".into())), Level::Unknown, "not read: none");
    only(&written(&json!({"metadata": {"name": "a"}})), Level::Unknown, "--show-managed-fields");
}

#[test]
fn a_crd_without_served_or_storage_version_is_reported() {
    let unserved = changed(|crd| {
        for version in [0, 1] {
            crd["spec"]["versions"][version]["served"] = json!(false);
        }
    });
    only(&unserved, Level::Error, "no version is served");
    only(&changed(|crd| crd["spec"]["versions"] = json!([])), Level::Error, "no version is the storage version");
}

mod webhooks {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    /// A caBundle whose certificate expires this many days after today.
    fn bundle(days: &[i64]) -> String {
        let pem = |days: &i64| {
            let key = rcgen::KeyPair::generate().unwrap();
            let mut wish = rcgen::CertificateParams::new(Vec::new()).unwrap();
            let end = TODAY.checked_add(jiff::Span::new().days(*days)).unwrap();
            let (month, day) = (end.month().unsigned_abs(), end.day().unsigned_abs());
            wish.not_after = rcgen::date_time_ymd(i32::from(end.year()), month, day);
            wish.self_signed(&key).unwrap().pem()
        };
        STANDARD.encode(days.iter().map(pem).collect::<String>())
    }

    fn called(change: impl FnOnce(&mut Value)) -> CrdInventory {
        changed(|crd| {
            crd["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"service": {"namespace": "system", "name": "hook"}, "caBundle": bundle(&[400])}}});
            change(&mut crd["spec"]["conversion"]["webhook"]);
        })
    }

    fn at(url: &str) -> CrdInventory {
        let url = url.to_owned();
        called(|hook| hook["clientConfig"] = json!({"url": url, "caBundle": bundle(&[400])}))
    }

    #[test]
    fn a_correct_webhook_names_its_service() {
        let audited = audited(&called(|_| ()));
        assert_eq!(said(&audited), []);
        assert!(audited.facts.iter().any(|fact| fact.text.ends_with("service system/hook")), "{audited:?}");
    }

    #[test]
    fn bundles() {
        let with = |bundle: Value| called(|hook| hook["clientConfig"]["caBundle"] = bundle);
        only(&with(Value::Null), Level::Error, "there is no caBundle");
        only(&with(json!("Cg==")), Level::Error, "there is no caBundle");
        only(&with(json!("%")), Level::Error, "is not base64");
        only(&with(json!(STANDARD.encode("hello"))), Level::Error, "holds no PEM certificate");
        only(&with(json!(bundle(&[-1]))), Level::Error, "expired on 2026-01-14");
        only(&with(json!(bundle(&[-1, 400]))), Level::Warning, "expired on 2026-01-14");
        only(&with(json!(bundle(&[30]))), Level::Warning, "in 30 days");
        assert_eq!(said(&audited(&with(json!(bundle(&[31]))))), []);
        let bare = called(|hook| hook["clientConfig"] = json!({"url": "https://hook.example.com/"}));
        only(&bare, Level::Warning, "authorities of each API server's machine");
    }

    #[test]
    fn addresses() {
        only(&at("http://hook.example.com/"), Level::Error, "not https");
        for url in ["https://localhost/x", "https://127.0.0.1:9443", "https://[::1]:9443/x"] {
            only(&at(url), Level::Warning, "own machine");
        }
        let audited = audited(&at("https://user:word@hook.example.com:9443/path?token=secret"));
        assert_eq!(said(&audited), []);
        assert!(audited.facts.iter().any(|fact| fact.text.ends_with("at hook.example.com:9443")), "{audited:?}");
        only(
            &called(|hook| hook["clientConfig"] = json!({"caBundle": bundle(&[400])})),
            Level::Error,
            "without a service",
        );
    }

    #[test]
    fn review_versions() {
        let with = |versions: Value| called(|hook| hook["conversionReviewVersions"] = versions);
        only(&with(json!(["v1beta1"])), Level::Warning, "[v1beta1], without v1");
        only(&with(json!(["v7"])), Level::Error, "support none of them");
        assert_eq!(said(&audited(&with(json!(["v1beta1", "v1"])))), []);
    }
}
