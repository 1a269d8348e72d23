//! HTTP clients.

use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

/// The certificates that a client trusts.
pub(crate) enum Trust {
    /// The certificate authorities of the machine.
    Machine,
    /// These certificate authorities, and no others.
    Only(Vec<Certificate<'static>>),
    /// Any certificate. Only for servers on loopback that this process has started.
    Anything,
}

/// Builds a client that returns responses of any status.
///
/// Only a client that trusts the machine's certificate authorities uses the proxies of the environment: the others talk to
/// test servers.
pub(crate) fn agent(trust: Trust, timeout: Duration) -> Agent {
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = Agent::config_builder().timeout_global(Some(timeout)).http_status_as_error(false);
    let (tls, config) = match trust {
        Trust::Machine => (tls.root_certs(RootCerts::from(machine_roots())), config),
        Trust::Only(roots) => (tls.root_certs(RootCerts::from(roots)), config.proxy(None)),
        Trust::Anything => (tls.disable_verification(true), config.proxy(None)),
    };
    config.tls_config(tls.build()).build().new_agent()
}

fn machine_roots() -> Vec<Certificate<'static>> {
    let roots = rustls_native_certs::load_native_certs().certs;
    roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect()
}
