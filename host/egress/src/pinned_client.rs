//! Sends requests to one address that was checked.
//!
//! The rule that must not break: a client knows only its one address and has no resolver, no proxy and no redirects. It sends a
//! request a second time only when the idle connection that it had chosen was closed before any byte of the request had left.

use super::{
    connection::{Connection, OutboundRequest, OutboundSocket},
    error::{BoxError, EgressError},
    idle_connections::IdleConnections,
    request::Hop,
    url_check::host_of,
};
use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, Uri,
    header::{self, InvalidHeaderValue},
};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::body::Incoming;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use std::{
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::TlsConnector;
use url::{Host, Origin};

/// TLS for a client of servers that the operator configured. Where none of them speaks TLS no certificates are needed, and none are read.
pub fn client_tls(needs_certificates: bool) -> Result<rustls::ClientConfig, EgressError> {
    if needs_certificates {
        return platform_tls();
    }
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(EgressError::Certificates)?;
    Ok(builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
}

/// The machine's root certificates, with the ring provider. They are read once per process, because that takes
/// milliseconds.
pub(super) fn platform_tls() -> Result<rustls::ClientConfig, EgressError> {
    static CONFIG: OnceLock<rustls::ClientConfig> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(config.clone());
    }
    let config = read_platform_tls().map_err(EgressError::Certificates)?;
    Ok(CONFIG.get_or_init(|| config).clone())
}

fn read_platform_tls() -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = rustls::crypto::ring::default_provider();
    // For clients that are built without a provider; the error only means that one is already installed.
    let _ = provider.clone().install_default();
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(provider));
    let builder = builder.with_safe_default_protocol_versions()?.with_platform_verifier()?;
    Ok(builder.with_no_client_auth())
}

/// What all clients of an [`Egress`](super::Egress) have in common.
pub(super) struct ClientSettings {
    tls: TlsConnector,
    user_agent: HeaderValue,
}

impl ClientSettings {
    pub(super) fn new(mut tls: rustls::ClientConfig, user_agent: &str) -> Result<Self, InvalidHeaderValue> {
        // HTTP/2 would put the calls of all plugins on one connection, where one of them can hold up the others.
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { tls: TlsConnector::from(Arc::new(tls)), user_agent: HeaderValue::from_str(user_agent)? })
    }
}

/// A cheap handle; clones share the connections, which are closed with the last of them.
#[derive(Clone)]
pub(super) struct PinnedClient(Arc<Inner>);

struct Inner {
    address: SocketAddr,
    /// Of an https origin, with the name that the certificate must have.
    tls: Option<(TlsConnector, ServerName<'static>)>,
    /// The header Host.
    host: HeaderValue,
    user_agent: HeaderValue,
    connect_timeout: Duration,
    idle: Arc<IdleConnections>,
}

impl PinnedClient {
    /// `address` is one that was checked for the origin.
    pub(super) fn new(
        origin: &Origin,
        address: SocketAddr,
        settings: &ClientSettings,
        connect_timeout: Duration,
    ) -> Result<Self, BoxError> {
        let Origin::Tuple(scheme, host, port) = origin else { return Err("the origin has no host".into()) };
        let is_tls = scheme == "https";
        let is_default_port = *port == if is_tls { 443 } else { 80 };
        let text = if is_default_port { host.to_string() } else { format!("{host}:{port}") };
        let name = if is_tls { Some((settings.tls.clone(), server_name(host)?)) } else { None };
        Ok(Self(Arc::new(Inner {
            address,
            tls: name,
            host: HeaderValue::try_from(text)?,
            user_agent: settings.user_agent.clone(),
            connect_timeout,
            idle: Arc::default(),
        })))
    }

    pub(super) async fn send(&self, hop: &Hop) -> Result<Response<PinnedBody>, EgressError> {
        let mut request = self.request(hop)?;
        loop {
            let idle = self.0.idle.take();
            let is_reused = idle.is_some();
            let mut connection = match idle {
                Some(connection) => connection,
                None => {
                    self.connect().await.map_err(|source| EgressError::Connect { host: host_of(&hop.url), source })?
                }
            };
            match connection.exchange(request).await {
                Ok(response) => {
                    return Ok(response.map(|incoming| PinnedBody::new(incoming, connection, &self.0.idle)));
                }
                Err(mut error) => match error.take_message() {
                    // None of its bytes had left.
                    Some(unsent) if is_reused => request = unsent,
                    _ => return Err(broken(hop, error.into_error())),
                },
            }
        }
    }

    fn request(&self, hop: &Hop) -> Result<OutboundRequest, EgressError> {
        let path_and_query = match hop.url.query() {
            Some(query) => format!("{}?{query}", hop.url.path()),
            None => hop.url.path().to_owned(),
        };
        let uri = Uri::try_from(path_and_query);
        let uri = uri.map_err(|_invalid| EgressError::BadUrl { problem: "has a path that cannot be sent" })?;
        let mut request = Request::new(Full::new(hop.body.clone()));
        *request.method_mut() = hop.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = hop.headers.clone();
        let headers = request.headers_mut();
        headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers.entry(header::USER_AGENT).or_insert_with(|| self.0.user_agent.clone());
        headers.insert(header::HOST, self.0.host.clone());
        if hop.body.is_empty() && matches!(hop.method, Method::POST | Method::PUT | Method::PATCH) {
            // Some servers respond with 411 when these have no Content-Length.
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        Ok(request)
    }

    async fn connect(&self) -> Result<Connection, BoxError> {
        let Inner { address, tls, connect_timeout, .. } = &*self.0;
        timeout(*connect_timeout, async {
            let socket = TcpStream::connect(*address).await?;
            socket.set_nodelay(true)?;
            let socket = match tls {
                None => OutboundSocket::Plain(socket),
                Some((connector, name)) => {
                    OutboundSocket::Tls(Box::new(connector.connect(name.clone(), socket).await?))
                }
            };
            Ok(Connection::new(socket).await?)
        })
        .await?
    }
}

fn server_name(host: &Host<String>) -> Result<ServerName<'static>, BoxError> {
    Ok(match host {
        Host::Domain(name) => ServerName::try_from(name.clone())?,
        Host::Ipv4(address) => ServerName::IpAddress((*address).into()),
        Host::Ipv6(address) => ServerName::IpAddress((*address).into()),
    })
}

fn broken(hop: &Hop, error: hyper::Error) -> EgressError {
    EgressError::BrokenResponse { host: host_of(&hop.url), source: Some(Box::new(error)) }
}

/// The body of an answer, with the connection that it arrives on: that is put back at the end, and closed when the body is dropped
/// before.
pub(super) struct PinnedBody {
    incoming: Incoming,
    connection: Option<Connection>,
    idle: Arc<IdleConnections>,
}

impl PinnedBody {
    fn new(incoming: Incoming, connection: Connection, idle: &Arc<IdleConnections>) -> Self {
        let mut body = Self { incoming, connection: Some(connection), idle: idle.clone() };
        if body.incoming.is_end_stream() {
            body.end();
        }
        body
    }

    fn end(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.idle.put(connection);
        }
    }
}

impl Body for PinnedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let mut polled = Pin::new(&mut self.incoming).poll_frame(context);
        if polled.is_pending()
            && let Some(connection) = &mut self.connection
        {
            connection.drive(context);
            polled = Pin::new(&mut self.incoming).poll_frame(context);
        }
        let frame = ready!(polled);
        match frame {
            Some(Ok(_)) => {}
            Some(Err(_)) => self.connection = None,
            None => self.end(),
        }
        Poll::Ready(frame)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
