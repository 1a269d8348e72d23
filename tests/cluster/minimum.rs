//! `crdproof minimum` on the releases of the cache: the answer agrees with the table of features, only a few servers
//! are started, and the report says why the next lower release is too old.

use std::path::Path;
use std::process::{Command, Output};

use crdproof::subject::load::from_file;
use crdproof::subject::{UsedFeature, features_of};
use crdproof_envtest::binaries::Store;
use crdproof_schema::kubernetes::{KubeVersion, Older};
use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;

use crate::support::{check, said};

/// Subjects of `fixtures/minimum`, and the reason that the next lower release gives.
const SUBJECTS: [(&str, &str); 5] = [
    ("plain", ""),
    ("rule", "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations"),
    ("selectable", "/spec/versions/0/selectableFields"),
    ("short-name", "format"),
    ("review-v1", "must include at least one of v1beta1"),
];

/// One test for each subject, on the whole cache; none if it is empty.
pub(crate) fn trials(cached: &[KubeVersion]) -> Vec<Trial> {
    if cached.is_empty() {
        return Vec::new();
    }
    let trial = |(name, words): (&'static str, &'static str)| {
        let cached = cached.to_vec();
        Trial::ignorable_test(format!("minimum::{name}"), move || is_found(name, words, &cached))
    };
    let newest = cached.iter().max().copied();
    let asked = newest.map(|newest| {
        let command = Trial::test("minimum::a_command_is_asked", move || a_command_is_asked(newest));
        let check = Trial::test("minimum::a_check_is_asked", move || a_check_is_asked(newest));
        let hidden = Trial::test("minimum::secrets_are_redacted", move || secrets_are_redacted(newest));
        let given = Trial::test("minimum::given_binaries_are_installed", move || given_binaries_are_installed(newest));
        [command, check, hidden, given]
    });
    let all = cached.to_vec();
    let window = Trial::ignorable_test("minimum::a_window_is_found", move || a_window_is_found(&all));
    let asked = asked.into_iter().flatten().chain([window]);
    SUBJECTS.into_iter().map(trial).chain(asked).collect()
}

fn minimum(name: &str, more: &[&str]) -> Result<Output, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    command.args(["minimum", "--format", "json", "-f", &format!("fixtures/minimum/{name}/crdproof.yaml")]);
    Ok(command.args(more).current_dir(env!("CARGO_MANIFEST_DIR")).output()?)
}

fn is_found(name: &str, words: &str, cached: &[KubeVersion]) -> Result<Completion, Failed> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/minimum/{name}/crdproof.yaml"));
    let subject = from_file(&file).map_err(|error| error.to_string())?;
    let used: Vec<UsedFeature> = subject.crds.iter().flat_map(features_of).collect();
    let needed = used.iter().max_by_key(|used| used.since);

    // Name the releases, because others may be added to the cache meanwhile.
    let names: Vec<String> = cached.iter().map(ToString::to_string).collect();
    let selectors: Vec<&str> = names.iter().flat_map(|name| ["--kubernetes", name.as_str()]).collect();
    let output = minimum(name, &selectors)?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| said(&output))?;
    let enough = |release: &&KubeVersion| needed.is_none_or(|used| release.minor >= used.since.minor);
    let expected = cached.iter().filter(enough).min().map(ToString::to_string);
    check(answer["minimum"].as_str() == expected.as_deref(), format!("{expected:?} was expected: {answer:#}"))?;
    check(output.status.code() == Some(i32::from(expected.is_none())), format!("{}", output.status))?;

    let servers = answer["servers"].as_u64().unwrap_or(u64::MAX);
    let most = u64::from(cached.len().ilog2()) + 2;
    check(servers <= most, format!("{servers} servers for {} releases", cached.len()))?;
    check(answer["strays"] == serde_json::json!([]), format!("{:#}", answer["strays"]))?;
    let accounted = [&answer["tested"], &answer["notTested"]].map(|list| list.as_array().map_or(0, Vec::len));
    check(accounted.iter().sum::<usize>() == cached.len(), "a release is neither tested nor said to be not tested")?;

    let below = cached.iter().filter(|release| !enough(release)).max().map(ToString::to_string);
    check(answer["below"].as_str() == below.as_deref(), format!("{below:?} is just below: {answer:#}"))?;
    let (Some(used), Some(below)) = (needed, below) else {
        // With one release, or only new ones, no release can show the reason.
        let why = "no installed release is too old for it";
        return Ok(if needed.is_none() { Completion::Completed } else { Completion::ignored_with(why) });
    };
    let mut tested = answer["tested"].as_array().into_iter().flatten();
    let why = tested.find(|one| one["release"] == *below).ok_or("the release below was not tested")?;
    let reason = match used.feature.older {
        Older::Refuses => "refused",
        Older::Drops => "dropped",
        Older::Ignores => "admitted",
    };
    let gaps = why["gaps"].as_array().ok_or("nothing is lacking")?;
    let told = |gap: &Value| {
        gap["reason"] == reason
            && ["message", "path", "keyword"]
                .iter()
                .any(|key| gap[key].as_str().is_some_and(|text| text.contains(words)))
    };
    check(gaps.first().is_some_and(told), format!("{reason} {words}: {why:#}"))?;
    // A missing rule refuses nothing, and the report says so.
    let broken = gaps.iter().any(|gap| gap["keyword"] == "x-kubernetes-validations");
    check(name != "rule" || broken, format!("no write shows it: {why:#}"))?;
    Ok(Completion::Completed)
}

