//! Prints the CRD, for `kubectl apply -f -`: `cargo run`. The controller and the webhook are left out;
//! `examples/webhook.rs` of crdproof is a webhook that you can copy.

fn main() -> Result<(), serde_json::Error> {
    println!("{}", serde_json::to_string_pretty(&operator::crd())?);
    Ok(())
}
