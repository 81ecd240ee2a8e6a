//! TLS of the command line. Rule: it talks to the very certificate that its configuration names and to no other: the listener is called
//! by an address that is in no certificate, and commands must not reach somebody else.

use super::tls;
use gateway::{TlsError, read_certificate};
use gateway_config::AdminTlsConfig;
use gateway_http::{Certificate, CertificateError};
use rustls::{
    CertificateError as Refusal, ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use std::{fs, io, net::IpAddr, sync::Arc};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

const COMMAND_CERTIFICATE: &str = "admin.tls.command_certificate";
const COMMAND_KEY: &str = "admin.tls.command_key";

/// How the command line speaks TLS to the operator's listener.
#[derive(Clone)]
pub struct ClientTls(Arc<ClientConfig>);

impl ClientTls {
    /// `None` where TLS is off. The listener's key is not needed, and may be out of reach of who runs the command.
    pub fn of(config: &AdminTlsConfig) -> Result<Option<Self>, TlsError> {
        let Some(files) = config.files() else { return Ok(None) };
        let failed =
            |message: String| TlsError { key: tls::CERTIFICATE, message, hint: "name the listener's PEM file" };
        let listener = fs::read(files.certificate).map_err(|error| failed(error.to_string()))?;
        let listener = Certificate::first_of_pem(&listener).map_err(|error| failed(error.to_string()))?;
        let shown = config.command_files().map(|files| read_certificate(files, COMMAND_CERTIFICATE, COMMAND_KEY));
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| failed(CertificateError::Setup(error.to_string()).to_string()))?;
        let builder =
            builder.dangerous().with_custom_certificate_verifier(Arc::new(OnlyThisServer { listener, provider }));
        let config = match shown.transpose()? {
            Some(certificate) => builder.with_client_cert_resolver(certificate.shown_by_client()),
            None => builder.with_no_client_auth(),
        };
        Ok(Some(Self(Arc::new(config))))
    }

    pub(crate) async fn connect(&self, address: IpAddr, socket: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        TlsConnector::from(self.0.clone()).connect(ServerName::IpAddress(address.into()), socket).await
    }
}

impl std::fmt::Debug for ClientTls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ClientTls").finish_non_exhaustive()
    }
}

/// Takes one certificate, whatever its names and dates; the handshake proves that the server has its key.
#[derive(Debug)]
struct OnlyThisServer {
    listener: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OnlyThisServer {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let is_listener = *shown == self.listener;
        let refusal = Error::InvalidCertificate(Refusal::ApplicationVerificationFailure);
        is_listener.then(ServerCertVerified::assertion).ok_or(refusal)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
