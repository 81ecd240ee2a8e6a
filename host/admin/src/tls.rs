//! TLS of the operator's listener. Rule: a handshake proves nothing but who the client is; the guard decides what he may.
//!
//! The files are looked at for each connection, of which there are few, and read when they have changed. A set that is not right is not
//! used: the one of before stays.

use gateway::{FileFingerprint, TlsError, read_certificate};
use gateway_config::AdminTlsConfig;
use gateway_http::{CertificateError, Tls, client_name};
use parking_lot::Mutex;
use std::{fs, io, sync::Arc, time::Duration};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::server::TlsStream;

pub(crate) const CERTIFICATE: &str = "admin.tls.certificate";
const KEY: &str = "admin.tls.key";
const CLIENT_CA: &str = "admin.tls.client_ca";
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct AdminTls {
    config: AdminTlsConfig,
    state: Mutex<State>,
}

struct State {
    /// The files as they were last read, or tried to be.
    read: Vec<FileFingerprint>,
    tls: Tls,
}

impl AdminTls {
    /// `None` where TLS is off.
    pub(crate) fn open(config: &AdminTlsConfig) -> Result<Option<Self>, TlsError> {
        if config.files().is_none() {
            return Ok(None);
        }
        let (read, tls) = (fingerprints(config), read_files(config)?);
        Ok(Some(Self { config: config.clone(), state: Mutex::new(State { read, tls }) }))
    }

    /// Ends the handshake; with the name of the client, if it shows a certificate of an operator.
    pub(crate) async fn accept(
        self: Arc<Self>,
        socket: TcpStream,
    ) -> io::Result<(TlsStream<TcpStream>, Option<Arc<str>>)> {
        let tls = tokio::task::spawn_blocking(move || self.current()).await?;
        let stream = timeout(HANDSHAKE_TIMEOUT, tls.acceptor().accept(socket)).await??;
        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let name = shown.map(|certificate| client_name(certificate).unwrap_or_else(|| "a certificate".to_owned()));
        Ok((stream, name.map(Into::into)))
    }

    fn current(&self) -> Tls {
        // Taken before: what changes while they are read is seen next time.
        let now = fingerprints(&self.config);
        let mut state = self.state.lock();
        if state.read != now {
            state.read = now;
            match read_files(&self.config) {
                Ok(tls) => {
                    state.tls = tls;
                    tracing::info!("the certificates of the operator's listener are read");
                }
                Err(error) => tracing::error!(%error, "the files are not used, those of before stay"),
            }
        }
        state.tls.clone()
    }
}

fn fingerprints(config: &AdminTlsConfig) -> Vec<FileFingerprint> {
    let files = [&config.certificate, &config.key, &config.client_ca];
    files.into_iter().flatten().map(|path| FileFingerprint::of(path)).collect()
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
