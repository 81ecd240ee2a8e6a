//! What a connection holds while it waits.

use super::fixture::settings;
use crate::body::{Body, RequestBody};
use crate::connection::{ConnectionSettings, Plain, serve_connection};
use crate::middleware::{ExposedHeaders, stack};
use http::{Request, Response};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::service_fn;

/// Thousands of connections are open at once. (hyper's own part is more than half of it.)
const CONNECTION_BYTES_MAX: usize = 6 * 1024;

#[tokio::test]
async fn the_task_of_a_connection_is_small() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let gateway =
        service_fn(|_: Request<RequestBody>| std::future::ready(Ok::<_, Infallible>(Response::new(Body::Empty))));
    let http = settings();
    let service = stack(&http, Duration::from_secs(1), ExposedHeaders::new("x").unwrap(), gateway);
    let connection_settings = Arc::new(ConnectionSettings::new(&http));
    let (peer, stop) = (IpAddr::V4(Ipv4Addr::LOCALHOST), CancellationToken::new());
    let connection = serve_connection(stream, peer, Plain, service, connection_settings, stop, ());
    let bytes = size_of_val(&connection);
    assert!(bytes <= CONNECTION_BYTES_MAX, "the task of a connection takes {bytes} bytes");
}
