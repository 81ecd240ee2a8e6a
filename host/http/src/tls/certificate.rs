//! The certificate of the listener, and what it speaks TLS with. Rule: a certificate is in use only when its key belongs to
//! it; it is replaced as a whole, and connections that are open keep the one that they began with.

use arc_swap::ArcSwap;
use rustls::{
    Error, InconsistentKeys, ServerConfig,
    client::verify_server_name,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem, pem::PemObject as _},
    server::{ClientHello, ParsedCertificate, ResolvesServerCert},
    sign::CertifiedKey,
};
use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use x509_cert::der::Decode as _;

const ALPN_HTTP2: &[u8] = b"h2";
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// Why a certificate and a key cannot be used. It repeats nothing of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    #[error("it holds no certificate in PEM form")]
    NoCertificate,
    #[error("it holds a certificate that cannot be read")]
    UnreadableCertificate,
    #[error("it holds no private key in PEM form")]
    NoKey,
    #[error("its private key is of a kind that TLS does not use")]
    UnusableKey,
    #[error("it is not the key of the first certificate in the chain")]
    OtherKey,
    #[error("TLS cannot be set up: {0}")]
    Setup(String),
}

/// A certificate with the chain that leads to its authority, and its private key.
pub struct Certificate {
    key: Arc<CertifiedKey>,
    valid_until: SystemTime,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Certificate").field("valid_until", &self.valid_until).finish_non_exhaustive()
    }
}

impl Certificate {
    /// Both in PEM form; the certificate of the gateway itself is the first of the chain.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<_, _>>()
            .map_err(|_malformed: pem::Error| CertificateError::UnreadableCertificate)?;
        let valid_until = valid_until(chain.first().ok_or(CertificateError::NoCertificate)?)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_malformed: pem::Error| CertificateError::NoKey)?;
        let key = CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(|error| match error {
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => CertificateError::OtherKey,
            Error::InvalidCertificate(_) => CertificateError::UnreadableCertificate,
            _ => CertificateError::UnusableKey,
        })?;
        Ok(Self { key: Arc::new(key), valid_until })
    }

    /// From then on clients refuse it.
    pub fn valid_until(&self) -> SystemTime {
        self.valid_until
    }

    /// Whether clients that ask for this host accept its names.
    pub fn is_for(&self, host: &str) -> bool {
        let Ok(name) = ServerName::try_from(host.trim_matches(['[', ']'])) else { return false };
        let certificate = self.key.end_entity_cert().and_then(ParsedCertificate::try_from);
        certificate.is_ok_and(|certificate| verify_server_name(&certificate, &name).is_ok())
    }
}

fn valid_until(certificate: &CertificateDer<'_>) -> Result<SystemTime, CertificateError> {
    let parsed = x509_cert::Certificate::from_der(certificate).map_err(|_| CertificateError::UnreadableCertificate)?;
    let since_1970: Duration = parsed.tbs_certificate.validity.not_after.to_unix_duration();
    Ok(UNIX_EPOCH + since_1970)
}

/// What a listener speaks TLS with. Clones share the certificate.
#[derive(Clone, Debug)]
pub struct Tls {
    pub(super) config: Arc<ServerConfig>,
    current: Arc<CurrentCertificate>,
}

#[derive(Debug)]
struct CurrentCertificate(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for CurrentCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

impl Tls {
    /// TLS 1.2 and 1.3, with HTTP/2 when `http2` says so.
    pub fn new(certificate: Certificate, http2: bool) -> Result<Self, CertificateError> {
        let failed = |error: Error| CertificateError::Setup(error.to_string());
        let current = Arc::new(CurrentCertificate(ArcSwap::new(certificate.key)));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_cert_resolver(current.clone());
        // Sealed by keys that are exchanged every few hours: a session takes no memory here.
        config.ticketer = ring::Ticketer::new().map_err(failed)?;
        config.alpn_protocols =
            if http2 { vec![ALPN_HTTP2.into(), ALPN_HTTP1.into()] } else { vec![ALPN_HTTP1.into()] };
        Ok(Self { config: Arc::new(config), current })
    }

    /// From the next handshake on this one is shown.
    pub fn replace(&self, certificate: Certificate) {
        self.current.0.store(certificate.key);
    }
}

pub(super) fn is_http2(alpn: Option<&[u8]>) -> bool {
    alpn == Some(ALPN_HTTP2)
}
