//! The Docker engine, through its own command, which handles contexts, hosts and credentials.

use std::net::Ipv4Addr;
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
    let format = "{{range .IPAM.Config}}{{.Gateway}},{{.Subnet}} {{end}}";
    let all = query(&["network", "inspect", network, "--format", format])?;
    gateway_of(&all).ok_or_else(|| missing(format!("the network {network} has no gateway")))
}

/// Reads pairs of gateway and subnet. A network may have IPv6 ones too, some engines append the prefix length to the
/// address, and some do not tell the gateway of a bridge that they have just made: it is the first address of its subnet.
fn gateway_of(all: &str) -> Option<String> {
    let bare = |text: &str| text.split('/').next().unwrap_or(text).to_owned();
    let of = |pair: &str| {
        let (gateway, subnet) = pair.split_once(',')?;
        if !gateway.is_empty() {
            return gateway.contains('.').then(|| bare(gateway));
        }
        let first: Ipv4Addr = bare(subnet).parse().ok()?;
        Some(Ipv4Addr::from_bits(first.to_bits().checked_add(1)?).to_string())
    };
    all.split_whitespace().find_map(of)
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("172.17.0.1,172.17.0.0/16 ", Some("172.17.0.1"))]
    #[case("172.18.0.1/16,172.18.0.0/16 ", Some("172.18.0.1"))]
    #[case("fc00::1,fc00::/64 172.19.0.1,172.19.0.0/16 ", Some("172.19.0.1"))]
    #[case(",172.17.0.0/16 ", Some("172.17.0.1"))]
    #[case(",fc00::/64 ", None)]
    #[case("", None)]
    fn the_gateway_is_told_or_the_first_address(#[case] all: &str, #[case] gateway: Option<&str>) {
        assert_eq!(gateway_of(all).as_deref(), gateway);
    }
}
