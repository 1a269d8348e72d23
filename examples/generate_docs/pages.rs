//! Pages out of the registry and the types.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crdproof::checks::{self, Check, Need};
use crdproof::subject::SubjectFile;
use crdproof_schema::kubernetes::{FEATURES, KubeVersion, Older, RULES, ServerRule, Stages, Weight};
use schemars::schema_for;
use serde_json::Value;

/// The page whose table of keys is generated.
pub(crate) const SUBJECT_FILE: &str = "docs/subject-file.md";

const BEGIN: &str = "<!-- The table is written by scripts/generate-docs. -->\n";
const END: &str = "<!-- End of the table. -->\n";

/// All generated pages, by path. The page on the subject file keeps what is written by hand.
pub(crate) fn pages(subject_file: &str) -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    pages.insert("docs/checks/README.md".into(), index());
    for family in checks::families() {
        pages.insert(format!("docs/checks/{family}.md"), page(family));
    }
    pages.insert("docs/features.md".into(), features());
    pages.insert("docs/server-defects.md".into(), server_defects());
    pages.insert(SUBJECT_FILE.into(), with_keys(subject_file));
    // Editors read it at the address that `crdproof init` writes.
    let schema = schema_for!(SubjectFile).to_value();
    pages.insert("docs/subject-file.schema.json".into(), format!("{schema:#}\n"));
    pages
}

/// What each family is about.
fn about(family: &str) -> &'static str {
    match family {
        "manifest" => "The CRD documents alone: what an API server would refuse, and what it accepts and users regret.",
        "upgrade" => "An old state of the CRDs against a new one: what breaks for those who have objects and clients.",
        "converter" => "The converter as a function: what goes to another version comes back whole.",
        "webhook" => "The conversion webhook as an endpoint.",
        "serving" => "What clients of every version see on an API server.",
        "storage" => "What is stored, and how it gets from one version to the next.",
        "apply" => "Who owns which field, across versions.",
        "resilience" => "What happens when the converter is slow, wrong or away.",
        _ => "Known defects and limits of API servers.",
    }
}

fn of(family: &str) -> impl Iterator<Item = &'static Check> {
    checks::ALL.iter().copied().filter(move |check| check.family() == family)
}

fn index() -> String {
    let mut text =
        "# Checks\n\nWritten by `scripts/generate-docs` from the registry; `crdproof explain ID` says the same.\n\
                    A check names the guarantee, not the defect.\n"
            .to_owned();
    for family in checks::families() {
        let _ = write!(text, "\n## [{family}]({family}.md)\n\n{}\n\n", about(family));
        text.push_str("| check | severity | guarantee |\n| --- | --- | --- |\n");
        for check in of(family) {
            let _ = writeln!(
                text,
                "| [{}]({family}.md#{}) | {} | {} |",
                check.name(),
                check.name(),
                check.severity.as_str(),
                cell(check.title)
            );
        }
    }
    text
}

fn page(family: &str) -> String {
    let mut text = format!("# The {family} family\n\n{}\n\nWritten by `scripts/generate-docs`.\n", about(family));
    for check in of(family) {
        let _ = write!(
            text,
            "\n## {}\n\n`{}` · {} · needs {}{}\n\n**Guarantee:** {}.\n\n**Why:** {}\n\n**What to do:** {}.\n",
            check.name(),
            check.id,
            check.severity.as_str(),
            check.needs.iter().map(|need| needed(*need)).collect::<Vec<_>>().join(", "),
            check.since.map(|minor| format!(" · from Kubernetes 1.{minor}")).unwrap_or_default(),
            prose(check.title),
            prose(check.why),
            prose(check.help),
        );
        text.push_str("\n**Source:**\n\n");
        for source in check.source {
            let _ = writeln!(text, "- {}", link(source));
        }
    }
    text
}

/// Links a source from a page in `docs/checks`.
fn link(source: &str) -> String {
    let Some(page) = source.strip_prefix("docs/") else { return format!("<{source}>") };
    let words = page.replace(".md#", ": ").replace(".md", "").replace('-', " ");
    format!("[{words}](../{page})")
}

