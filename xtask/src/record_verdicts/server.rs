//! Requests to the API server.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use ureq::http::{HeaderMap, Method, Request, Uri};
use ureq::tls::{Certificate, PemItem, parse_pem};
use ureq::{Agent, Error};

use crate::http::{self, Trust};

const JSON: &str = "application/json";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// An API server, and how to reach it.
pub(super) struct Server {
    agent: Agent,
    /// `https://` with host and port.
    base: String,
    token: String,
}

/// A response of the API server.
pub(super) struct Response {
    pub(super) code: u16,
    /// The parsed body; the text as `message` if it is not JSON.
    pub(super) body: Value,
    /// The texts of `Warning` headers, sorted.
    pub(super) warnings: Vec<String>,
}

impl Response {
    pub(super) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }
}

impl Server {
    pub(super) fn new(url: &str, ca: &Path, token_file: &Path) -> anyhow::Result<Self> {
        let uri: Uri = url.parse().with_context(|| format!("--server is not a URL: {url}"))?;
        let base = match (uri.scheme_str(), uri.authority()) {
            (Some("https"), Some(authority)) => format!("https://{authority}"),
            _ => bail!("--server must be an https URL, not {url}"),
        };
        let pem = fs::read(ca).with_context(|| format!("cannot read {}", ca.display()))?;
        let roots = certificates(&pem).with_context(|| format!("cannot read {}", ca.display()))?;
        let token = fs::read_to_string(token_file).with_context(|| format!("cannot read {}", token_file.display()))?;
        let agent = http::agent(Trust::Only(roots), Duration::from_secs(60));
        Ok(Self { agent, base, token: token.trim().to_owned() })
    }

    /// Returns the version of the server, such as `v1.36.4`.
    pub(super) fn version(&self) -> anyhow::Result<String> {
        let response = self.get("/version")?;
        if response.code != 200 {
            bail!("the server answered GET /version with {}: {}", response.code, response.message());
        }
        let version = response.body["gitVersion"].as_str().context("/version has no gitVersion")?;
        Ok(version.to_owned())
    }

    pub(super) fn get(&self, path: &str) -> anyhow::Result<Response> {
        self.call(&Method::GET, path, None, JSON)
    }

    /// Gets a list as a table, as `kubectl get` does.
    pub(super) fn get_table(&self, path: &str) -> anyhow::Result<Response> {
        self.call(&Method::GET, path, None, TABLE)
    }

    pub(super) fn delete(&self, path: &str) -> anyhow::Result<Response> {
        self.call(&Method::DELETE, path, None, JSON)
    }

    pub(super) fn send(&self, method: &Method, path: &str, body: &Value) -> anyhow::Result<Response> {
        self.call(method, path, Some(body), JSON)
    }

    /// Makes a request; a second time if the server has closed the connection.
    fn call(&self, method: &Method, path: &str, body: Option<&Value>, accept: &str) -> anyhow::Result<Response> {
        let body = body.map(Value::to_string);
        let context = || format!("{method} {}{path}", self.base);
        match self.attempt(method, path, body.as_deref(), accept) {
            Err(Error::Io(_) | Error::ConnectionFailed | Error::Protocol(_)) => {
                self.attempt(method, path, body.as_deref(), accept).with_context(context)
            }
            result => result.with_context(context),
        }
    }

    fn attempt(&self, method: &Method, path: &str, body: Option<&str>, accept: &str) -> Result<Response, Error> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Accept", accept);
        let mut response = match body {
            Some(body) => self.agent.run(request.header("Content-Type", JSON).body(body)?)?,
            None => self.agent.run(request.body(())?)?,
        };
        let warnings = warnings(response.headers());
        let text = response.body_mut().with_config().limit(u64::MAX).lossy_utf8(true).read_to_string()?;
        let body = serde_json::from_str(&text).unwrap_or_else(|_| json!({"message": text.trim()}));
        Ok(Response { code: response.status().as_u16(), body, warnings })
    }
}

fn certificates(pem: &[u8]) -> anyhow::Result<Vec<Certificate<'static>>> {
    let mut found = Vec::new();
    for item in parse_pem(pem) {
        if let PemItem::Certificate(certificate) = item? {
            found.push(certificate);
        }
    }
    if found.is_empty() {
        bail!("it contains no certificate");
    }
    Ok(found)
}

/// Returns the texts of `Warning` headers: `299 - "unrecognized format"`.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let mut texts: Vec<String> =
        headers.get_all("Warning").iter().map(|value| warning(&String::from_utf8_lossy(value.as_bytes()))).collect();
    texts.sort();
    texts
}

/// Returns the quoted text of a warning, or the whole value if it has another form.
fn warning(value: &str) -> String {
    let quoted = value.splitn(3, ' ').nth(2).unwrap_or_default();
    let text = serde_json::Deserializer::from_str(quoted).into_iter::<String>().next();
    text.and_then(Result::ok).unwrap_or_else(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_warning_is_unquoted() {
        assert_eq!(warning(r#"299 - "unrecognized format \"x\"""#), r#"unrecognized format "x""#);
        assert_eq!(warning(r#"299 - "a" "Tue, 17 Nov 2026 00:00:00 GMT""#), "a");
        assert_eq!(warning("299 - plain"), "299 - plain");
    }
}
