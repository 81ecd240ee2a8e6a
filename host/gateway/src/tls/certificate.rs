//! The certificate of the public listener, from the files of `[http.tls]`. Rule: a certificate and a key that do not go together are
//! never used.

use super::reload::{TlsError, TlsSource};
use arc_swap::ArcSwap;
use gateway_clock::Clock;
use gateway_config::{Config, TlsFiles};
use gateway_http::{Certificate, CertificateError, Tls};
use gateway_signers::private_file;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::UNIX_EPOCH,
};

const CERTIFICATE: &str = "http.tls.certificate";
const KEY: &str = "http.tls.key";
const DAY_S: i64 = 86_400;
/// A certificate that ends within these is reported when it is read: most are renewed a month before.
const WARN_DAYS: i64 = 14;

/// What the listener speaks TLS with; `None` where TLS is off.
pub fn open_tls(config: &Config) -> Result<Option<Tls>, TlsError> {
    let Some(files) = config.http.tls.files() else { return Ok(None) };
    let failed =
        |error: CertificateError| TlsError { key: CERTIFICATE, message: error.to_string(), hint: "start again" };
    Tls::new(read(files)?, config.http.http2).map(Some).map_err(failed)
}

/// What an operator should know of the certificate that could be used, for `gateway check`.
pub(crate) fn certificate_notes(config: &Config) -> Result<Vec<String>, TlsError> {
    let Some(files) = config.http.tls.files() else { return Ok(notes_without_tls(config)) };
    let certificate = read(files)?;
    let url: Option<http::Uri> = config.base_url.as_ref().and_then(|url| url.parse().ok());
    let host = url.as_ref().and_then(http::Uri::host);
    let other_host = host.filter(|host| !certificate.is_for(host));
    let other_host = other_host.map(|host| {
        format!("{CERTIFICATE}: it is not for {host}, the host of base_url: clients that ask for that name refuse it")
    });
    Ok(end_note(&certificate).into_iter().chain(other_host).collect())
}

fn notes_without_tls(config: &Config) -> Vec<String> {
    let is_https = config.base_url.as_ref().is_some_and(|url| url.starts_with("https:"));
    let note =
        "base_url is https, so a proxy speaks TLS: with http.trusted_proxy_hops = 0 all clients count as one address";
    (is_https && config.http.trusted_proxy_hops == 0).then(|| note.to_owned()).into_iter().collect()
}

fn read(files: TlsFiles<'_>) -> Result<Certificate, TlsError> {
    read_certificate(files, CERTIFICATE, KEY)
}

/// The pair in the files; `certificate` and `key` are the keys of the configuration that name them.
pub fn read_certificate(
    files: TlsFiles<'_>,
    certificate: &'static str,
    key: &'static str,
) -> Result<Certificate, TlsError> {
    let chain = fs::read(files.certificate).map_err(|error| TlsError {
        key: certificate,
        message: format!("the file {} cannot be read: {error}", files.certificate.display()),
        hint: "name the PEM file of the chain",
    })?;
    let hint = "name the PEM file of the private key, which only the gateway's user may read";
    let private_key = private_file::read(files.key).map_err(|message| TlsError { key, message, hint })?;
    Certificate::from_pem(&chain, private_key.as_bytes()).map_err(|error| {
        let (key, path, hint) = match error {
            CertificateError::NoCertificate | CertificateError::UnreadableCertificate | CertificateError::Setup(_) => {
                (certificate, files.certificate, "it begins with -----BEGIN CERTIFICATE-----")
            }
            CertificateError::NoKey | CertificateError::UnusableKey => {
                (key, files.key, "use an RSA, ECDSA (P-256, P-384) or Ed25519 key that no password protects")
            }
            CertificateError::OtherKey => (key, files.key, "name two files that were made together"),
        };
        TlsError { key, message: format!("{}: {error}", path.display()), hint }
    })
}

/// What there is to say when the certificate ends soon, or has ended.
fn end_note(certificate: &Certificate) -> Option<String> {
    let left_s = end_s(certificate) - Clock::System.now_s();
    match left_s.div_euclid(DAY_S) {
        WARN_DAYS.. => None,
        ..0 => Some(format!("{CERTIFICATE}: it has ended, and clients refuse it")),
        days => Some(format!("{CERTIFICATE}: it ends in {days} days")),
    }
}

fn report_end(certificate: &Certificate) {
    if let Some(note) = end_note(certificate) {
        tracing::warn!("{note}");
    }
    metrics::gauge!("gateway_tls_certificate_end_seconds").set(end_s(certificate) as f64);
}

/// In seconds since 1970.
fn end_s(certificate: &Certificate) -> i64 {
    let end = certificate.valid_until().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(end.as_secs()).unwrap_or(i64::MAX)
}

/// TLS of the public listener while it serves.
pub(crate) struct PublicTls {
    pub tls: Tls,
    pub live: Arc<ArcSwap<Config>>,
}

impl TlsSource for PublicTls {
    fn section(&self) -> &'static str {
        "http.tls"
    }

    fn files(&self) -> Vec<PathBuf> {
        let config = self.live.load();
        let files = config.http.tls.files();
        files.map(|files| [files.certificate, files.key].map(Path::to_owned)).into_iter().flatten().collect()
    }

    fn load(&self) -> Result<(), TlsError> {
        let config = self.live.load_full();
        let Some(files) = config.http.tls.files() else { return Ok(()) };
        let certificate = read(files)?;
        report_end(&certificate);
        self.tls.replace(certificate);
        Ok(())
    }
}
