//! Each operator in both directions.

use serde_json::json;

use super::{Relation, both_ways, convert, there_and_back};
use crdproof_schema::document::{Sources, parse};
use crdproof_schema::structural::Schema;

#[test]
fn fields_are_renamed_swapped_and_moved_with_parts_of_them() {
    both_ways(
        &json!({"rename": [{"v1": ".spec.host", "v2": ".spec.endpoint.host"}]}),
        &json!({"spec": {"host": "h", "other": 1}}),
        &json!({"spec": {"endpoint": {"host": "h"}, "other": 1}}),
    );
    both_ways(
        &json!({"rename": [{"v1": ".spec.a", "v2": ".spec.b"}, {"v1": ".spec.b", "v2": ".spec.a"}]}),
        &json!({"spec": {"a": 1, "b": 2}}),
        &json!({"spec": {"a": 2, "b": 1}}),
    );
    both_ways(
        &json!({"rename": [{"v1": ".spec.server", "v2": ".spec.end"}, {"v1": ".spec.server.host", "v2": ".spec.name"}]}),
        &json!({"spec": {"server": {"host": "h", "port": 1}}}),
        &json!({"spec": {"end": {"port": 1}, "name": "h"}}),
    );
}

#[test]
fn items_of_lists_and_values_of_maps_are_renamed_one_by_one() {
    both_ways(
        &json!({"rename": [{"v1": ".spec.ports", "v2": ".spec.ends"}, {"v1": ".spec.ports[*].name", "v2": ".spec.ends[*].label"}]}),
        &json!({"spec": {"ports": [{"name": "a", "port": 1}, {"port": 2}, {"name": "c"}]}}),
        &json!({"spec": {"ends": [{"label": "a", "port": 1}, {"port": 2}, {"label": "c"}]}}),
    );
    both_ways(
        &json!({"rename": [{"v1": ".spec.m[*].l[*].a", "v2": ".spec.m[*].l[*].b"}]}),
        &json!({"spec": {"m": {"x": {"l": [{"a": 1}]}, "y": {"l": []}, "z": {}}}}),
        &json!({"spec": {"m": {"x": {"l": [{"b": 1}]}, "y": {"l": []}, "z": {}}}}),
    );
    both_ways(
        &json!({"rename": [{"v1": ".spec.names[*]", "v2": ".spec.users[*].name"}]}),
        &json!({"spec": {"names": ["a", "b"]}}),
        &json!({"spec": {"users": [{"name": "a"}, {"name": "b"}]}}),
    );
}

#[test]
fn values_are_translated_by_their_table() {
    let table = json!({"values": [{"paths": {"v1": ".spec.size", "v2": ".spec.cores"},
        "table": [{"v1": "small", "v2": 1}, {"v1": "large", "v2": 8}], "otherwise": {"stash": "example.com/size"}}]});
    both_ways(&table, &json!({"spec": {"size": "large"}}), &json!({"spec": {"cores": 8}}));
    let odd = json!({"metadata": {"name": "n"}, "spec": {"size": "odd"}});
    let there = there_and_back(&table, &odd, "v1", "v2");
    assert_eq!(there["spec"], json!({}));
    // A value that was set in the other version takes precedence over the stash.
    let mut edited = there;
    edited["spec"]["cores"] = json!(1);
    let back = convert(&table, &edited, "v2", "v1").unwrap();
    assert_eq!(back, json!({"metadata": {"name": "n"}, "spec": {"size": "small"}}));
    let accept = json!({"values": [{"paths": {"v1": ".spec.a", "v2": ".spec.a"},
        "table": [{"v1": "old", "v2": "new"}], "otherwise": "accept"}]});
    both_ways(&accept, &json!({"spec": {"a": "other"}}), &json!({"spec": {"a": "other"}}));
}

