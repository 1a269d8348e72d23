//! Starts the API server of the release that the first argument names, and prints its version.

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let release = std::env::args().nth(1).unwrap_or_else(|| "1.36".into());
    let server = crdproof_envtest::start(&release).await?;
    let version = server.api().get("/version").await?.ok()?.json();
    println!("{} {}", server.version(), version["gitVersion"]);
    Ok(())
}
