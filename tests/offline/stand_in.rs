//! Stand-ins for API servers: kubeconfigs and error responses.

use std::path::Path;

use crdproof::converter::proxy::Reply;
use serde_json::json;

/// Writes a kubeconfig named `config` for a server with this authority, or for one without TLS.
pub(crate) fn kubeconfig(folder: &Path, server: &str, authority: &str) {
    let cluster = if authority.is_empty() {
        json!({"server": server})
    } else {
        std::fs::write(folder.join("ca.crt"), authority).unwrap();
        json!({"server": server, "certificate-authority": folder.join("ca.crt")})
    };
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "stand-in",
        "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "stand-in", "context": {"cluster": "c", "user": "u"}}]});
    std::fs::write(folder.join("config"), config.to_string()).unwrap();
}

/// An error response in the format of an API server.
pub(crate) fn failure(code: u16, message: &str) -> Reply {
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code});
    Reply { status: code, ..Reply::json(&status) }
}
