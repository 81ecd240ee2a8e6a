//! The certificate of the listener, and what it speaks TLS with. Rule: a certificate is in use only when its key belongs to
//! it; it is replaced as a whole, and connections that are open keep the one that they began with.

use arc_swap::ArcSwap;
use rustls::{
    Error, InconsistentKeys, RootCertStore, ServerConfig,
    client::{ResolvesClientCert, verify_server_name},
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem, pem::PemObject as _},
    server::{
        ClientHello, NoServerSessionStorage, ParsedCertificate, ResolvesServerCert, WebPkiClientVerifier,
        danger::ClientCertVerifier,
    },
    sign::{CertifiedKey, SingleCertAndKey},
};
use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio_rustls::TlsAcceptor;
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

    /// The certificate alone, for a client that trusts no other.
    pub fn first_of_pem(chain: &[u8]) -> Result<CertificateDer<'static>, CertificateError> {
        let first = CertificateDer::pem_slice_iter(chain).next().ok_or(CertificateError::NoCertificate)?;
        first.map_err(|_malformed: pem::Error| CertificateError::UnreadableCertificate)
    }

    /// For a client that shows it.
    pub fn shown_by_client(&self) -> Arc<dyn ResolvesClientCert> {
        Arc::new(SingleCertAndKey::from(self.key.clone()))
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
        let (mut config, current) = server_config(certificate, WebPkiClientVerifier::no_client_auth(), http2)?;
        // Sealed by keys that are exchanged every few hours: a session takes no memory here.
        config.ticketer = ring::Ticketer::new().map_err(setup_failed)?;
        Ok(Self { config: Arc::new(config), current })
    }

    /// As [`Self::new`], and asks clients for a certificate of one of these authorities, in PEM form; who shows none is let in, too.
    /// Sessions are not resumed: a certificate is checked in each handshake, by the authorities of the day.
    pub fn asking_clients(certificate: Certificate, authorities: &[u8]) -> Result<Self, CertificateError> {
        let mut roots = RootCertStore::empty();
        for authority in CertificateDer::pem_slice_iter(authorities) {
            let authority = authority.map_err(|_malformed: pem::Error| CertificateError::UnreadableCertificate)?;
            roots.add(authority).map_err(|_| CertificateError::UnreadableCertificate)?;
        }
        if roots.is_empty() {
            return Err(CertificateError::NoCertificate);
        }
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).allow_unauthenticated();
        let verifier = verifier.build().map_err(|error| CertificateError::Setup(error.to_string()))?;
        let (mut config, current) = server_config(certificate, verifier, true)?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self { config: Arc::new(config), current })
    }

    /// For a listener that has its own loop.
    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.clone())
    }

    /// From the next handshake on this one is shown.
    pub fn replace(&self, certificate: Certificate) {
        self.current.0.store(certificate.key);
    }
}

fn server_config(
    certificate: Certificate,
    clients: Arc<dyn ClientCertVerifier>,
    http2: bool,
) -> Result<(ServerConfig, Arc<CurrentCertificate>), CertificateError> {
    let current = Arc::new(CurrentCertificate(ArcSwap::new(certificate.key)));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(setup_failed)?
        .with_client_cert_verifier(clients)
        .with_cert_resolver(current.clone());
    config.alpn_protocols = if http2 { vec![ALPN_HTTP2.into(), ALPN_HTTP1.into()] } else { vec![ALPN_HTTP1.into()] };
    Ok((config, current))
}

fn setup_failed(error: Error) -> CertificateError {
    CertificateError::Setup(error.to_string())
}

pub(super) fn is_http2(alpn: Option<&[u8]>) -> bool {
    alpn == Some(ALPN_HTTP2)
}
