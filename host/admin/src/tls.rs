//! TLS of the operator's listener. Rule: a handshake proves nothing but who the client is; the guard decides what he may.

use gateway::{TlsError, TlsSource, read_certificate};
use gateway_config::AdminTlsConfig;
use gateway_http::{CertificateError, Tls, client_name};
use parking_lot::Mutex;
use std::{fs, io, path::PathBuf, sync::Arc, time::Duration};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::server::TlsStream;

pub(crate) const CERTIFICATE: &str = "admin.tls.certificate";
const KEY: &str = "admin.tls.key";
const CLIENT_CA: &str = "admin.tls.client_ca";
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct AdminTls {
    config: AdminTlsConfig,
    current: Mutex<Tls>,
}

impl AdminTls {
    /// `None` where TLS is off.
    pub(crate) fn open(config: &AdminTlsConfig) -> Result<Option<Self>, TlsError> {
        if config.files().is_none() {
            return Ok(None);
        }
        Ok(Some(Self { config: config.clone(), current: Mutex::new(read_files(config)?) }))
    }

    /// Ends the handshake; with the name of the client, if it shows a certificate of an operator.
    pub(crate) async fn accept(&self, socket: TcpStream) -> io::Result<(TlsStream<TcpStream>, Option<Arc<str>>)> {
        let acceptor = self.current.lock().acceptor();
        let stream = timeout(HANDSHAKE_TIMEOUT, acceptor.accept(socket)).await??;
        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let name = shown.map(|certificate| client_name(certificate).unwrap_or_else(|| "a certificate".to_owned()));
        Ok((stream, name.map(Into::into)))
    }
}

impl TlsSource for AdminTls {
    fn section(&self) -> &'static str {
        "admin.tls"
    }

    fn files(&self) -> Vec<PathBuf> {
        let AdminTlsConfig { certificate, key, client_ca, .. } = &self.config;
        [certificate, key, client_ca].into_iter().flatten().cloned().collect()
    }

    fn load(&self) -> Result<(), TlsError> {
        let tls = read_files(&self.config)?;
        *self.current.lock() = tls;
        Ok(())
    }
}

fn read_files(config: &AdminTlsConfig) -> Result<Tls, TlsError> {
    let failed = |key, error: CertificateError| TlsError { key, message: error.to_string(), hint: "name other files" };
    let files = config.files().ok_or_else(|| failed(CERTIFICATE, CertificateError::NoCertificate))?;
    let certificate = read_certificate(files, CERTIFICATE, KEY)?;
    let Some(path) = &config.client_ca else {
        return Tls::new(certificate, true).map_err(|error| failed(CERTIFICATE, error));
    };
    let authorities = fs::read(path).map_err(|error| TlsError {
        key: CLIENT_CA,
        message: format!("the file {} cannot be read: {error}", path.display()),
        hint: "name the PEM file of the operators' authority",
    })?;
    Tls::asking_clients(certificate, &authorities).map_err(|error| failed(CLIENT_CA, error))
}
