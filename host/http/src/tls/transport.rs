//! The bytes of a connection within TLS. Rule: the watchdog sees the progress of the socket below, because what TLS took
//! from hyper need not be on its way.

use crate::connection::{ConnectionState, ReadBudget, Transport};
use gateway_activity::Sink;
use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::server::TlsStream;

pub(crate) struct TlsTransport(ReadBudget<TlsStream<WatchedStream>>);

impl TlsTransport {
    pub(crate) fn new(stream: TlsStream<WatchedStream>) -> Self {
        Self(ReadBudget(stream))
    }

    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.0.0.get_ref().1.alpn_protocol()
    }
}

impl Transport for TlsTransport {
    fn http1_sink(&self) -> Option<Weak<dyn Sink>> {
        // Bytes that are the same for all readers are encrypted for each: they take the way through hyper.
        None
    }
}

impl AsyncRead for TlsTransport {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for TlsTransport {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.0).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.0).poll_shutdown(cx)
    }
}

/// The socket below TLS.
pub(crate) struct WatchedStream {
    socket: TcpStream,
    state: Arc<ConnectionState>,
}

impl WatchedStream {
    pub(crate) fn new(socket: TcpStream, state: Arc<ConnectionState>) -> Self {
        Self { socket, state }
    }

    fn watch(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => self.state.write_blocked(),
            Poll::Ready(_) => self.state.write_progressed(),
        }
        written
    }
}

impl AsyncRead for WatchedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buffer)
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.watch(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.watch(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::{Certificate, Tls};
    use futures_util::FutureExt as _;
    use rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    };
    use std::time::Duration;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
        task::unconstrained,
        time::timeout,
    };
    use tokio_rustls::TlsConnector;

    const AUTHORITY: &[u8] = include_bytes!("../tests/tls/authority.pem");
    const CHAIN: &[u8] = include_bytes!("../tests/tls/first.pem");
    const KEY: &[u8] = include_bytes!("../tests/tls/first.key.pem");
    const LIMIT: Duration = Duration::from_secs(10);
    /// More than the buffers of both kernels hold.
    const BYTES_MAX: usize = 64 * 1024 * 1024;

    fn connector() -> TlsConnector {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(AUTHORITY).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        TlsConnector::from(Arc::new(config))
    }

    /// What TLS took and the socket did not would stay where it is: after the last byte of a response nobody writes again.
    #[tokio::test]
    async fn a_flush_waits_for_the_socket() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (watched, tls) = (
            WatchedStream::new(accepted.unwrap().0, Arc::new(ConnectionState::new())),
            Tls::new(Certificate::from_pem(CHAIN, KEY).unwrap(), false).unwrap(),
        );
        let (server, client) = tokio::join!(
            tls.acceptor().accept(watched),
            connector().connect(ServerName::try_from("gateway.test").unwrap(), client.unwrap())
        );
        let (mut server, mut client) = (TlsTransport::new(server.unwrap()), client.unwrap());
        let mut sent = 0;
        // The client reads nothing yet.
        while unconstrained(server.flush()).now_or_never().is_some() {
            assert!(sent < BYTES_MAX, "no flush waits");
            let written = unconstrained(server.write(&[7; 1024])).now_or_never();
            sent += written.expect("TLS is full before a flush waits").unwrap();
        }
        let mut received = vec![0; sent];
        let read = async { tokio::join!(server.flush(), client.read_exact(&mut received)) };
        let (flushed, read) = timeout(LIMIT, read).await.expect("what was written does not arrive");
        flushed.unwrap();
        assert_eq!(read.unwrap(), sent);
    }
}
