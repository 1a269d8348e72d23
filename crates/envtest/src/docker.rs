//! The Docker engine, through its own command, which handles contexts, hosts and credentials.

use std::process::Command;

use super::ClusterError;

/// Runs a Docker command and returns its output.
pub(super) fn query(arguments: &[&str]) -> Result<String, ClusterError> {
    let output = Command::new("docker").args(arguments).output().map_err(|error| missing(error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() {
        return Ok(said);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(missing(last_line(&why)))
}

/// Checks that an engine answers.
pub(super) fn check() -> Result<(), ClusterError> {
    query(&["version", "--format", "{{.Server.Version}}"]).map(drop)
}

/// Returns true if an image is available.
pub(super) fn has_image(image: &str) -> Result<bool, ClusterError> {
    check()?;
    Ok(!query(&["images", "--quiet", image])?.is_empty())
}

/// The address under which containers of a network reach this machine.
pub(super) fn gateway(network: &str) -> Result<String, ClusterError> {
    let all = query(&["network", "inspect", network, "--format", "{{range .IPAM.Config}}{{.Gateway}} {{end}}"])?;
    // A network may have an IPv6 gateway too; some engines append the prefix length to the address.
    let address =
        all.split_whitespace().map(|text| text.split('/').next().unwrap_or(text)).find(|text| text.contains('.'));
    address.map(str::to_owned).ok_or_else(|| missing(format!("the network {network} has no gateway")))
}

pub(super) fn missing(why: String) -> ClusterError {
    ClusterError::Missing {
        what: "a Docker engine".into(),
        why,
        help: "install and start Docker (`scripts/airgapped/docker-up` does both), or take the provider `local`".into(),
    }
}

pub(super) fn last_line(text: &str) -> String {
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no reason was given").to_owned()
}
