//! The handshake of one connection. Rule: it counts against the limits of connections and has a time limit; a client that
//! does not speak TLS costs no cryptography, and waits as one that sends no HTTP does.

use super::{
    certificate::{Tls, is_http2},
    handshake_error::HandshakeError,
    transport::{TlsTransport, WatchedStream},
};
use crate::{
    connection::{ConnectionSettings, ConnectionState, LingeringClose, MakeTransport, NewTransport},
    raw_response::raw_response,
};
use plugin_api::response::Problem;
use std::{future::poll_fn, io, net::IpAddr, sync::Arc, time::Duration};
use tokio::{
    io::AsyncWriteExt as _,
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

/// The first byte of a handshake.
const HANDSHAKE_RECORD: u8 = 22;
/// How long a client may take to read that it has to speak TLS.
const LINGER: Duration = Duration::from_secs(1);

impl MakeTransport for Tls {
    type Transport = TlsTransport;

    async fn make_transport(
        self,
        stream: TcpStream,
        peer: IpAddr,
        settings: &ConnectionSettings,
        state: &Arc<ConnectionState>,
    ) -> Option<NewTransport<TlsTransport>> {
        // Boxed: a connection that is open does not keep the memory of its handshake.
        let transport = match Box::pin(self.shake_hands(stream, settings, state)).await {
            Ok(transport) => transport,
            Err(error) => {
                metrics::counter!("gateway_tls_handshakes_failed_total", "reason" => error.label()).increment(1);
                tracing::debug!(%peer, error = &error as &dyn std::error::Error, "a connection came to no request");
                return None;
            }
        };
        let is_http2 = is_http2(transport.alpn());
        if is_http2 {
            settings.penalties.wait_as_http2(peer).await;
        }
        Some(NewTransport { transport, may_be_http2: is_http2 })
    }
}

impl Tls {
    async fn shake_hands(
        self,
        mut stream: TcpStream,
        settings: &ConnectionSettings,
        state: &Arc<ConnectionState>,
    ) -> Result<TlsTransport, HandshakeError> {
        let limit = settings.timeouts.head();
        let checked = timeout(limit, check_first_byte(&stream)).await.unwrap_or(Err(HandshakeError::Timeout));
        if let Err(error) = checked {
            if matches!(error, HandshakeError::PlainHttp | HandshakeError::NotTls) {
                sleep(settings.tarpit).await;
            }
            if matches!(error, HandshakeError::PlainHttp) {
                refuse_plain_http(&mut stream).await;
            }
            return Err(error);
        }
        let stream = WatchedStream::new(stream, state.clone());
        match timeout(limit, TlsAcceptor::from(self.config).accept(stream)).await {
            Ok(Ok(stream)) => Ok(TlsTransport::new(stream)),
            Ok(Err(error)) if has_left(&error) => Err(HandshakeError::Left),
            Ok(Err(error)) => {
                sleep(settings.tarpit).await;
                Err(HandshakeError::Failed(error))
            }
            Err(_elapsed) => Err(HandshakeError::Timeout),
        }
    }
}

/// Looks at the first byte without taking it.
async fn check_first_byte(stream: &TcpStream) -> Result<(), HandshakeError> {
    let mut first = [0];
    match stream.peek(&mut first).await {
        Ok(0) | Err(_) => Err(HandshakeError::Left),
        Ok(_) => match first {
            [HANDSHAKE_RECORD] => Ok(()),
            // The method of a request.
            [byte] if byte.is_ascii_uppercase() => Err(HandshakeError::PlainHttp),
            _ => Err(HandshakeError::NotTls),
        },
    }
}

/// The client sees why, not only that the connection ends. What it sent is not read as a request.
async fn refuse_plain_http(stream: &mut TcpStream) {
    let problem = Problem::new(400, "plain_http", "this port speaks HTTPS").hint("use https://");
    // A write fails if the client has left; then nothing more can be done.
    if stream.write_all(raw_response(&problem, "").as_bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        let mut lingering_close = LingeringClose::new(LINGER);
        poll_fn(|cx| lingering_close.poll(stream, cx)).await;
    }
}

fn has_left(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
