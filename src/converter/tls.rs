//! The TLS handshake with an endpoint: its protocol, and the content of its certificate. Nothing is refused here; a
//! check judges the certificate.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use rustls::RootCertStore;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use x509_parser::prelude::{FromDer as _, GeneralName, X509Certificate};

use crate::evidence::{Certificate, Transport};

/// The timeout of a handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// The certificates that an endpoint presented, its own first; `None` if it does not speak TLS.
pub(super) type PeerChain = Option<Vec<CertificateDer<'static>>>;

/// Certificate authorities, and a name for messages.
pub(super) struct Authorities {
    pub(super) whose: String,
    pub(super) certificates: Vec<CertificateDer<'static>>,
}

impl Authorities {
    /// Reads PEM. `Err` says what cannot be used.
    pub(super) fn read(whose: impl Into<String>, pem: &[u8]) -> Result<Self, String> {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let certificates = certificates.map_err(|error| format!("the CA is not PEM: {error}"))?;
        if certificates.is_empty() {
            return Err("the CA holds no certificate".into());
        }
        for certificate in &certificates {
            let added = RootCertStore::empty().add(certificate.clone());
            added.map_err(|error| format!("the CA cannot be used: {error}"))?;
        }
        Ok(Self { whose: whose.into(), certificates })
    }

    /// Returns the certificate authorities of this machine.
    pub(super) fn of_the_machine() -> Self {
        // Files that cannot be read are ignored.
        let certificates = rustls_native_certs::load_native_certs().certs;
        Self { whose: "the authorities of this machine".into(), certificates }
    }

    /// Returns why none of them signed a chain, if none did.
    fn verify_chain(&self, chain: &[CertificateDer<'_>], provider: &CryptoProvider, when: UnixTime) -> Option<String> {
        let (own, between) = chain.split_first()?;
        // Like Go, trust a leaf certificate that is itself in the pool.
        if self.certificates.iter().any(|known| known == own) {
            return None;
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(self.certificates.iter().cloned());
        let verified = ParsedCertificate::try_from(own).and_then(|own| {
            let algorithms = provider.signature_verification_algorithms.all;
            rustls::client::verify_server_cert_signed_by_trust_anchor(&own, &roots, between, when, algorithms)
        });
        match verified {
            Ok(()) => None,
            Err(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer)) => {
                Some("none of them has signed it".into())
            }
            Err(error) => Some(error.to_string()),
        }
    }
}

/// Returns the TLS configuration. It accepts every certificate, so that an endpoint with a wrong one can be judged,
/// too.
pub(super) fn client_config() -> Result<rustls::ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider));
    let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    Ok(config.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnyCert(provider))).with_no_client_auth())
}

/// Accepts every certificate whose owner has its key.
#[derive(Debug)]
struct AcceptAnyCert(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCert {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Performs the handshake. `Err` says why nothing answers; an endpoint that speaks plain HTTP is no error.
pub(super) async fn handshake(config: Arc<rustls::ClientConfig>, host: &str, port: u16) -> Result<PeerChain, String> {
    let stream = TcpStream::connect((host, port)).await.map_err(|error| error.to_string())?;
    let name = ServerName::try_from(host.to_owned()).map_err(|error| format!("{host:?} is not a name: {error}"))?;
    let shaken = tokio::time::timeout(HANDSHAKE_TIMEOUT, TlsConnector::from(config).connect(name, stream)).await;
    let (why, foreign) = match shaken {
        Ok(Ok(stream)) => {
            let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
            return Ok(Some(chain.iter().map(|each| each.clone().into_owned()).collect()));
        }
        Ok(Err(error)) => {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            (error.to_string(), matches!(inner, Some(rustls::Error::InvalidMessage(_))))
        }
        Err(_) => (format!("no answer within {} s", HANDSHAKE_TIMEOUT.as_secs()), false),
    };
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, plain_status(host, port)).await {
        // TLS servers answer 400 to plain HTTP; bytes that are not TLS are proof enough.
        Ok(Some(status)) if foreign || status != "400" => Ok(None),
        _ => Err(format!("no TLS handshake: {why}")),
    }
}

/// The status of the response to a plain request, if there is one.
async fn plain_status(host: &str, port: u16) -> Option<String> {
    let mut stream = TcpStream::connect((host, port)).await.ok()?;
    let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut start = [0; 12];
    stream.read_exact(&mut start).await.ok()?;
    let line = String::from_utf8_lossy(&start).into_owned();
    Some(line.strip_prefix("HTTP/1.")?.get(2..5)?.to_owned())
}

/// Returns the content of a certificate, verified by the authorities. `None` if it cannot be read.
pub(super) fn transport(host: &str, shown: &PeerChain, authorities: &Authorities) -> Option<Transport> {
    let Some(chain) = shown else { return Some(Transport::Plain) };
    let (_, own) = X509Certificate::from_der(chain.first()?).ok()?;
    let validity = own.validity();
    let (from, until) = (validity.not_before.timestamp(), validity.not_after.timestamp());
    let now = Timestamp::now().as_second();
    // Verify an expired certificate as of its period of validity; its expiry is judged separately.
    let when = if (from..=until).contains(&now) { now } else { from + (until - from) / 2 };
    let when = UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(when).unwrap_or_default()));
    let provider = rustls::crypto::ring::default_provider();
    let names = own.subject_alternative_name().ok().flatten().map(|names| &names.value.general_names);
    Some(Transport::Tls(Certificate {
        host: host.to_owned(),
        subject: own.subject().to_string(),
        issuer: own.issuer().to_string(),
        names: names.into_iter().flatten().filter_map(name).collect(),
        from: day(from),
        until: day(until),
        authorities: authorities.whose.clone(),
        untrusted: authorities.verify_chain(chain, &provider, when),
    }))
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let four = <[u8; 4]>::try_from(*bytes).map(|bytes| IpAddr::from(Ipv4Addr::from(bytes)));
            let six = || <[u8; 16]>::try_from(*bytes).map(|bytes| IpAddr::from(Ipv6Addr::from(bytes)));
            four.or_else(|_| six()).ok().map(|address| address.to_string())
        }
        _ => None,
    }
}

/// The day of a second; the last day of the calendar for larger numbers.
fn day(second: i64) -> Date {
    Timestamp::from_second(second).map_or(Date::MAX, |time| time.to_zoned(jiff::tz::TimeZone::UTC).date())
}