#[test]
fn a_text_is_split_into_its_parts_and_joined_again() {
    let split = json!({"split": [{"version": "v1", "path": ".spec.address", "template": "{host}:{port}",
        "parts": {"host": {"path": ".spec.host"}, "port": {"path": ".spec.port", "type": "integer"}},
        "otherwise": {"stash": "example.com/address"}}]});
    both_ways(&split, &json!({"spec": {"address": "db:5432"}}), &json!({"spec": {"host": "db", "port": 5432}}));
    for odd in ["db", "db:0080", "", ":1"] {
        there_and_back(&split, &json!({"metadata": {}, "spec": {"address": odd}}), "v1", "v2");
    }
    let parts = json!({"metadata": {}, "spec": {"host": "::1", "port": 80}});
    there_and_back(&split, &parts, "v2", "v1");
    let lists = json!({"split": [{"version": "v2", "path": ".spec.l[*].whole", "template": "{{{a}}}-{b}",
        "parts": {"a": {"path": ".spec.l[*].a", "type": "boolean"}, "b": {"path": ".spec.l[*].b", "pattern": "[a-z]*"}}}]});
    both_ways(
        &lists,
        &json!({"spec": {"l": [{"a": true, "b": "x"}, {"c": 1}, {"a": false, "b": ""}]}}),
        &json!({"spec": {"l": [{"whole": "{true}-x"}, {"c": 1}, {"whole": "{false}-"}]}}),
    );
}

#[test]
fn a_single_value_becomes_a_list_and_the_rest_of_a_list_is_kept() {
    let wrap = json!({"wrap": [{"paths": {"v1": ".spec.rule", "v2": ".spec.rules"}, "list": "v2",
        "otherwise": {"stash": "example.com/rules"}}]});
    both_ways(&wrap, &json!({"spec": {"rule": {"a": 1}}}), &json!({"spec": {"rules": [{"a": 1}]}}));
    for list in [json!([]), json!([1, 2, 3]), json!([null])] {
        let many = json!({"metadata": {}, "spec": {"rules": list}});
        let mut there = there_and_back(&wrap, &many, "v2", "v1");
        if many["spec"]["rules"][1] == 2 {
            assert_eq!(there["spec"]["rule"], 1);
            there["spec"]["rule"] = json!(9);
            let back = convert(&wrap, &there, "v1", "v2").unwrap();
            assert_eq!(back["spec"]["rules"], json!([9, 2, 3]), "hidden items outlive an edit of the first");
        }
    }
}

#[test]
fn nulls_stay_nulls_unless_a_row_says_otherwise() {
    let paths = json!({"v1": ".spec.a", "v2": ".spec.b"});
    let table = json!({"values": [{"paths": paths, "table": [{"v1": "x", "v2": "y"}]}]});
    both_ways(&table, &json!({"spec": {"a": null}}), &json!({"spec": {"b": null}}));
    let named = json!({"values": [{"paths": paths, "table": [{"v1": "none", "v2": null}]}]});
    both_ways(&named, &json!({"spec": {"a": "none"}}), &json!({"spec": {"b": null}}));
    assert!(convert(&named, &json!({"spec": {"a": null}}), "v1", "v2").is_err());
}

#[test]
fn another_spelling_is_accepted_if_declared() {
    let wrap = json!({"wrap": [{"paths": {"v1": ".spec.a", "v2": ".spec.b"}, "list": "v2", "otherwise": "accept"}]});
    assert_eq!(convert(&wrap, &json!({"spec": {"b": []}}), "v2", "v1"), Ok(json!({"spec": {}})));
    assert!(convert(&wrap, &json!({"spec": {"b": [1, 2]}}), "v2", "v1").is_err());
    let text =
        json!({"stringify": [{"paths": {"v1": ".spec.a", "v2": ".spec.b"}, "text": "v2", "otherwise": "accept"}]});
    let read = convert(&text, &json!({"spec": {"b": "{ \"x\": 1 }"}}), "v2", "v1");
    assert_eq!(read, Ok(json!({"spec": {"a": {"x": 1}}})));
}

#[test]
fn amounts_change_their_unit() {
    let units = |left: &str, right: &str, otherwise: serde_json::Value| {
        json!({"units": [{"paths": {"v1": ".spec.a", "v2": ".spec.b"}, "units": {"v1": left, "v2": right},
            "otherwise": otherwise}]})
    };
    let of = |field: &str, value: serde_json::Value| json!({"metadata": {}, "spec": {field: value}});
    let refuse = json!("refuse");
    both_ways(&units("seconds", "duration", refuse.clone()), &of("a", json!(5400)), &of("b", json!("1h30m0s")));
    both_ways(&units("bytes", "quantity", refuse.clone()), &of("a", json!(10_485_760)), &of("b", json!("10Mi")));
    both_ways(&units("seconds", "milliseconds", refuse), &of("a", json!(-3)), &of("b", json!(-3000)));
    let accept = units("seconds", "duration", json!("accept"));
    assert_eq!(convert(&accept, &of("b", json!("60s")), "v2", "v1").unwrap(), of("a", json!(60)));
    let stash = units("seconds", "duration", json!({"stash": "example.com/b"}));
    for text in ["60s", "1.5s", "1h", "soon", ""] {
        there_and_back(&stash, &of("b", json!(text)), "v2", "v1");
    }
}

