//! The files of a listener's TLS: read again when they change, and at SIGHUP.
//!
//! The rule that must not break: **files that do not go together are never used; what was read before stays.**

use gateway_config::FileIdentity;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::{sync::Mutex, task::spawn_blocking, time::sleep};
use tokio_util::sync::CancellationToken;

/// How often the files are looked at. They are read when they have not changed again since the last look: who renews them
/// writes one after the other.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// Why the files of a listener's TLS cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{key}: {message}; {hint}")]
pub struct TlsError {
    pub key: &'static str,
    pub message: String,
    pub hint: &'static str,
}

/// What a listener speaks TLS with, and the files that it is read from.
pub trait TlsSource: Send + Sync + 'static {
    /// The section of the configuration that names the files.
    fn section(&self) -> &'static str;

    /// The files that it names now.
    fn files(&self) -> Vec<PathBuf>;

    /// Reads them and shows clients what they hold, from the next handshake on; on an error nothing changes. It may block.
    fn load(&self) -> Result<(), TlsError>;
}

/// Loads one source again when its files change.
pub(crate) struct TlsReloader {
    source: Arc<dyn TlsSource>,
    state: Mutex<State>,
}

/// Of access rights, too: they decide whether a key is used.
type FileIdentities = Vec<(PathBuf, Option<FileIdentity>)>;

#[derive(Default)]
struct State {
    /// The files as they were last read, or tried to be.
    read: Option<FileIdentities>,
    /// The files as they were at the last look.
    seen: Option<FileIdentities>,
}

impl TlsReloader {
    pub(crate) async fn new(source: Arc<dyn TlsSource>) -> Self {
        let reloader = Self { source, state: Mutex::default() };
        // Again: between the start and this moment they may have changed. The error is logged.
        let _ = reloader.reload().await;
        reloader
    }

    pub(crate) fn section(&self) -> &'static str {
        self.source.section()
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
        let now = self.identities().await;
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
        let section = self.section();
        // Taken before: what changes while they are read is seen by the next look.
        state.read = self.identities().await;
        let source = self.source.clone();
        // Beside the threads that serve.
        match spawn_blocking(move || source.load()).await {
            Ok(Ok(())) => tracing::info!(section, "the certificate of the listener is read"),
            Ok(Err(error)) => {
                tracing::error!(%error, section, "the certificate in the files is not used, the one of before stays");
                return Err(error);
            }
            Err(error) => tracing::error!(%error, section, "the files of the certificate were not read"),
        }
        Ok(())
    }

    async fn identities(&self) -> Option<FileIdentities> {
        let source = self.source.clone();
        let identify = |path: PathBuf| {
            let identity = FileIdentity::of(&path);
            (path, identity)
        };
        spawn_blocking(move || source.files().into_iter().map(identify).collect()).await.ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::tls::{PublicTls, open_tls};
    use arc_swap::ArcSwap;
    use gateway_config::Config;
    use std::{
        fs::{self, Permissions},
        os::unix::fs::PermissionsExt as _,
        path::Path,
    };

    const FIRST: [&[u8]; 2] = [
        include_bytes!("../../../http/src/tests/tls/first.pem"),
        include_bytes!("../../../http/src/tests/tls/first.key.pem"),
    ];
    const RENEWED: [&[u8]; 2] = [
        include_bytes!("../../../http/src/tests/tls/renewed.pem"),
        include_bytes!("../../../http/src/tests/tls/renewed.key.pem"),
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
        let source = PublicTls { tls, live: Arc::new(ArcSwap::from_pointee(config)) };
        let reloader = TlsReloader::new(Arc::new(source)).await;
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
