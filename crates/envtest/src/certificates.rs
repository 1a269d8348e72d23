//! Generated certificates: one authority for each control plane, dropped with it.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};

/// A certificate with its key, both in PEM. The key is never logged or reported.
#[derive(Clone)]
pub struct Pair {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

/// The certificate authority of one control plane.
pub struct Authority {
    /// Its own certificate, in PEM.
    pub certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// Creates a new authority.
    pub fn new() -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "crdproof");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.pem();
        Ok(Self { certificate, issuer: Issuer::new(params, key) })
    }

    /// A certificate for a server with these names and addresses.
    pub fn server(&self, subject: &str, names: &[&str]) -> Result<Pair, rcgen::Error> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, subject);
        self.sign(params, vec![ExtendedKeyUsagePurpose::ServerAuth])
    }

    /// A certificate for an etcd member on this machine, as a server and as a client of itself.
    pub(crate) fn member(&self, subject: &str) -> Result<Pair, rcgen::Error> {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, subject);
        self.sign(params, vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth])
    }

    /// A certificate for a client: an API server takes the common name as the user, and organisations as groups.
    pub fn client(&self, user: &str, groups: &[&str]) -> Result<Pair, rcgen::Error> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, user);
        for group in groups {
            params.distinguished_name.push(DnType::OrganizationName, *group);
        }
        self.sign(params, vec![ExtendedKeyUsagePurpose::ClientAuth])
    }

    fn sign(&self, mut params: CertificateParams, usages: Vec<ExtendedKeyUsagePurpose>) -> Result<Pair, rcgen::Error> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = usages;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        Ok(Pair { certificate, key: key.serialize_pem() })
    }
}

/// A key pair for service account tokens: private and public part.
pub(crate) fn token_keys() -> Result<(String, String), rcgen::Error> {
    let key = KeyPair::generate()?;
    Ok((key.serialize_pem(), key.public_key_pem()))
}
