//! `env rbac`: prints the permissions that `run --deployed` needs in an existing cluster.

use std::collections::BTreeMap;

use anyhow::Result;
use crdproof_envtest::api::Permission;

use crate::act::scenarios::deployed_permissions;
use crate::cli::args::env::EnvRbacArgs;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::subject::load_with;
use crate::converter::installed::permissions;
use crate::subject::load::Commands;

/// Prints a `ClusterRole`.
pub(super) fn rbac(args: &EnvRbacArgs, console: Console) -> Result<Exit> {
    let subject = load_with(&args.subject, Commands::NotWhileLoading)?;
    let mut needed = deployed_permissions(&subject.crds);
    // `env sweep` finds what a killed run left.
    needed.push(Permission::new("list", "apiextensions.k8s.io", "customresourcedefinitions"));
    needed.push(Permission::new("list", "", "namespaces"));
    if args.proxy {
        needed.extend(permissions(""));
    }
    console.print(&cluster_role(&args.name, &needed))?;
    Ok(Exit::Success)
}

fn cluster_role(name: &str, needed: &[Permission]) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut rules: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for permission in needed {
        let Permission { verb, group, resource, subresource, .. } = permission;
        let resource = if subresource.is_empty() { resource.clone() } else { format!("{resource}/{subresource}") };
        let verbs = rules.entry((group, resource)).or_default();
        if !verbs.contains(&verb.as_str()) {
            verbs.push(verb);
        }
    }
    let rules: String = rules
        .iter()
        .map(|((group, resource), verbs)| {
            let (group, resource, verbs) = (quoted(group), quoted(resource), verbs.join(", "));
            format!("- apiGroups: [{group}]\n  resources: [{resource}]\n  verbs: [{verbs}]\n")
        })
        .collect();
    format!(
        "# The permissions of `crdproof run --provider kubeconfig --deployed`, and of `crdproof env sweep` after it.\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {}\nrules:\n{rules}",
        quoted(name)
    )
}
