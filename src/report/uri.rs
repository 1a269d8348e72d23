//! File names as URI references for SARIF.

use std::fmt::Write as _;

/// The URI of a file, and true if it is relative to the root of the sources.
pub(super) fn of(file: &str) -> (String, bool) {
    let file = file.replace('\\', "/");
    let drive = {
        let bytes = file.as_bytes();
        bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'/'
    };
    if drive {
        let (letter, rest) = file.split_at(1);
        return (format!("file:///{letter}:{}", encode(&rest[1..])), false);
    }
    if file.starts_with('/') {
        return (format!("file://{}", encode(&file)), false);
    }
    (encode(file.trim_start_matches("./")), true)
}

/// Encodes everything except unreserved characters and slashes. Also a colon: before the first slash it would end a
/// scheme, as in `git:v1.2.0:config/crd.yaml`.
fn encode(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_uri_references() {
        let relative = |uri: &str| (uri.to_owned(), true);
        assert_eq!(of("./config/crd.yaml"), relative("config/crd.yaml"));
        assert_eq!(of(r"config\crd.yaml"), relative("config/crd.yaml"));
        assert_eq!(of("a b/ü%.yaml"), relative("a%20b/%C3%BC%25.yaml"));
        assert_eq!(of("git:v1:a.yaml"), relative("git%3Av1%3Aa.yaml"));
        assert_eq!(of("/srv/a#b.yaml"), ("file:///srv/a%23b.yaml".into(), false));
        assert_eq!(of(r"C:\crd.yaml"), ("file:///C:/crd.yaml".into(), false));
    }
}
