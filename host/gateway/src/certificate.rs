//! The certificate of the public listener: read from the files of `[http.tls]` at the start, when they change, and at SIGHUP.
//!
//! The rule that must not break: **a certificate and a key that do not go together are never used; the pair of before stays.**

use arc_swap::ArcSwap;
use gateway_clock::Clock;
use gateway_config::{Config, TlsFiles};
use gateway_http::{Certificate, CertificateError, Tls};
use gateway_signers::private_file;
use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};
use tokio::{sync::Mutex, time::sleep};
use tokio_util::sync::CancellationToken;

const CERTIFICATE: &str = "http.tls.certificate";
const KEY: &str = "http.tls.key";
/// How often the files are looked at. They are read when they have not changed again since the last look: who renews them
/// writes one after the other.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
const DAY_S: i64 = 86_400;
/// A certificate that ends within these is reported when it is read: most are renewed a month before.
const WARN_DAYS: i64 = 14;

/// Why the files of a listener's TLS cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{key}: {message}; {hint}")]
pub struct TlsError {
    pub key: &'static str,
    pub message: String,
    pub hint: &'static str,
}

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

/// Replaces the certificate of a listener that serves.
pub(crate) struct CertificateReloader {
    tls: Tls,
    live: Arc<ArcSwap<Config>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The files as they were last read, or tried to be.
    read: Option<Fingerprint>,
    /// The files as they were at the last look.
    seen: Option<Fingerprint>,
}

impl CertificateReloader {
    pub(crate) async fn new(tls: Tls, live: Arc<ArcSwap<Config>>) -> Self {
        let reloader = Self { tls, live, state: Mutex::default() };
        // Again: between the start and this moment they may have changed. The error is logged.
        let _ = reloader.reload().await;
        reloader
    }

    /// Looks at the files until the stop.
    pub(crate) async fn follow(&self, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = sleep(LOOK_INTERVAL) => self.look().await,
                () = stop.cancelled() => return,
            }
        }
    }

    async fn look(&self) {
        let mut state = self.state.lock().await;
        let now = self.blocking(Fingerprint::of).await;
        if now != state.read && now == state.seen {
            let _ = self.read_into(&mut state).await;
        }
        state.seen = now;
    }

    /// Reads the files now. The error is logged.
    pub(crate) async fn reload(&self) -> Result<(), TlsError> {
        let mut state = self.state.lock().await;
        self.read_into(&mut state).await
    }

    async fn read_into(&self, state: &mut State) -> Result<(), TlsError> {
        // Taken before: what changes while they are read is seen by the next look.
        state.read = self.blocking(Fingerprint::of).await;
        match self.blocking(read).await {
            None => {}
            Some(Ok(certificate)) => {
                report_end(&certificate);
                self.tls.replace(certificate);
                tracing::info!("the certificate of the listener is read");
            }
            Some(Err(error)) => {
                tracing::error!(%error, "the certificate in the files is not used, the one of before stays");
                return Err(error);
            }
        }
        Ok(())
    }

    /// Works on the files beside the threads that serve.
    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce(TlsFiles<'_>) -> T + Send + 'static) -> Option<T> {
        let tls = self.live.load().http.tls.clone();
        tokio::task::spawn_blocking(move || tls.files().map(work)).await.ok().flatten()
    }
}

/// Tells whether files have changed, or others are named.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fingerprint([FileFingerprint; 2]);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFingerprint {
    path: PathBuf,
    /// Device, inode, size, time of the last change in seconds and nanoseconds; `None` for a file that is not there.
    facts: Option<(u64, u64, u64, i64, i64)>,
}

impl Fingerprint {
    fn of(files: TlsFiles<'_>) -> Self {
        Self([files.certificate, files.key].map(FileFingerprint::of))
    }
}

impl FileFingerprint {
    pub fn of(path: &Path) -> Self {
        // Of access rights, too: they decide whether a key is used.
        let facts = |file: Metadata| (file.dev(), file.ino(), file.size(), file.ctime(), file.ctime_nsec());
        Self { path: path.to_owned(), facts: fs::metadata(path).ok().map(facts) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    const FIRST: [&[u8]; 2] = [
        include_bytes!("../../http/src/tests/tls/first.pem"),
        include_bytes!("../../http/src/tests/tls/first.key.pem"),
    ];
    const RENEWED: [&[u8]; 2] = [
        include_bytes!("../../http/src/tests/tls/renewed.pem"),
        include_bytes!("../../http/src/tests/tls/renewed.key.pem"),
    ];

    /// As a tool that renews certificates does: the name gets another file.
    fn replace(path: &Path, text: &[u8]) {
        let draft = path.with_extension("draft");
        fs::write(&draft, text).unwrap();
        fs::set_permissions(&draft, Permissions::from_mode(0o600)).unwrap();
        fs::rename(draft, path).unwrap();
    }

    /// Who renews a pair writes one file after the other; a look in between finds two that do not go together.
    #[tokio::test]
    async fn files_that_have_just_changed_are_not_read_yet() {
        let folder = tempfile::tempdir().unwrap();
        let [certificate, key] = ["fullchain.pem", "privkey.pem"].map(|name| folder.path().join(name));
        let mut config = Config::default();
        config.http.tls.certificate = Some(certificate.clone());
        config.http.tls.key = Some(key.clone());
        let [chain, text] = FIRST;
        replace(&certificate, chain);
        replace(&key, text);
        let tls = open_tls(&config).unwrap().unwrap();
        let reloader = CertificateReloader::new(tls, Arc::new(ArcSwap::from_pointee(config))).await;
        let read = async || reloader.state.lock().await.read.clone();
        let first = read().await;
        let look = async || {
            reloader.look().await;
            read().await != first
        };
        assert!(!look().await, "nothing has changed");
        replace(&certificate, RENEWED[0]);
        assert!(!look().await, "the key may still follow");
        replace(&key, RENEWED[1]);
        assert!(!look().await, "they changed since the last look");
        assert!(look().await, "they are as at the last look");
        let renewed = read().await;
        reloader.look().await;
        assert_eq!(read().await, renewed, "they are read once");
    }
}