/// Lists the defects of API servers that `crdproof preflight` knows.
fn server_defects() -> String {
    let mut text = "# Known server defects\n\nDefects of API servers and controllers that matter to CRDs of several versions. \
                    `crdproof preflight` and\n`crdproof minimum` report them by these ids. Written by `scripts/generate-docs` \
                    from `src/kubernetes/rules.yaml`.\n\n\
                    [How API servers treat CRD versions](api-server-behaviour.md) describes what works as designed.\n\n\
                    | id | guarantee | releases without it | fixed in |\n| --- | --- | --- | --- |\n"
        .to_owned();
    let affected = |rule: &ServerRule| rule.bad.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let fixed = |rule: &ServerRule| match rule.good.as_slice() {
        [] => "no release".to_owned(),
        good => good.iter().map(|fix| fix.release.to_string()).collect::<Vec<_>>().join(", "),
    };
    for rule in RULES.iter() {
        let (id, anchor) = (&rule.id, rule.id.to_lowercase());
        let (title, affected, fixed) = (cell(&rule.title), affected(rule), fixed(rule));
        let _ = writeln!(text, "| [{id}](#{anchor}) | {title} | {affected} | {fixed} |");
    }
    for rule in RULES.iter() {
        let severity = match rule.severity {
            Weight::Error => "error",
            Weight::Warning => "warning",
            Weight::Note => "note",
        };
        let probes = match &rule.untested {
            Some(why) => format!("none: {}", prose(why)),
            None => rule.probes.iter().map(|probe| format!("`{probe}`")).collect::<Vec<_>>().join(", "),
        };
        let _ = write!(
            text,
            "\n## {}\n\n`server/{}` · {severity}\n\n**Guarantee:** {}.\n\n**What breaks:** {}\n\n\
             **Releases without it:** {}. Fixed in {}.\n\n**Probe:** {probes}.\n\n**Source:** <{}>\n",
            rule.id,
            rule.name,
            prose(&rule.title),
            prose(&rule.breaks),
            affected(rule),
            fixed(rule),
            rule.source,
        );
    }
    text
}

/// The table of features, for people.
fn features() -> String {
    let mut text = "# Features by release\n\nWritten by `scripts/generate-docs` from the table that `manifest/minimum-kubernetes`, \
                    `crdproof minimum` and\n`crdproof preflight` go by (`src/kubernetes/features.yaml`).\n\n\
                    *Since* is the first release in which a new CRD or a client may rely on it without asking for it. *Off* and *on* are\n\
                    beta. What an older server does: it *refuses* it, *drops* it silently, or *ignores* it. Parts of a feature share its \
                    fate\nwhere it is not there at all: a rule that calls a library is dropped by 1.24, and refused by a release that knows \
                    rules but\nnot the library. What is *seen* is recognised in manifests; the rest is a matter of servers.\n"
        .to_owned();
    let mut area = None;
    for (feature, _) in FEATURES.iter() {
        if area.replace(feature.area) != Some(feature.area) {
            let _ = write!(text, "\n## {}\n\n", feature.area.title());
            text.push_str("| feature | since | alpha | off | on | GA | removed | an older server | seen | gate |\n");
            text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
        }
        let release = |release: Option<KubeVersion>| release.map_or("–".to_owned(), |release| release.to_string());
        let Stages { alpha, beta_off, beta_on, ga, removed } = feature.stages;
        let stages = [feature.since(), alpha, beta_off, beta_on, ga, removed].map(release).join(" | ");
        let older = match feature.older {
            Older::Refuses => "refuses",
            Older::Drops => "drops",
            Older::Ignores => "ignores",
        };
        let note = feature.note.as_ref().map_or(String::new(), |note| format!(": {}", cell(note)));
        let seen = if feature.found.is_some() { "yes" } else { "–" };
        let gate = feature.gate.as_ref().map_or("–".to_owned(), |gate| format!("`{gate}`"));
        let what = cell(&feature.what);
        let _ = writeln!(text, "| [{what}]({}){note} | {stages} | {older} | {seen} | {gate} |", feature.source);
    }
    text
}