#[test]
fn structures_become_strings_and_back() {
    let text = |format: &str| {
        json!({"stringify": [{"paths": {"v1": ".spec.l[*]", "v2": ".spec.l[*]"}, "text": "v2", "format": format,
            "otherwise": {"stash": "example.com/l"}}]})
    };
    both_ways(
        &text("json"),
        &json!({"spec": {"l": [{"b": [1, 2.5], "a": "ü"}, 7]}}),
        &json!({"spec": {"l": ["{\"a\":\"ü\",\"b\":[1,2.5]}", "7"]}}),
    );
    let yaml = json!({"metadata": {}, "spec": {"l": ["a: 1\nb: [x]\n", "{\"a\":1}"]}});
    let there = there_and_back(&text("yaml"), &yaml, "v2", "v1");
    assert_eq!(there["spec"]["l"], json!([{"a": 1, "b": ["x"]}, {"a": 1}]));
    there_and_back(&text("json"), &json!({"metadata": {}, "spec": {"l": ["{"]}}), "v2", "v1");
}

#[test]
fn expressions_compute_the_rest() {
    let compute = json!({"compute": [{
        "v1": {"path": ".spec.percent", "expression": "int(self.spec.share * 100.0)"},
        "v2": {"path": ".spec.share", "expression": "double(self.spec.percent) / 100.0"},
    }]});
    both_ways(&compute, &json!({"spec": {"percent": 25}}), &json!({"spec": {"share": 0.25}}));
    both_ways(&compute, &json!({"spec": {}}), &json!({"spec": {}}));
}

#[test]
fn constants_and_defaults_are_set_in_existing_objects() {
    let fixed = json!({"constant": [{"version": "v2", "path": ".spec.l[*].kind", "value": "Rule"}],
        "default": [{"version": "v2", "path": ".spec.replicas", "value": 1}]});
    both_ways(
        &fixed.clone(),
        &json!({"spec": {"l": [{}, {"a": 1}]}}),
        &json!({"spec": {"l": [{"kind": "Rule"}, {"a": 1, "kind": "Rule"}], "replicas": 1}}),
    );
    both_ways(&fixed, &json!({"spec": {"replicas": 2}}), &json!({"spec": {"replicas": 2}}));
    both_ways(&fixed, &json!({"status": {}}), &json!({"status": {}}));
}

#[test]
fn fields_are_stashed_and_lost_as_declared() {
    let map = json!({
        "rename": [{"v1": ".spec.host", "v2": ".spec.endpoint.host"}],
        "stash": [{"from": "v2", "to": "v1", "path": ".spec.password", "annotation": "example.com/p"}],
        "lost": [{"from": "v1", "to": "v2", "path": ".spec.old", "reason": "x", "until": "2027-01-01"}],
    });
    let rich = json!({"metadata": {}, "spec": {"endpoint": {"host": "h"}, "password": {"a": [1, "ü"]}}});
    let poor = there_and_back(&map, &rich, "v2", "v1");
    assert_eq!(poor["spec"], json!({"host": "h"}));
    assert_eq!(poor["metadata"]["annotations"]["example.com/p"], "{\"a\":[1,\"ü\"]}");
    assert_eq!(convert(&map, &json!({"spec": {"old": 1}}), "v1", "v2"), Ok(json!({"spec": {}})));
    let by_hand = json!({"metadata": {"annotations": {"example.com/p": "not JSON"}}, "spec": {}});
    assert_eq!(convert(&map, &by_hand, "v1", "v2"), Ok(by_hand));
}

#[test]
fn removed_items_are_not_restored_by_their_stash() {
    let stash = json!({"stash": [{"from": "v2", "to": "v1", "path": ".spec.l[*].x", "annotation": "example.com/x"}]});
    let rich = json!({"metadata": {}, "spec": {"l": [{"a": 1, "x": 1}, {"a": 2}, {"a": 3, "x": 3}]}});
    let mut poor = there_and_back(&stash, &rich, "v2", "v1");
    assert_eq!(poor["spec"]["l"], json!([{"a": 1}, {"a": 2}, {"a": 3}]));
    poor["spec"]["l"].as_array_mut().unwrap().truncate(2);
    let back = convert(&stash, &poor, "v1", "v2").unwrap();
    assert_eq!(back["spec"]["l"], json!([{"a": 1, "x": 1}, {"a": 2}]));
}