/// The exit code of a command decides, and its last line is the reason.
fn a_command_is_asked(newest: KubeVersion) -> Result<(), Failed> {
    let newest = newest.to_string();
    let ask = |script: &str| minimum("plain", &["--kubernetes", &newest, "--", "sh", "-c", script]);
    let right = "test -r \"$KUBECONFIG\" && test -n \"$CRDPROOF_NAMESPACE\"";
    let output = ask(&format!("{right} && test \"$CRDPROOF_KUBERNETES\" = {newest}"))?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| said(&output))?;
    check(output.status.success() && answer["minimum"] == newest, format!("{answer:#}"))?;
    let output = ask("echo it is too old >&2; exit 3")?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| said(&output))?;
    check(output.status.code() == Some(1), format!("{}", output.status))?;
    let words = answer["tested"][0]["gaps"][0]["message"].as_str().unwrap_or_default();
    check(words.contains("it is too old") && words.contains('3'), format!("{answer:#}"))?;
    let output = minimum("plain", &["--kubernetes", &newest, "--timeout", "2s", "--", "sleep", "300"])?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| said(&output))?;
    let words = answer["tested"][0]["gaps"][0]["message"].as_str().unwrap_or_default();
    check(output.status.code() == Some(1) && words.contains("did not end within 2 s"), format!("{answer:#}"))?;
    let output = minimum("plain", &["--kubernetes", &newest, "--", "crdproof-no-such-command"])?;
    check(output.status.code() == Some(5), said(&output))?;
    // The command is a child of the tool.
    let output = ask("kill -INT $PPID; sleep 20")?;
    check(output.status.code() == Some(6) && output.stdout.is_empty(), said(&output))
}

/// A check that reads scenarios is judged on the release.
fn a_check_is_asked(newest: KubeVersion) -> Result<(), Failed> {
    let newest = newest.to_string();
    let output = minimum("plain", &["--kubernetes", &newest, "--with", "serving/crd-accepted"])?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| said(&output))?;
    check(output.status.success() && answer["minimum"] == newest, format!("{answer:#}"))?;
    check(answer["tested"][0]["tried"] == 1, format!("{answer:#}"))
}

