//! The flags of each component, by release.

use std::collections::BTreeMap;
use std::path::Path;

use super::Builder;
use crdproof_schema::kubernetes::KubeVersion;

/// The file with the audit policy.
pub(super) const AUDIT_POLICY: &str = "audit-policy.json";
/// The file that audit events are written to, one per line.
pub(super) const AUDIT_LOG: &str = "audit.log";

/// File names of the certificates of etcd and its clients. Their authority signs no others.
pub(super) const ETCD_AUTHORITY: &str = "etcd-ca.crt";
pub(super) const ETCD_CERTIFICATE: &str = "etcd.crt";
pub(super) const ETCD_KEY: &str = "etcd.key";

/// The ports of one control plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ports {
    pub(super) etcd_client: u16,
    pub(super) etcd_peer: u16,
    pub(super) apiserver: u16,
    pub(super) second: u16,
    pub(super) manager: u16,
}

pub(super) fn etcd(folder: &Path, ports: Ports) -> Vec<String> {
    let client = format!("https://127.0.0.1:{}", ports.etcd_client);
    let peer = format!("https://127.0.0.1:{}", ports.etcd_peer);
    let file = |name: &str| folder.join(name).display().to_string();
    vec![
        // Other users of this machine must not read the stored data.
        format!("--cert-file={}", file(ETCD_CERTIFICATE)),
        format!("--key-file={}", file(ETCD_KEY)),
        format!("--trusted-ca-file={}", file(ETCD_AUTHORITY)),
        "--client-cert-auth".into(),
        format!("--peer-cert-file={}", file(ETCD_CERTIFICATE)),
        format!("--peer-key-file={}", file(ETCD_KEY)),
        format!("--peer-trusted-ca-file={}", file(ETCD_AUTHORITY)),
        "--peer-client-cert-auth".into(),
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        // The data need not survive a power cut.
        "--unsafe-no-fsync".into(),
    ]
}

/// The flags of an API server; a control plane may have two.
pub(super) fn apiserver(builder: &Builder, folder: &Path, etcd: u16, port: u16, version: KubeVersion) -> Vec<String> {
    let file = |name: &str| folder.join(name).display().to_string();
    let mut flags = vec![
        format!("--etcd-servers=https://127.0.0.1:{etcd}"),
        format!("--etcd-cafile={}", file(ETCD_AUTHORITY)),
        format!("--etcd-certfile={}", file(ETCD_CERTIFICATE)),
        format!("--etcd-keyfile={}", file(ETCD_KEY)),
        "--bind-address=127.0.0.1".into(),
        "--advertise-address=127.0.0.1".into(),
        format!("--secure-port={port}"),
        format!("--cert-dir={}", folder.display()),
        format!("--tls-cert-file={}", file("server.crt")),
        format!("--tls-private-key-file={}", file("server.key")),
        format!("--client-ca-file={}", file("ca.crt")),
        "--service-account-issuer=https://127.0.0.1/".into(),
        format!("--service-account-key-file={}", file("tokens.pub")),
        format!("--service-account-signing-key-file={}", file("tokens.key")),
        "--authorization-mode=RBAC".into(),
        "--service-cluster-ip-range=10.0.0.0/24".into(),
        "--disable-admission-plugins=ServiceAccount".into(),
        // Nobody reads the addresses of API servers from the service `kubernetes`.
        "--endpoint-reconciler-type=none".into(),
    ];
    if !version.at_least(20) {
        flags.push("--insecure-port=0".into());
    }
    if builder.audit_policy.is_some() {
        flags.push(format!("--audit-policy-file={}", file(AUDIT_POLICY)));
        flags.push(format!("--audit-log-path={}", file(AUDIT_LOG)));
    }
    flags.extend(switches("--feature-gates", &builder.feature_gates));
    flags.extend(switches("--runtime-config", &builder.runtime_config));
    flags.extend(builder.apiserver_flags.iter().cloned());
    flags
}

pub(super) fn controller_manager(builder: &Builder, folder: &Path, ports: Ports) -> Vec<String> {
    let kubeconfig = folder.join("admin.kubeconfig").display().to_string();
    let mut flags = vec![
        format!("--kubeconfig={kubeconfig}"),
        format!("--service-account-private-key-file={}", folder.join("tokens.key").display()),
        format!("--secure-port={}", ports.manager),
        "--bind-address=127.0.0.1".into(),
        format!("--cert-dir={}", folder.join("manager").display()),
        "--leader-elect=false".into(),
        format!("--controllers={}", builder.controllers.join(",")),
    ];
    flags.extend(switches("--feature-gates", &builder.feature_gates));
    flags
}

fn switches(flag: &str, values: &BTreeMap<String, bool>) -> Option<String> {
    let values: Vec<String> = values.iter().map(|(name, enabled)| format!("{name}={enabled}")).collect();
    (!values.is_empty()).then(|| format!("{flag}={}", values.join(",")))
}
