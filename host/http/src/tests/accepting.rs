//! The accept loop continues after every error of `accept`.

use crate::listener::{Acceptor, ConnectionSource};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const EMFILE: i32 = 24;
const ECONNABORTED: i32 = 103;

/// Returns these errors, then accepts.
struct FailingListener {
    errors: Mutex<VecDeque<i32>>,
    listener: TcpListener,
}

impl ConnectionSource for FailingListener {
    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let error = self.errors.lock().pop_front();
        match error {
            Some(error) => Err(io::Error::from_raw_os_error(error)),
            None => self.listener.accept().await,
        }
    }
}

async fn accept_after(errors: &[i32]) -> (SocketAddr, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let errors = Mutex::new(errors.iter().copied().collect());
    let mut acceptor = Acceptor::new(FailingListener { errors, listener }, Arc::default());
    let accepted = timeout(Duration::from_secs(10), acceptor.accept()).await.expect("nothing was accepted");
    (client.local_addr().unwrap(), accepted.1)
}

#[tokio::test]
async fn survives_running_out_of_file_descriptors() {
    let started_at = std::time::Instant::now();
    let (client, accepted) = accept_after(&[EMFILE, EMFILE, EMFILE]).await;
    assert_eq!(client, accepted);
    assert!(started_at.elapsed() >= Duration::from_millis(100), "waits instead of spinning");
}

#[tokio::test]
async fn continues_at_once_after_a_client_disconnects() {
    let (client, accepted) = accept_after(&[ECONNABORTED; 1000]).await;
    assert_eq!(client, accepted);
}
