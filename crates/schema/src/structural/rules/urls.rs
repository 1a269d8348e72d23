//! URLs as the server's parser takes them apart.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::objects::{Key, Map, Opaque};
use kube_cel::cel::{Context, FunctionContext, Value};

use super::super::format::{is_request_uri, split_scheme};
use super::library::{Result, missing, one, text};

pub(super) fn register(context: &mut Context<'_>) {
    context.add_function("isURL", is_url);
    context.add_function("url", url);
    for name in ["getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery"] {
        context.add_function(name, part);
    }
}

/// A URL in its parts.
#[derive(Debug, PartialEq, Eq)]
struct Url {
    whole: String,
    scheme: String,
    host: String,
    path: String,
    query: String,
}

impl Opaque for Url {
    fn runtime_type_name(&self) -> &'static str {
        "crdproof.url"
    }
}

fn is_url(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match one(ftx)? {
        Value::String(text) => Ok(Value::Bool(is_request_uri(&text))),
        _ => Err(missing(ftx)),
    }
}

fn url(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    match one(ftx)? {
        Value::String(text) if is_request_uri(&text) => Ok(Value::Opaque(Arc::new(parse(&text)))),
        Value::String(_) => Err(ftx.error("not a URL")),
        _ => Err(missing(ftx)),
    }
}

/// Takes a valid URL apart.
fn parse(whole: &str) -> Url {
    let (scheme, rest) = split_scheme(whole).unwrap_or(("", whole));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None if rest.starts_with('/') => ("", rest),
        // What follows a scheme without a slash is opaque.
        None => ("", ""),
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Url {
        whole: whole.to_owned(),
        scheme: scheme.to_ascii_lowercase(),
        host: unescape(host, Plus::Kept),
        path: escape(path),
        query: query.to_owned(),
    }
}

fn part(ftx: &FunctionContext<'_, '_>) -> Result<Value> {
    let Value::Opaque(opaque) = one(ftx)? else {
        return Err(missing(ftx));
    };
    let url = opaque.downcast_ref::<Url>().ok_or_else(|| missing(ftx))?;
    Ok(match ftx.name {
        "getScheme" => text(&url.scheme),
        "getHost" => text(&url.host),
        "getHostname" => text(host_and_port(&url.host).0),
        "getPort" => text(host_and_port(&url.host).1),
        "getEscapedPath" => text(&url.path),
        _ => query(&url.query),
    })
}

fn host_and_port(host: &str) -> (&str, &str) {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        _ => (host, ""),
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    (bare.unwrap_or(name), port)
}

fn query(query: &str) -> Value {
    let mut values: HashMap<Key, Vec<Value>> = HashMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        // A pair with a semicolon or a broken escape is left out.
        if pair.contains(';') || !is_request_uri(&format!("/{pair}")) {
            continue;
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = Key::String(Arc::new(unescape(name, Plus::Space)));
        let values = values.entry(name).or_default();
        values.push(text(unescape(value, Plus::Space)));
    }
    let entries = values.into_iter();
    Value::Map(Map { map: Arc::new(entries.map(|(name, values)| (name, Value::List(Arc::new(values)))).collect()) })
}

#[derive(Clone, Copy, PartialEq)]
enum Plus {
    Kept,
    Space,
}

fn unescape(text: &str, plus: Plus) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3);
        let hex = digits
            .filter(|_| *byte == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match hex {
            Some(hex) => {
                plain.push(hex);
                at += 2;
            }
            None if *byte == b'+' && plus == Plus::Space => plain.push(b' '),
            None => plain.push(*byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// A path that is escaped already stays as it is; else what cannot stand in one is escaped.
fn escape(path: &str) -> String {
    let stands = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@/[]%".contains(&byte);
    if path.bytes().all(stands) {
        return path.to_owned();
    }
    let mut escaped = String::with_capacity(path.len());
    for byte in unescape(path, Plus::Kept).bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let [high, low] = [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
            escaped.push('%');
            escaped.extend([high, low].into_iter().flatten().map(|digit| digit.to_ascii_uppercase()));
        }
    }
    escaped
}
