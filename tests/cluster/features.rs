//! The table of features, compared with servers: each feature is sent in a CRD as a dry run, and the server must
//! accept, refuse, drop or keep it as the table says of its release.

use crdproof_envtest::Server;
use crdproof_envtest::api::{Api, Query, definitions};
use crdproof_envtest::local::{Binaries, Local};
use crdproof_schema::kubernetes::{FEATURES, Feature, KubeVersion, Older};
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::support::{block, check, crd, describe};

/// The place of a feature in a CRD, and its value there.
enum Use {
    /// A rule of the spec, with the fields that belong to it.
    Rule(Value),
    /// A value at a place below `/spec/versions/0`.
    At(&'static str, Value),
    /// A value at a place below `/spec`.
    Spec(&'static str, Value),
}

const TEXT: &str = "schema/openAPIV3Schema/properties/spec/properties/text";

/// The use of each feature that not every release has.
fn uses() -> Vec<(&'static str, Use)> {
    let rule = |rule: &str| Use::Rule(json!({"rule": rule}));
    let text = |schema: Value| Use::At(TEXT, schema);
    let webhook = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://127.0.0.1:1/convert"}}});
    vec![
        ("review-v1-only", Use::Spec("conversion", webhook)),
        ("version-deprecation", Use::At("deprecated", json!(true))),
        ("selectable-fields", Use::At("selectableFields", json!([{"jsonPath": ".spec.text"}]))),
        ("map-type", text(json!({"type": "object", "x-kubernetes-map-type": "atomic"}))),
        ("format-k8s-short-name", text(json!({"type": "string", "format": "k8s-short-name"}))),
        ("format-k8s-long-name", text(json!({"type": "string", "format": "k8s-long-name"}))),
        ("cel-rules", rule("self.text == 'a'")),
        ("cel-message-expression", Use::Rule(json!({"rule": "self.text == 'a'", "messageExpression": "self.text"}))),
        ("cel-reason", Use::Rule(json!({"rule": "self.text == 'a'", "reason": "FieldValueForbidden"}))),
        ("cel-field-path", Use::Rule(json!({"rule": "self.text == 'a'", "fieldPath": ".text"}))),
        // The rule must be valid without the key, too: a server that drops the key still validates the rest.
        ("cel-optional-old-self", Use::Rule(json!({"rule": "oldSelf == oldSelf", "optionalOldSelf": true}))),
        ("cel-quantity", rule("isQuantity(self.text)")),
        ("cel-optionals", rule("self.?text.orValue('a') == 'a'")),
        ("cel-sets", rule("sets.contains(self.list, ['a'])")),
        ("cel-strings-format", rule("'%s'.format([self.text]) == 'a' && strings.quote(self.text) != ''")),
        ("cel-ip", rule("isIP(self.text) || isCIDR(self.text)")),
        ("cel-formats", rule("!format.dns1123Label().validate(self.text).hasValue()")),
        ("cel-two-variables", rule("self.list.all(i, v, i < 3 && v != 'a')")),
        ("cel-semver", rule("isSemver(self.text)")),
        ("cel-lists-extended", rule("self.list.distinct().size() > 0")),
        ("cel-lists-includes", rule("self.list.includes('a')")),
        ("cel-reserved-words", rule("self.namespace == 'a'")),
        ("cel-mixed-numbers", rule("self.size > 1.5")),
    ]
}

/// Asserts that every feature of the table that came after 1.16 is tried here.
fn all_are_tried() -> Result<(), Failed> {
    let tried = uses();
    let told = FEATURES.iter().map(|(row, _)| row).filter(|row| row.found.is_some());
    let newer = told.filter(|row| row.since() > row.whole().and_then(Feature::since).max(Some(KubeVersion::OLDEST)));
    let missing: Vec<_> = newer.filter(|row| tried.iter().all(|(id, _)| *id != row.id)).map(|row| &row.id).collect();
    check(missing.is_empty(), format!("nobody tries {missing:?}"))
}

/// Returns how the server handled a CRD.
fn server_reaction(sent: &Value, answer: &crdproof_envtest::api::Answer, place: &str) -> Option<Older> {
    if !answer.is_success() {
        return Some(Older::Refuses);
    }
    let stored = answer.json();
    (stored.pointer(place) != sent.pointer(place)).then_some(Older::Drops)
}

async fn try_feature(api: &Api, at: &Use) -> Result<(Option<Older>, String), Failed> {
    let mut sent = crd();
    let versions = sent["spec"]["versions"].as_array_mut().ok_or("no versions")?;
    versions.truncate(1);
    sent["metadata"]["name"] = json!("tries.example.com");
    sent["spec"]["names"] = json!({"kind": "Try", "listKind": "TryList", "plural": "tries", "singular": "try"});
    let version = &mut sent["spec"]["versions"][0];
    let spec = &mut version["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let short = json!({"type": "string", "maxLength": 9});
    spec["properties"] = json!({"text": short, "namespace": short, "size": {"type": "integer"},
        "list": {"type": "array", "maxItems": 3, "items": short}});
    let place = match at {
        Use::Rule(rule) => {
            spec["x-kubernetes-validations"] = json!([rule]);
            "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations".to_owned()
        }
        Use::At(path, value) => {
            let mut at = version;
            for step in path.split('/') {
                at = &mut at[step];
            }
            *at = value.clone();
            format!("/spec/versions/0/{path}")
        }
        Use::Spec(field, value) => {
            sent["spec"][*field] = value.clone();
            format!("/spec/{field}")
        }
    };
    let answer = api.post(&Query::new().dry_run().on(definitions().path()), &sent).await?;
    Ok((server_reaction(&sent, &answer, &place), answer.json()["message"].to_string()))
}

pub(crate) fn features_behave_as_the_table_says(binaries: &Binaries) -> Result<(), Failed> {
    all_are_tried()?;
    block(async {
        let local = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        let server = Server::Local(Box::new(local));
        let release = server.version();
        let mut wrong = Vec::new();
        for (id, at) in uses() {
            let row = FEATURES.iter().map(|(row, _)| row).find(|row| row.id == id).ok_or(format!("no row {id}"))?;
            let there = row.since().is_some_and(|since| release.minor >= since.minor);
            // A feature that is kept without effect looks as if it were supported.
            let expected = Some(row.on(release)).filter(|older| !there && *older != Older::Ignores);
            let (found, said) = try_feature(&server.api(), &at).await?;
            if found != expected {
                wrong.push(format!("{id} on {release}: {expected:?} was expected, and {found:?} it is: {said:.300}"));
            }
        }
        server.stop().await.map_err(|error| describe(&error))?;
        check(wrong.is_empty(), wrong.join("\n"))
    })
}
