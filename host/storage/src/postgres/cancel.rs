//! Asks the server to stop what a session runs.
//!
//! The rule: the connection of the request stays open until the server has closed it. A pooler drops a request whose connection
//! was closed before it could pass it on, and the driver's own request closes it at once.

use super::{server_address::ServerAddress, transport::PostgresTransport};
use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, UnixStream},
};
use tokio_postgres::{CancelToken, config::Host, tls::MakeTlsConnect};

pub(crate) async fn cancel(address: &ServerAddress, token: &CancelToken) -> io::Result<()> {
    match (address.socket(), address.config.get_hosts()) {
        (Some(path), _) => send(UnixStream::connect(path).await?, "", address, token).await,
        (None, [Host::Tcp(host)]) => {
            let stream = TcpStream::connect((host.as_str(), address.port())).await?;
            send(stream, host, address, token).await
        }
        _ => Err(io::Error::other("the address names several servers")),
    }
}

async fn send<S>(stream: S, host: &str, address: &ServerAddress, token: &CancelToken) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // The token has the settings of the session's transport.
    let (mut transport, _) = PostgresTransport::new(&address.config, address.tls.clone());
    let connect = MakeTlsConnect::<UntilClosed<S>>::make_tls_connect(&mut transport, host);
    let sent = token.cancel_query_raw(UntilClosed(stream), connect.map_err(io::Error::other)?).await;
    sent.map_err(io::Error::other)
}

/// A stream whose shutdown waits until the other side closes it.
struct UntilClosed<S>(S);

impl<S: AsyncRead + Unpin> AsyncRead for UntilClosed<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for UntilClosed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut bytes = [0; 64];
            let mut buffer = ReadBuf::new(&mut bytes);
            match ready!(Pin::new(&mut self.0).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                Ok(()) | Err(_) => return Poll::Ready(Ok(())),
            }
        }
    }
}
