//! TLS: the handshake names the host although the address was resolved before, and untrusted certificates are refused.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread::JoinHandle,
};

use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

use super::fixture::*;
use crate::Egress;

/// Created for these tests with openssl, for `fixture.test`; nothing else trusts it.
const CERTIFICATE: &[u8] = include_bytes!("tls/certificate.pem");
const KEY: &[u8] = include_bytes!("tls/key.pem");

struct TlsFixture {
    port: u16,
    /// What the client resolved for, and whether the handshake and the exchange went well.
    served: JoinHandle<(Option<String>, Vec<u8>, std::io::Result<()>)>,
}

/// Serves one connection on its own thread.
fn tls_fixture() -> TlsFixture {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || serve(listener.accept().unwrap().0));
    TlsFixture { port, served }
}

fn serve(mut stream: TcpStream) -> (Option<String>, Vec<u8>, std::io::Result<()>) {
    let mut acceptor = rustls::server::Acceptor::default();
    let accepted = loop {
        acceptor.read_tls(&mut stream).unwrap();
        if let Some(accepted) = acceptor.accept().unwrap_or_else(|(error, _)| panic!("{error}")) {
            break accepted;
        }
    };
    let name = accepted.client_hello().server_name().map(str::to_owned);
    let alpn = accepted.client_hello().alpn().map(|mut offered| offered.next().unwrap().to_vec());
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let exchange = || {
        let mut connection =
            accepted.into_connection(Arc::new(config)).map_err(|(error, _)| std::io::Error::other(error))?;
        let mut tls = rustls::Stream::new(&mut connection, &mut stream);
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            tls.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")?;
        tls.flush()
    };
    (name, alpn.unwrap_or_default(), exchange())
}

fn trusting(settings: crate::EgressSettings, resolver: &Arc<ScriptedResolver>) -> Egress {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CERTIFICATE).unwrap()).unwrap();
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Egress::with_tls(settings, Arc::<ScriptedResolver>::clone(resolver), tls).unwrap()
}

fn resolver() -> Arc<ScriptedResolver> {
    ScriptedResolver::new(&[("fixture.test", &[&["127.0.0.1"]]), ("other.test", &[&["127.0.0.1"]])])
}

#[tokio::test]
async fn the_handshake_names_the_host() {
    let fixture = tls_fixture();
    let egress = trusting(settings(&[format!("127.0.0.1:{}", fixture.port)]), &resolver());
    let url = format!("https://fixture.test:{}/", fixture.port);
    let response = egress.fetch("hello", get(&url)).await.unwrap();
    assert_eq!(&response.body[..], b"secret");
    let (name, alpn, exchange) = fixture.served.join().unwrap();
    assert_eq!(name.as_deref(), Some("fixture.test"));
    assert_eq!(alpn, b"http/1.1");
    exchange.unwrap();
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let fixture = tls_fixture();
    let egress = trusting(settings(&[format!("127.0.0.1:{}", fixture.port)]), &resolver());
    let url = format!("https://other.test:{}/", fixture.port);
    let error = egress.fetch("hello", get(&url)).await.unwrap_err();
    assert_eq!(error.code(), "connect");
    assert_eq!(error.to_string(), "no connection to \"other.test\"");
    assert!(fixture.served.join().unwrap().2.is_err(), "no request was sent");
}

#[tokio::test]
async fn a_certificate_of_an_unknown_issuer_is_refused() {
    let fixture = tls_fixture();
    let egress = egress_with(settings(&[format!("127.0.0.1:{}", fixture.port)]), &resolver());
    let url = format!("https://fixture.test:{}/", fixture.port);
    let error = egress.fetch("hello", get(&url)).await.unwrap_err();
    assert_eq!(error.code(), "connect");
    assert!(fixture.served.join().unwrap().2.is_err(), "no request was sent");
}
