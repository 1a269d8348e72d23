//! The CA bundle of a conversion webhook: base64 over PEM over X.509.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::Date;
use x509_parser::pem::Pem;

/// The content of a `caBundle`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bundle {
    /// Only white space.
    Blank,
    /// Not certificates; the text continues a sentence after "caBundle".
    Unreadable(String),
    /// Certificates: the subject of each, and its last day.
    Certificates(Vec<(String, Date)>),
}

impl Bundle {
    /// Reads the `caBundle` of a CRD.
    pub fn read(bundle: &str) -> Self {
        let compact: String = bundle.split_whitespace().collect();
        let Ok(bytes) = STANDARD.decode(compact) else {
            return Self::Unreadable("is not base64".into());
        };
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Self::Blank;
        }
        let mut found = Vec::new();
        for pem in Pem::iter_from_buffer(&bytes) {
            let Ok(pem) = pem else {
                return Self::Unreadable("holds a broken PEM block".into());
            };
            if pem.label != "CERTIFICATE" {
                continue;
            }
            let Ok(certificate) = pem.parse_x509() else {
                return Self::Unreadable("holds a PEM block that is not a X.509 certificate".into());
            };
            let end = jiff::Timestamp::from_second(certificate.validity().not_after.timestamp());
            let Ok(end) = end else {
                return Self::Unreadable("holds a certificate without a readable end".into());
            };
            found.push((certificate.subject().to_string(), end.to_zoned(jiff::tz::TimeZone::UTC).date()));
        }
        if found.is_empty() { Self::Unreadable("holds no PEM certificate".into()) } else { Self::Certificates(found) }
    }
}
