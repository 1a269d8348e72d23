//! Probes on a real server agree with the table of server rules.

use crdproof::checks::preflight::RuleVerdict;
use crdproof::evidence::ProbeResult;
use crdproof::operate::preflight;
use crdproof_envtest::Server;
use crdproof_envtest::local::{Binaries, Local};
use libtest_mimic::Failed;

use crate::support::{block, check, describe};

#[expect(clippy::print_stdout, reason = "what was seen on which release is the evidence for the table")]
pub(crate) fn probes_agree_with_the_table(binaries: &Binaries) -> Result<(), Failed> {
    let seen = block(async {
        let local = Local::builder(binaries.clone()).start().await.map_err(|error| describe(&error))?;
        let server = Server::Local(Box::new(local));
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let seen = preflight::inspect(&server, None, true, true, &mut |_| {}).await.map_err(|error| describe(&error));
        let left = server.api().get(crds).await.map_err(|error| describe(&error))?.json();
        server.stop().await.map_err(|error| describe(&error))?;
        let left = left["items"].as_array().map_or(0, Vec::len);
        check(left == 0, format!("{left} CRDs are left"))?;
        seen
    })?;
    for rule in &seen.rules {
        for probe in &rule.probes {
            println!("{} {} table {:?}, {} {:?}", seen.git_version, rule.id, rule.table, probe.name, probe.result);
        }
    }
    let differ = |outcome| matches!(outcome, RuleVerdict::Backported | RuleVerdict::Regressed);
    let differing: Vec<_> = seen.rules.iter().filter(|rule| differ(rule.verdict)).collect();
    check(differing.is_empty(), format!("{differing:#?}"))?;
    let decided = seen.rules.iter().flat_map(|rule| &rule.probes);
    let decided = decided.filter(|probe| !matches!(probe.result, ProbeResult::Unclear(_))).count();
    check(decided >= 10, format!("only {decided} probes told anything"))
}