/// 1.23.0 to 1.23.2 empty lists below preserve-unknown-fields (V13); releases before and after do not.
fn a_window_is_found(cached: &[KubeVersion]) -> Result<Completion, Failed> {
    let [bad, fixed]: [KubeVersion; 2] = ["1.23.2", "1.23.3"].map(|text| text.parse().expect("a release"));
    let older = cached.iter().filter(|release| release.minor < bad.minor).max();
    let newest = cached.iter().max().filter(|newest| **newest >= fixed);
    let (Some(older), Some(newest), true) = (older, newest, cached.contains(&bad)) else {
        return Ok(Completion::ignored_with("needs 1.23.2, a release before 1.23 and a later one"));
    };
    let mut releases = vec![*older, bad, *newest];
    releases.extend(cached.iter().filter(|release| **release == fixed));
    releases.sort_unstable();
    releases.dedup();
    let names: Vec<String> = releases.iter().map(ToString::to_string).collect();
    let selectors: Vec<&str> = names.iter().flat_map(|name| ["--kubernetes", name.as_str()]).collect();
    let output = minimum("preserved", &selectors)?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| said(&output))?;
    check(answer["minimum"] == older.to_string(), format!("{older} was expected: {answer:#}"))?;
    check(answer["windowServers"] == 1, format!("{answer:#}"))?;
    let servers = answer["servers"].as_u64().unwrap_or(u64::MAX);
    check(servers <= u64::from(releases.len().ilog2()) + 2, format!("{servers} servers"))?;
    let excluded = answer["excluded"].as_array().into_iter().flatten();
    let seen: Vec<&Value> = excluded.filter(|one| one["seen"] != serde_json::json!([])).collect();
    check(seen.len() == 1 && seen[0]["id"] == "V13", format!("{seen:#?}"))?;
    check(seen[0]["seen"] == serde_json::json!(["1.23.2"]), format!("{seen:#?}"))?;
    check(seen[0]["windows"] == serde_json::json!(["1.23.0 to 1.23.2"]), format!("{seen:#?}"))?;
    let mut tested = answer["tested"].as_array().into_iter().flatten();
    let gaps = &tested.find(|one| one["release"] == "1.23.2").ok_or("1.23.2 was not tested")?["gaps"];
    let lost = |gap: &Value| gap["reason"] == "lost" && gap["path"] == "/spec/free/0/colour" && gap["sent"] == "red";
    check(gaps.as_array().is_some_and(|gaps| gaps.iter().any(lost)), format!("{gaps:#}"))?;
    let file = answer["subjectFile"].as_str().unwrap_or_default();
    check(!file.contains("1.23.2") && file.contains(&older.to_string()), file)?;
    Ok(Completion::Completed)
}

/// A secret of a sample in the output of a command is redacted.
fn secrets_are_redacted(newest: KubeVersion) -> Result<(), Failed> {
    const CANARY: &str = "canary-7e1f0c";
    let folder = tempfile::tempdir()?;
    let plain = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/minimum/plain");
    for name in ["crd.yaml", "crdproof.yaml", "sample.yaml"] {
        let text = std::fs::read_to_string(plain.join(name))?;
        let text = text.replace("colour: red", &format!("password: {CANARY}"));
        let text = text.replace("colour: {type: string, enum: [red, green]}", "password: {type: string}");
        std::fs::write(folder.path().join(name), text)?;
    }
    let script = format!("echo the password is {CANARY}; exit 3");
    for format in ["json", "text"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
        command.args(["minimum", "--format", format, "--kubernetes", &newest.to_string(), "--", "sh", "-c", &script]);
        let output = command.current_dir(folder.path()).output()?;
        let all = [output.stdout.as_slice(), &output.stderr].concat();
        let all = String::from_utf8_lossy(&all);
        check(output.status.code() == Some(1), all.clone())?;
        check(format == "text" || all.contains("the password is •••"), all.clone())?;
        check(!all.contains(CANARY), all.clone())?;
    }
    Ok(())
}

/// Binaries in `KUBEBUILDER_ASSETS` need no cache.
fn given_binaries_are_installed(newest: KubeVersion) -> Result<(), Failed> {
    let store = Store::default_root(&|name| std::env::var_os(name)).and_then(|root| Store::open(root).ok());
    let entries = store.map(|store| store.entries()).unwrap_or_default();
    let entry = entries.into_iter().find(|entry| entry.manifest.kubernetes == Some(newest)).ok_or("it is gone")?;
    let newest = newest.to_string();
    let empty = tempfile::tempdir()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdproof"));
    command.args(["minimum", "--format", "json", "-f", "fixtures/minimum/plain/crdproof.yaml"]);
    command.env("KUBEBUILDER_ASSETS", entry.folder).env("CRDPROOF_CACHE", empty.path());
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output()?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| said(&output))?;
    check(answer["minimum"] == newest && answer["installed"] == serde_json::json!([newest]), format!("{answer:#}"))
}
