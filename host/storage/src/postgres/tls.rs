//! TLS to the server, by rustls with ring as everywhere in the workspace.
//!
//! The rule: `verify-ca` and `verify-full` check the server's certificate, or the connection fails. The other modes encrypt
//! and check nothing, unless root certificates are given, as libpq does.

use crate::error::StorageError;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_cert_signed_by_trust_anchor,
    },
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    server::ParsedCertificate,
};
use rustls_platform_verifier::Verifier;
use std::sync::Arc;

/// What is checked of the server's certificate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CertificateVerification {
    None,
    /// That an authority of ours signed it.
    Authority,
    /// That it names the server, too.
    Full,
}

/// The certificates and the key are texts in PEM form or, after `file: `, the path of a file.
pub(crate) struct TlsSettings<'a> {
    pub verification: CertificateVerification,
    pub root_certificates: Option<&'a str>,
    pub client_certificate: Option<&'a str>,
    pub client_key: Option<&'a str>,
}

pub(crate) fn client_config(settings: &TlsSettings<'_>) -> Result<ClientConfig, StorageError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = verifier(settings, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable("TLS", &error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    match (settings.client_certificate, settings.client_key) {
        (None, None) => Ok(builder.with_no_client_auth()),
        (Some(certificate), Some(key)) => {
            let key =
                PrivateKeyDer::from_pem_slice(&pem("sslkey", key)?).map_err(|error| unusable("sslkey", &error))?;
            let chain = certificates("sslcert", certificate)?;
            builder.with_client_auth_cert(chain, key).map_err(|error| unusable("sslcert", &error))
        }
        _ => Err(refused("sslcert and sslkey are given together")),
    }
}

fn verifier(
    settings: &TlsSettings<'_>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, StorageError> {
    let algorithms = provider.signature_verification_algorithms;
    let roots = settings.root_certificates.map(root_store).transpose()?;
    Ok(match (settings.verification, roots) {
        (CertificateVerification::None, _) => Arc::new(WithoutName { roots: None, algorithms }),
        (CertificateVerification::Authority, Some(roots)) => Arc::new(WithoutName { roots: Some(roots), algorithms }),
        // Every public authority signs for anybody, so without the name that would check nothing.
        (CertificateVerification::Authority, None) => return Err(refused("sslmode=verify-ca needs sslrootcert")),
        (CertificateVerification::Full, Some(roots)) => {
            let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
            builder.build().map_err(|error| unusable("sslrootcert", &error))?
        }
        (CertificateVerification::Full, None) => Arc::new(
            Verifier::new(Arc::clone(provider)).map_err(|error| unusable("the system's certificates", &error))?,
        ),
    })
}

fn root_store(text: &str) -> Result<RootCertStore, StorageError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates("sslrootcert", text)? {
        roots.add(certificate).map_err(|error| unusable("sslrootcert", &error))?;
    }
    if roots.is_empty() { Err(refused("sslrootcert holds no certificate")) } else { Ok(roots) }
}

fn certificates(name: &str, text: &str) -> Result<Vec<CertificateDer<'static>>, StorageError> {
    let read = CertificateDer::pem_slice_iter(&pem(name, text)?).collect::<Result<_, _>>();
    read.map_err(|error| unusable(name, &error))
}

fn pem(name: &str, text: &str) -> Result<Vec<u8>, StorageError> {
    match text.strip_prefix("file: ") {
        // The path is part of the address, so the error does not name it.
        Some(path) => std::fs::read(path).map_err(|error| refused(&format!("{name} cannot be read: {}", error.kind()))),
        None => Ok(text.as_bytes().to_vec()),
    }
}

fn unusable(name: &str, error: &dyn std::fmt::Display) -> StorageError {
    refused(&format!("{name} cannot be used: {error}"))
}

fn refused(reason: &str) -> StorageError {
    StorageError::Settings(reason.to_owned())
}

/// Accepts a certificate of these authorities, or any certificate, for whichever server it was issued.
#[derive(Debug)]
struct WithoutName {
    roots: Option<RootCertStore>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for WithoutName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(roots) = &self.roots {
            let certificate = ParsedCertificate::try_from(certificate)?;
            verify_server_cert_signed_by_trust_anchor(&certificate, roots, intermediates, now, self.algorithms.all)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