fn needed(need: Need) -> &'static str {
    match need {
        Need::Manifest => "the CRD",
        Need::Baseline => "a baseline",
        Need::Samples => "samples",
        Need::ConversionRuns | Need::Survey => "a converter, and samples or generated objects",
        Need::FieldMap => "a field map beside the converter",
        Need::Recorded => "recorded conversions of samples",
        Need::BaselineConverter => "the converter of the previous release",
        Need::Exchanges => "a webhook that runs, and samples",
        Need::Scenario(_) => "an API server",
        Need::InTreeMigration => "a control plane that migrates (`--in-tree-migration`)",
    }
}

/// Text in which nothing is taken for markup but code spans.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let escape = |(index, part): (usize, &str)| match index % 2 {
        0 => part.replace('*', "\\*").replace('<', "\\<"),
        _ => part.to_owned(),
    };
    parts.map(escape).collect::<Vec<_>>().join("`")
}

fn cell(text: &str) -> String {
    prose(text).replace('|', "\\|")
}

/// The page with its table of keys replaced.
fn with_keys(page: &str) -> String {
    let Some((before, rest)) = page.split_once(BEGIN) else { return page.to_owned() };
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    format!("{before}{BEGIN}\n{}\n{END}{after}", keys())
}

fn keys() -> String {
    let schema = schema_for!(SubjectFile).to_value();
    let mut rows = Vec::new();
    collect(&schema, &schema, "", &mut rows);
    let mut text = "| key | type | meaning |\n| --- | --- | --- |".to_owned();
    for (key, ty, meaning) in rows {
        let _ = write!(text, "\n| `{key}` | {} | {} |", cell(&ty), cell(&meaning));
    }
    text
}

/// Collects the keys of a schema and of all below it.
fn collect(root: &Value, schema: &Value, prefix: &str, rows: &mut Vec<(String, String, String)>) {
    let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, property) in properties {
        let key = format!("{prefix}{name}");
        let (target, suffix) = target(root, property);
        let ty = type_name(target, &suffix);
        let ty = if required(name) { format!("{ty}, required") } else { ty };
        let meaning = property["description"].as_str().or_else(|| target["description"].as_str()).unwrap_or_default();
        rows.push((key.clone(), ty, meaning.replace('\n', " ")));
        // The previous release's converter has the same keys again.
        if key != "converter.baseline" {
            collect(root, target, &format!("{key}{suffix}."), rows);
            if target["additionalProperties"].is_object() {
                let (inner, _) = self::target(root, &target["additionalProperties"]);
                collect(root, inner, &format!("{key}{suffix}.*."), rows);
            }
        }
    }
}

/// What a property holds: the schema behind references, options and lists, and `[]` for each list.
fn target<'a>(root: &'a Value, property: &'a Value) -> (&'a Value, String) {
    let not_null = |schema: &&Value| schema["type"] != "null";
    if let Some(reference) = property["$ref"].as_str() {
        return target(root, root.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null));
    }
    if let Some(option) = property["anyOf"].as_array().and_then(|any| any.iter().find(not_null)) {
        return target(root, option);
    }
    match property.get("items") {
        Some(items) => {
            let (inner, suffix) = target(root, items);
            (inner, format!("[]{suffix}"))
        }
        None => (property, String::new()),
    }
}

fn type_name(schema: &Value, suffix: &str) -> String {
    let words: Option<Vec<&str>> = schema["enum"].as_array().map(|all| all.iter().filter_map(Value::as_str).collect());
    let variant = |one: &Value| match (one["const"].as_str(), one["properties"].as_object()) {
        (Some(word), _) => Some(word.to_owned()),
        (None, Some(properties)) => properties.keys().next().map(|name| format!("{{{name}: …}}")),
        (None, None) => None,
    };
    let variants: Option<Vec<String>> = schema["oneOf"].as_array().map(|all| all.iter().filter_map(variant).collect());
    let words = words.map(|words| words.into_iter().map(str::to_owned).collect());
    let plain = match (&schema["type"], words.or(variants)) {
        (_, Some(words)) => words.join(" or "),
        (Value::String(ty), None) => ty.clone(),
        (Value::Array(types), None) => {
            types.iter().filter_map(Value::as_str).find(|ty| *ty != "null").unwrap_or("any").into()
        }
        _ => "any".into(),
    };
    let plain = match schema["format"].as_str() {
        Some("date") => "date".to_owned(),
        _ => plain,
    };
    if suffix.is_empty() { plain } else { format!("list of {plain}s") }
}
