//! Binds the listening socket. Rule: an error names the configuration key and what the operator can do.

use super::listener_settings::ListenerSettings;
use crate::middleware::ExposedHeaders;
use crate::tls::Tls;
use std::io;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait in the kernel to be accepted.
const BACKLOG: u32 = 1024;

#[derive(Debug, thiserror::Error)]
pub enum ListenerError {
    #[error("http.listen: {listen} is in use; stop the program that holds it or choose another port")]
    AddressInUse { listen: SocketAddr },
    #[error("http.listen: {listen} cannot be listened on: {source}")]
    Unusable {
        listen: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("the brand's header prefix {prefix:?} cannot begin the name of a header")]
    HeaderPrefix { prefix: String },
}

/// A bound listener that does not serve yet.
pub struct Listener {
    pub(super) tcp_listener: TcpListener,
    local_addr: SocketAddr,
    pub(super) settings: ListenerSettings,
    pub(super) exposed_headers: ExposedHeaders,
}

impl Listener {
    /// Must be called within a tokio runtime.
    pub fn bind(settings: &ListenerSettings) -> Result<Self, ListenerError> {
        let header_prefix = || ListenerError::HeaderPrefix { prefix: settings.header_prefix.clone() };
        let exposed_headers = ExposedHeaders::new(&settings.header_prefix).ok_or_else(header_prefix)?;
        let listen = settings.http.listen;
        let bind_error = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => ListenerError::AddressInUse { listen },
            _ => ListenerError::Unusable { listen, source },
        };
        let tcp_listener = bind_socket(listen).map_err(bind_error)?;
        let local_addr = tcp_listener.local_addr().map_err(bind_error)?;
        Ok(Self { tcp_listener, local_addr, settings: settings.clone(), exposed_headers })
    }

    /// What it speaks TLS with.
    pub fn tls(&self) -> Option<&Tls> {
        self.settings.tls.as_ref()
    }

    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }
}

fn bind_socket(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restart must not wait until the kernel forgets the connections of the last run.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
