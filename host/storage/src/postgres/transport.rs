//! How the driver gets its stream: encrypted as the address asks for, and below [`SharedSync`].
//!
//! The rule: the driver is told that TLS is required, and without a question to the server, so that it takes the stream that it is
//! given here. What the address allows is decided here alone.

use super::shared_sync::{SharedSync, SyncSharing};
use futures_util::future::BoxFuture;
use std::{
    error::Error,
    io,
    path::PathBuf,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, Empty, ReadBuf},
    net::UnixStream,
};
use tokio_postgres::{
    Config,
    config::{SslMode, SslNegotiation},
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The length and the code of the question whether the server encrypts.
const ENCRYPTION_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
const ENCRYPTS: u8 = b'S';

/// A stream of the driver.
pub(super) type SessionStream = SharedSync<Box<dyn SendStream>>;

pub trait SendStream: TlsStream + Unpin + Send {}

impl<S: TlsStream + Unpin + Send> SendStream for S {}

impl TlsStream for Box<dyn SendStream> {
    fn channel_binding(&self) -> ChannelBinding {
        (**self).channel_binding()
    }
}

/// Makes streams to one server.
#[derive(Clone)]
pub(super) struct PostgresTransport {
    /// `None` where the connection is not encrypted.
    tls: Option<MakeRustlsConnect>,
    mode: SslMode,
    sharing: SyncSharing,
}

impl PostgresTransport {
    /// The settings that the driver takes with it, too.
    pub(super) fn new(config: &Config, tls: Option<MakeRustlsConnect>) -> (Self, Config) {
        let transport = Self { tls, mode: config.get_ssl_mode(), sharing: SyncSharing::default() };
        let mut config = config.clone();
        config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
        (transport, config)
    }

    /// For a socket of this machine: it takes the place of the stream that it is given.
    pub(super) fn to_socket(&self, socket: PathBuf) -> SocketConnect {
        SocketConnect { socket, sharing: self.sharing() }
    }

    /// For who sends on the stream.
    pub(super) fn sharing(&self) -> SyncSharing {
        self.sharing.clone()
    }
}

impl<S> MakeTlsConnect<S> for PostgresTransport
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = SessionStream;
    type TlsConnect = StreamConnect<S>;
    type Error = Box<dyn Error + Sync + Send>;

    fn make_tls_connect(&mut self, host: &str) -> Result<StreamConnect<S>, Self::Error> {
        let tls = self.tls.as_mut().map(|tls| MakeTlsConnect::<S>::make_tls_connect(tls, host)).transpose()?;
        Ok(StreamConnect { tls, mode: self.mode, sharing: self.sharing.clone() })
    }
}

type RustlsConnect<S> = <MakeRustlsConnect as MakeTlsConnect<S>>::TlsConnect;

/// Makes one stream.
pub(super) struct StreamConnect<S>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    tls: Option<RustlsConnect<S>>,
    mode: SslMode,
    sharing: SyncSharing,
}

impl<S> TlsConnect<S> for StreamConnect<S>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = SessionStream;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<SessionStream>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let sharing = self.sharing;
            let stream = secure(stream, self.tls, self.mode).await?;
            Ok(SharedSync::new(stream, sharing))
        })
    }
}

/// Makes one stream to a socket of this machine: the driver itself would take no other stream there.
pub(super) struct SocketConnect {
    socket: PathBuf,
    sharing: SyncSharing,
}

impl TlsConnect<Empty> for SocketConnect {
    type Stream = SessionStream;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<SessionStream>>;

    fn connect(self, _: Empty) -> Self::Future {
        Box::pin(async move {
            let stream: Box<dyn SendStream> = Box::new(Plain(UnixStream::connect(self.socket).await?));
            Ok(SharedSync::new(stream, self.sharing))
        })
    }
}

async fn secure<S>(mut stream: S, tls: Option<RustlsConnect<S>>, mode: SslMode) -> io::Result<Box<dyn SendStream>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Some(tls) = tls.filter(|_| mode != SslMode::Disable) else { return Ok(Box::new(Plain(stream))) };
    stream.write_all(&ENCRYPTION_REQUEST).await?;
    stream.flush().await?;
    match stream.read_u8().await? {
        ENCRYPTS => Ok(Box::new(tls.connect(stream).await?)),
        _ if mode == SslMode::Prefer => Ok(Box::new(Plain(stream))),
        _ => Err(io::Error::other("the server does not support TLS")),
    }
}

/// A stream that is not encrypted.
struct Plain<S>(S);

impl<S: AsyncRead + Unpin> AsyncRead for Plain<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Plain<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Plain<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}
