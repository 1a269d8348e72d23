//! `format`: the known names, and the values that a server accepts for each.
//!
//! The meaning of a format is what the server's own parsers accept, not the standard behind its name: `ipv4` accepts
//! leading zeros, `duration` accepts "5 seconds and some".

mod codes;
mod email;
mod network;
mod time;
mod uri;

use std::borrow::Cow;

use super::{Schema, Type};
use crate::kubernetes::KubeVersion;

pub(super) use time::{Moment, date, date_time, date_time_for_rules, duration, go_duration};
pub use uri::is_request_uri;
pub(super) use uri::split_scheme;

/// A format that a server enforces.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    /// A format of strings, by its test.
    Text(fn(&str) -> bool),
    /// A format of numbers.
    Number(Width),
}

/// The width of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// 32 bits, integer.
    Int32,
    /// 64 bits, integer.
    Int64,
    /// 32 bits, floating point.
    Float,
    /// 64 bits, floating point.
    Double,
}

impl Format {
    /// The format of a schema node, if a server of this version enforces it there.
    pub(super) fn of(schema: &Schema, kubernetes: KubeVersion) -> Option<Self> {
        let name = schema.format.as_deref().filter(|name| !name.is_empty())?;
        if schema.int_or_string {
            return text(name, kubernetes).map(Self::Text);
        }
        match schema.ty {
            None | Some(Type::String) => text(name, kubernetes).map(Self::Text),
            Some(Type::Integer) if enforces_width(kubernetes) => match name {
                "int32" => Some(Self::Number(Width::Int32)),
                "int64" => Some(Self::Number(Width::Int64)),
                _ => None,
            },
            Some(Type::Number) if enforces_width(kubernetes) => match name {
                "float" => Some(Self::Number(Width::Float)),
                "double" => Some(Self::Number(Width::Double)),
                _ => None,
            },
            Some(_) => None,
        }
    }
}

/// Returns true if servers know the format of a schema node. They warn about any other, and do not check it.
pub fn is_known_format(schema: &Schema) -> bool {
    schema.format.as_ref().is_none_or(String::is_empty) || Format::of(schema, KubeVersion::NEWEST).is_some()
}

/// The test of a format of strings, if a server of this version enforces one at a schema node.
pub(crate) fn text_format(schema: &Schema, kubernetes: KubeVersion) -> Option<fn(&str) -> bool> {
    match Format::of(schema, kubernetes)? {
        Format::Text(test) => Some(test),
        Format::Number(_) => None,
    }
}

/// Returns true if values are checked against the width of their numeric type.
pub(super) fn enforces_width(kubernetes: KubeVersion) -> bool {
    kubernetes.at_least(36)
}

/// Dashes in the name of a format do not count.
fn text(name: &str, kubernetes: KubeVersion) -> Option<fn(&str) -> bool> {
    let name = if name.contains('-') { Cow::Owned(name.replace('-', "")) } else { Cow::Borrowed(name) };
    Some(match name.as_ref() {
        "bsonobjectid" => codes::is_bson_object_id,
        "uri" => uri::is_request_uri,
        "email" => email::is_email,
        "hostname" => network::is_hostname,
        "ipv4" => network::is_ipv4,
        "ipv6" => network::is_ipv6,
        "cidr" => network::is_cidr,
        "mac" => network::is_mac,
        "uuid" => codes::is_uuid,
        "uuid3" => codes::is_uuid3,
        "uuid4" => codes::is_uuid4,
        "uuid5" => codes::is_uuid5,
        "isbn" => codes::is_isbn,
        "isbn10" => codes::is_isbn10,
        "isbn13" => codes::is_isbn13,
        "creditcard" => codes::is_credit_card,
        "ssn" => codes::is_ssn,
        "hexcolor" => codes::is_hex_color,
        "rgbcolor" => codes::is_rgb_color,
        "byte" => codes::is_base64,
        "password" => |_| true,
        "date" => time::is_date,
        "duration" => time::is_duration,
        "datetime" => time::is_date_time,
        "k8sshortname" if kubernetes.at_least(35) => codes::is_short_name,
        "k8slongname" if kubernetes.at_least(35) => codes::is_long_name,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Values that the recorded verdicts do not contain.
    #[rstest]
    #[case("uri", "http://[fe80::1%25en0]:80/", true)]
    #[case("uri", "http://[1.2.3.4]/", false)]
    #[case("uri", "http://a[::1]/", false)]
    #[case("uri", "http://a:1:2/", false)]
    #[case("uri", "mongodb://a:1,b:2/", true)]
    #[case("uri", "http://a:/", true)]
    #[case("uri", "http://u%41:p@h/", true)]
    #[case("uri", "http://u%4:p@h/", false)]
    #[case("uri", "http://h%41/", false)]
    #[case("uri", "http://h%C3%BC/", true)]
    #[case("uri", ":a", false)]
    #[case("uri", "/a%", false)]
    #[case("email", "a@[::1]", true)]
    #[case("email", "a@[x]", false)]
    #[case("email", "\"\"@example.com", false)]
    #[case("email", "\"a b\" <a@example.com>", true)]
    #[case("email", "Group: a@example.com;", true)]
    #[case("email", "Group: a@example.com, b@example.com;", false)]
    #[case("email", "Group:;", false)]
    #[case("email", "a@example.com (un(closed)", false)]
    #[case("email", "John Doe", false)]
    #[case("email", "a@example.com, b@example.com", false)]
    #[case("email", "a.@example.com", false)]
    #[case("email", "<a@example.com", false)]
    #[case("ipv6", "1:2:3:4:5:6:1.2.3.4", true)]
    #[case("ipv6", "1:2:3:4:5:6:7::", true)]
    #[case("ipv6", ":1:2:3:4:5:6:7:8", false)]
    #[case("ipv6", "1:2:3:4:5:6:7:", false)]
    #[case("cidr", "::ffff:01.2.3.4/120", true)]
    #[case("cidr", "1.2.3.4/+8", false)]
    #[case("cidr", "1.2.3.4/8/8", false)]
    #[case("duration", "1h1", true)]
    #[case("duration", "-.5s", true)]
    #[case("duration", ".s", false)]
    #[case("duration", "1.s", true)]
    #[case("duration", "2562047h47m16.854775807s", true)]
    #[case("date", "2000-02-29", true)]
    #[case("date", "1900-02-29", false)]
    #[case("date", "2000-00-10", false)]
    #[case("date-time", "2014-12-15T19:30:20z", true)]
    #[case("mac", "0000.5E00.530", false)]
    #[case("hostname", "xn--bcher-kva.example", true)]
    #[case("byte", "aGVsbG8=aGVsbG8=", false)]
    #[case("rgbcolor", "rgb(1\t,\n2,3)", true)]
    #[case("creditcard", "", false)]
    #[case("isbn", "0-8044-2957-X", true)]
    #[case("k8s-short-name", "a\n", false)]
    fn formats_accept_what_the_server_accepts(#[case] format: &str, #[case] value: &str, #[case] expected: bool) {
        let test = text(format, KubeVersion::minor(36)).unwrap();
        assert_eq!(test(value), expected, "{format}: {value}");
    }

    #[test]
    fn formats_depend_on_the_release() {
        assert!(text("k8s-short-name", KubeVersion::minor(34)).is_none());
        assert!(text("k8s-short-name", KubeVersion::minor(35)).is_some());
        assert!(text("unheard-of", KubeVersion::NEWEST).is_none());
    }
}
