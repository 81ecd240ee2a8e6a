//! The listener over TLS, and clients that do not speak it.

use super::fixture::{Client, LIMIT, TestServer, eventually, listener_settings, serve, settings};
use crate::body::Body;
use crate::{Certificate, CertificateError, ListenerSettings, Tls};
use bytes::Bytes;
use gateway_config::HttpConfig;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, HandshakeKind, RootCertStore, crypto::ring};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Made for these tests with openssl, for `gateway.test` and `127.0.0.1`; nothing else trusts their authority.
const AUTHORITY: &[u8] = include_bytes!("tls/authority.pem");
const FIRST: (&[u8], &[u8]) = (include_bytes!("tls/first.pem"), include_bytes!("tls/first.key.pem"));
const RENEWED: (&[u8], &[u8]) = (include_bytes!("tls/renewed.pem"), include_bytes!("tls/renewed.key.pem"));

/// 2126-11-03 09:17:48, as `openssl x509 -enddate` says.
const UNTIL: u64 = 4_949_371_068;

fn certificate((chain, key): (&[u8], &[u8])) -> Certificate {
    Certificate::from_pem(chain, key).unwrap()
}

fn start(http: &HttpConfig) -> (TestServer, Tls) {
    let tls = Tls::new(certificate(FIRST), http.http2).unwrap();
    (serve(&ListenerSettings { tls: Some(tls.clone()), ..listener_settings(http) }), tls)
}

fn connector(alpn: &[&str], versions: &[&'static rustls::SupportedProtocolVersion]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(AUTHORITY).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsConnector::from(Arc::new(config))
}

async fn connect(addr: SocketAddr, alpn: &[&str]) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(addr).await?;
    connector(alpn, rustls::ALL_VERSIONS).connect(ServerName::try_from("gateway.test").unwrap(), stream).await
}

/// The certificate that the server shows.
fn shown(stream: &TlsStream<TcpStream>) -> CertificateDer<'static> {
    stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
}

