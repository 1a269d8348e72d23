//! `serve`: the field maps of a subject as a conversion webhook.

use std::path::Path;

use crate::converter::Answerer;
use crate::converter::proxy::{Call, Credentials, Listener, Reply};
use crate::subject::Subject;
use crate::subject::load::{InputError, Trouble};
use anyhow::Result;
use crdproof_envtest::runtime;

use super::args::convert::ServeArgs;
use super::console::Console;
use super::exit::Exit;
use super::subject::load;

/// Serves until interrupted.
pub(crate) fn serve(args: &ServeArgs, console: Console) -> Result<Exit> {
    // The listener's threads need the subject until the process ends.
    let subject: &'static Subject = Box::leak(Box::new(load(&args.subject())?));
    let answerer = Answerer::new(subject).map_err(|why| {
        InputError::new(Trouble::Wrong, why)
            .help("declare `converter: {fieldMap: {}}` and `fieldMaps` in the subject file")
    })?;
    let credentials = credentials(args)?;
    let handler = move |call: Call| respond(&answerer, &call);
    let trouble = |error: crdproof_envtest::ClusterError| {
        let help = error.help().to_owned();
        InputError::new(Trouble::Environment, error.to_string()).help(help)
    };
    runtime::block_on(async {
        let listener = Listener::bind(args.listen, credentials, handler).await.map_err(trouble)?;
        let config = listener.client_config("/convert");
        console.say(&format!("► {} answers conversion reviews at {}", subject.name, config["url"]));
        console.say("► health at /healthz, metrics at /metrics; Ctrl-C stops it");
        console.print(&format!("caBundle: {}\n", config["caBundle"].as_str().unwrap_or_default()))?;
        let forever = std::future::pending::<()>();
        runtime::unless_interrupted(forever).await;
        listener.stop().await;
        console.say("✔ stopped");
        Ok(Exit::Success)
    })
    .map_err(trouble)?
}

fn respond(answerer: &Answerer<'_>, call: &Call) -> Reply {
    let path = call.path.split('?').next().unwrap_or_default();
    match (call.method.as_str(), path) {
        ("GET", "/healthz" | "/readyz") => Reply::text(200, "ok\n"),
        ("GET", "/metrics") => Reply::text(200, answerer.metrics()),
        ("POST", "/convert") => match answerer.answer(&call.body) {
            Ok(answer) => Reply::json(&answer),
            Err(why) => Reply::text(400, format!("{why}\n")),
        },
        (_, "/convert") => Reply::text(405, "POST only\n"),
        _ => Reply::text(404, "there are /convert, /healthz and /metrics\n"),
    }
}

fn credentials(args: &ServeArgs) -> Result<Credentials> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| {
            let error = InputError::new(Trouble::Wrong, format!("{} cannot be read: {error}", path.display()));
            error.help("give the certificate, its key and the CA, each in PEM")
        })
    };
    match (&args.cert, &args.key) {
        (Some(certificate), Some(key)) => {
            let certificate = read(certificate)?;
            let authority = args.ca.as_deref().map_or_else(|| Ok(certificate.clone()), read)?;
            Ok(Credentials::Given { authority, key: read(key)?, certificate })
        }
        _ => Ok(Credentials::Own(args.names.clone())),
    }
}