#[test]
fn a_stash_finds_items_of_a_keyed_list_by_key() {
    let mut sources = Sources::default();
    let id = sources.add(
        "schema",
        "type: object
properties:
  spec:
    type: object
    properties:
      ends:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [label]
        items: {type: object, properties: {label: {type: string}, port: {type: integer}, deep: {type: integer}}}
",
    );
    let schema = Schema::read(&parse(&sources, id).unwrap()[0]);
    let map = super::map(&json!({
        "rename": [{"v1": ".spec.ports", "v2": ".spec.ends"}, {"v1": ".spec.ports[*].name", "v2": ".spec.ends[*].label"}],
        "stash": [{"from": "v2", "to": "v1", "path": ".spec.ends[*].deep", "annotation": "a/deep"}],
    }));
    let relation = Relation::new([&map], |version| (version == "v2").then_some(&schema)).unwrap();
    let rich = json!({"metadata": {}, "spec": {"ends": [
        {"label": "x", "deep": 1}, {"label": "y"}, {"label": "z", "deep": 3}]}});
    let mut poor = relation.convert(&rich, "v2", "v1").unwrap();
    assert_eq!(poor["metadata"]["annotations"]["a/deep"], r#"[[[{"label":"x"}],1],[[{"label":"z"}],3]]"#);
    assert_eq!(relation.convert(&poor, "v1", "v2").unwrap(), rich);
    poor["spec"]["ports"] = json!([{"name": "z"}, {"name": "new"}, {"name": "y"}]);
    let back = relation.convert(&poor, "v1", "v2").unwrap();
    assert_eq!(back["spec"]["ends"], json!([{"label": "z", "deep": 3}, {"label": "new"}, {"label": "y"}]));
    // Items with equal keys are not a keyed list; then their indexes identify them.
    let twins = json!({"metadata": {}, "spec": {"ends": [{"label": "x", "deep": 1}, {"label": "x", "deep": 2}]}});
    let poor = relation.convert(&twins, "v2", "v1").unwrap();
    assert_eq!(relation.convert(&poor, "v1", "v2").unwrap(), twins);
}

#[test]
fn a_leftover_annotation_does_not_replace_the_field() {
    let operators = json!({"stash": [{"from": "v2", "to": "v1", "path": ".spec.p", "annotation": "a/p"}]});
    let stale = json!({"metadata": {"annotations": {"a/p": "1"}}, "spec": {}});
    assert_eq!(convert(&operators, &stale, "v2", "v1").unwrap(), json!({"metadata": {}, "spec": {}}));
    assert_eq!(convert(&operators, &stale, "v1", "v2").unwrap(), json!({"metadata": {}, "spec": {"p": 1}}));
}

#[test]
fn gathered_lists_are_restored_by_the_stashed_difference() {
    let gather = json!({
        "gather": [{"version": "v1", "into": ".spec.patches", "lists": [
            {"path": ".spec.patches"},
            {"path": ".spec.merges", "under": "patch", "stringify": "patch"},
            {"path": ".spec.jsons", "stringify": "patch"},
        ]}],
        "stash": [{"from": "v1", "to": "v2", "path": ".", "annotation": "example.com/v1"},
                  {"from": "v2", "to": "v1", "path": ".", "annotation": "example.com/v2"}],
    });
    let old = json!({"metadata": {}, "spec": {
        "patches": [{"patch": "p"}],
        "merges": [{"kind": "A"}],
        "jsons": [{"patch": [{"op": "remove"}], "target": {"kind": "B"}}],
    }});
    let mut new = there_and_back(&gather, &old, "v1", "v2");
    assert_eq!(
        new["spec"],
        json!({"patches": [
            {"patch": "p"},
            {"patch": "{\"kind\":\"A\"}"},
            {"patch": "[{\"op\":\"remove\"}]", "target": {"kind": "B"}},
        ]})
    );
    // An edit of the single list takes precedence: all its items stay together.
    new["spec"]["patches"].as_array_mut().unwrap().remove(0);
    let back = convert(&gather, &new, "v2", "v1").unwrap();
    assert_eq!(back["spec"]["patches"], new["spec"]["patches"]);
    let unusual = json!({"metadata": {}, "spec": {"merges": [{"kind": "C"}]}});
    there_and_back(&gather, &unusual, "v2", "v1");
}
