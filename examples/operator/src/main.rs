//! The operator: `cargo run` prints the CRD, for `kubectl apply -f -`; `cargo run -- controller` runs the controller in the cluster
//! of your kubeconfig. `examples/webhook.rs` of crdproof is a webhook that you can copy.

use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        None => println!("{}", serde_json::to_string_pretty(&operator::crd())?),
        Some("controller") => operator::controller::run(kube::Client::try_default().await?).await,
        Some(other) => return Err(format!("there is no command {other:?}, only controller").into()),
    }
    Ok(())
}