/// One request on a connection that closes.
async fn get_http1(stream: &mut TlsStream<TcpStream>, path: &str) -> String {
    let head = format!("GET {path} HTTP/1.1\r\nhost: gateway.test\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut response = String::new();
    timeout(LIMIT, stream.read_to_string(&mut response)).await.expect("no response in time").unwrap();
    response
}

async fn get_http2(stream: TlsStream<TcpStream>, path: &str) -> (StatusCode, Bytes) {
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::get(format!("https://gateway.test{path}")).body(Body::Empty).unwrap();
    let response = timeout(LIMIT, sender.send_request(request)).await.expect("no response in time").unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    connection.abort();
    (status, body)
}

#[tokio::test]
async fn serves_http1_and_http2_by_what_the_client_asks_for() {
    let (server, _tls) = start(&settings());
    for alpn in [&[][..], &["http/1.1"]] {
        let mut stream = connect(server.addr, alpn).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), alpn.first().map(|name| name.as_bytes()));
        let response = get_http1(&mut stream, "/who").await;
        assert!(
            response.starts_with("HTTP/1.1 200 OK\r\n")
                && response.contains("\r\n\r\n127.0.0.1 ")
                && response.ends_with(" gateway.test"),
            "{response}"
        );
    }
    let stream = connect(server.addr, &["h2", "http/1.1"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (status, body) = get_http2(stream, "/who").await;
    assert!(status == 200 && body.starts_with(b"127.0.0.1 ") && body.ends_with(b" gateway.test"), "{body:?}");
}

#[tokio::test]
async fn speaks_tls_1_2_and_1_3_and_no_http2_where_it_is_off() {
    let (server, _tls) = start(&HttpConfig { http2: false, ..settings() });
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let stream = TcpStream::connect(server.addr).await.unwrap();
        let connector = connector(&["h2", "http/1.1"], &[version]);
        let mut stream = connector.connect(ServerName::try_from("gateway.test").unwrap(), stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        assert!(get_http1(&mut stream, "/hello").await.ends_with("hello"));
    }
}

#[tokio::test]
async fn a_stream_of_events_and_a_large_body_arrive() {
    let (server, _tls) = start(&settings());
    let mut stream = connect(server.addr, &["http/1.1"]).await.unwrap();
    assert_eq!(get_http1(&mut stream, "/events").await.matches("data: x").count(), 1000);
    let (_, body) = get_http2(connect(server.addr, &["h2"]).await.unwrap(), "/events").await;
    assert_eq!(body.len(), 1000 * "data: x\n\n".len());
    let sent = "x".repeat(90_000);
    let mut stream = connect(server.addr, &["http/1.1"]).await.unwrap();
    let head = "POST /echo HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 90000\r\n\r\n";
    stream.write_all(format!("{head}{sent}").as_bytes()).await.unwrap();
    let mut response = String::new();
    timeout(LIMIT, stream.read_to_string(&mut response)).await.unwrap().unwrap();
    assert!(response.ends_with(&sent));
}

/// A client that is still sending gets the refusal, not a reset.
#[tokio::test]
async fn a_body_that_is_too_large_gets_413() {
    let (server, _tls) = start(&settings());
    let mut stream = connect(server.addr, &["http/1.1"]).await.unwrap();
    stream.write_all(b"POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 3000000\r\n\r\n").await.unwrap();
    let part = [b'x'; 30_000];
    for _ in 0..100 {
        stream.write_all(&part).await.expect("what it still sends is read");
    }
    let mut response = Vec::new();
    timeout(LIMIT, stream.read_to_end(&mut response)).await.expect("the connection stays open").unwrap();
    assert!(response.starts_with(b"HTTP/1.1 413 "), "{}", String::from_utf8_lossy(&response));
}

#[tokio::test]
async fn plain_http_gets_a_clear_400_and_garbage_is_closed() {
    let (server, _tls) = start(&HttpConfig { tarpit_ms: 300, ..settings() });
    let started_at = Instant::now();
    let mut client = Client::connect(server.addr).await;
    let response = client.get("/hello").await;
    assert_eq!((response.status, &*response.code()), (400, "plain_http"));
    assert!(response.text().contains("https://") && response.header("x-request-id").is_some(), "{}", response.text());
    client.expect_close().await;
    let mut garbage = Client::connect(server.addr).await;
    garbage.send([0_u8; 100]).await;
    garbage.expect_close().await;
    assert!(started_at.elapsed() >= Duration::from_millis(600), "each of them waited: {:?}", started_at.elapsed());
}

#[tokio::test]
async fn a_handshake_that_fails_is_closed() {
    let (server, _tls) = start(&settings());
    // A record of the handshake that holds none.
    let mut client = Client::connect(server.addr).await;
    client.send([&[22, 3, 1, 0, 100][..], &[0; 100]].concat()).await;
    let mut rest = Vec::new();
    let _ = timeout(LIMIT, client.stream.read_to_end(&mut rest)).await.expect("the connection stays open");
    assert!(rest.first().is_none_or(|kind| *kind == 21), "an alert, if anything: {rest:?}");
    // A client that asks for another protocol.
    connect(server.addr, &["gopher"]).await.unwrap_err();
    // One whose name the certificate does not have.
    let stream = TcpStream::connect(server.addr).await.unwrap();
    let connector = connector(&[], rustls::ALL_VERSIONS);
    connector.connect(ServerName::try_from("other.test").unwrap(), stream).await.unwrap_err();
    assert!(get_http1(&mut connect(server.addr, &[]).await.unwrap(), "/hello").await.ends_with("hello"));
}

/// Otherwise a client could use up the connections of its address for good, and many clients those of the listener.
#[tokio::test]
async fn a_connection_that_came_to_no_handshake_is_not_counted_on() {
    let no_handshake = [&[22, 3, 1, 0, 100][..], &[0; 100]].concat();
    for bytes in [&no_handshake[..], b"GET / HTTP/1.1\r\n\r\n", &[0; 10], &[]] {
        let (server, _tls) = start(&HttpConfig { connections_per_ip_max: 1, ..settings() });
        let mut open = None;
        if bytes.is_empty() {
            connect(server.addr, &["gopher"]).await.unwrap_err();
        } else {
            // It stays open on the side of the client.
            open.insert(Client::connect(server.addr).await).send(bytes).await;
        }
        let is_taken = || async { connect(server.addr, &[]).await.is_ok() };
        eventually(&format!("another connection is taken after {bytes:?}"), is_taken).await;
        drop(open);
    }
}

/// HTTP/2 over TLS is agreed on in the handshake.
#[tokio::test]
async fn http2_that_was_not_agreed_on_is_refused() {
    let (server, _tls) = start(&settings());
    let mut stream = connect(server.addr, &[]).await.unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    let mut response = String::new();
    timeout(LIMIT, stream.read_to_string(&mut response)).await.unwrap().unwrap();
    assert!(response.starts_with("HTTP/1.1 400 ") && response.contains("http2_off"), "{response}");
}

#[tokio::test]
async fn a_slow_handshake_is_cut() {
    let (server, _tls) = start(&HttpConfig { header_read_timeout_ms: 200, ..settings() });
    for sent in [&[][..], &[22], &[22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]] {
        let started_at = Instant::now();
        let mut client = Client::connect(server.addr).await;
        client.send(sent).await;
        client.expect_close().await;
        assert!((150..3000).contains(&started_at.elapsed().as_millis()), "{sent:?}: {:?}", started_at.elapsed());
    }
    // The time of the handshake is not taken from that of the head.
    let mut stream = connect(server.addr, &[]).await.unwrap();
    stream.write_all(b"GET /hello HTTP/1.1\r\n").await.unwrap();
    let mut response = String::new();
    let started_at = Instant::now();
    timeout(LIMIT, stream.read_to_string(&mut response)).await.unwrap().unwrap();
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    assert!(started_at.elapsed() >= Duration::from_millis(150), "{:?}", started_at.elapsed());
}

#[tokio::test]
async fn connections_count_before_their_handshake() {
    let (server, _tls) = start(&HttpConfig { connections_per_ip_max: 2, ..settings() });
    let silent = [Client::connect(server.addr).await, Client::connect(server.addr).await];
    // Accepted in their order, so both are counted when this one is.
    connect(server.addr, &[]).await.unwrap_err();
    drop(silent);
    eventually("a permit is free", || async { connect(server.addr, &[]).await.is_ok() }).await;
}

#[tokio::test]
async fn a_reader_that_stops_is_cut() {
    let (server, _tls) = start(&HttpConfig { idle_timeout_ms: 400, ..settings() });
    let mut stream = connect(server.addr, &["http/1.1"]).await.unwrap();
    stream.write_all(b"GET /flood HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    // Not reading: the buffers of both kernels fill, then nothing moves.
    let cut = async {
        while stream.get_ref().0.take_error().unwrap().is_none() && stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, cut).await.expect("the connection stays open");
}

#[tokio::test]
async fn a_new_certificate_is_for_new_connections() {
    let (server, tls) = start(&settings());
    let mut before = connect(server.addr, &["http/1.1"]).await.unwrap();
    let leaf = |pem: &[u8]| CertificateDer::from_pem_slice(pem).unwrap();
    assert_eq!(shown(&before), leaf(FIRST.0));
    tls.replace(certificate(RENEWED));
    assert_eq!(shown(&connect(server.addr, &[]).await.unwrap()), leaf(RENEWED.0));
    assert!(get_http1(&mut before, "/hello").await.ends_with("hello"), "what is open goes on");
}

/// A certificate of a client is checked in each handshake, so none may be left out.
#[tokio::test]
async fn sessions_are_resumed_only_where_clients_are_not_asked_for_certificates() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let silent = Tls::new(certificate(FIRST), true).unwrap();
        let asking = Tls::asking_clients(certificate(FIRST), AUTHORITY).unwrap();
        for (tls, second) in [(silent, HandshakeKind::Resumed), (asking, HandshakeKind::Full)] {
            let server = serve(&ListenerSettings { tls: Some(tls), ..listener_settings(&settings()) });
            let (connector, mut kinds) = (connector(&[], &[version]), Vec::new());
            for _ in 0..2 {
                let stream = TcpStream::connect(server.addr).await.unwrap();
                let name = ServerName::try_from("gateway.test").unwrap();
                let mut stream = connector.connect(name, stream).await.unwrap();
                kinds.extend(stream.get_ref().1.handshake_kind());
                // A session comes at the latest with the response.
                assert!(get_http1(&mut stream, "/hello").await.ends_with("hello"));
            }
            assert_eq!(kinds, [HandshakeKind::Full, second], "{version:?}");
        }
    }
}

#[test]
fn a_pair_that_is_wrong_is_refused() {
    let refusal = |chain: &[u8], key: &[u8]| Certificate::from_pem(chain, key).unwrap_err();
    assert_eq!(refusal(FIRST.0, RENEWED.1), CertificateError::OtherKey);
    assert_eq!(refusal(b"", FIRST.1), CertificateError::NoCertificate);
    assert_eq!(refusal(FIRST.1, FIRST.1), CertificateError::NoCertificate);
    assert_eq!(refusal(FIRST.0, FIRST.0), CertificateError::NoKey);
    let broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert_eq!(refusal(broken, FIRST.1), CertificateError::UnreadableCertificate);
    let key = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    assert_eq!(refusal(FIRST.0, key), CertificateError::UnusableKey);
}

#[test]
fn a_certificate_says_for_whom_and_until_when() {
    let first = certificate(FIRST);
    assert!(first.is_for("gateway.test") && first.is_for("127.0.0.1"));
    assert!(!first.is_for("other.test") && !first.is_for("[::1]") && !first.is_for("no name"));
    let until = first.valid_until().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(until, Duration::from_secs(UNTIL));
    assert!(!format!("{first:?}").contains("PRIVATE"));
}
