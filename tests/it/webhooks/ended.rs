//! The leases of endpoints that a gateway had when it ended, or when it lost its database: another one has them soon, and never while
//! the first one still calls.

use super::{message, register, setup};
use crate::{e2e::Site, storage::Engine};
use gateway_tests::{
    postgres_proxy::PostgresProxy,
    process::{GatewayProcess, LIMIT, Setup},
};
use parking_lot::Mutex;
use plugin_testing::{TestGateway, Wallet};
use std::{
    net::Ipv4Addr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// Five seconds after its last heartbeat a gateway has ended, and two later the others know it. A lease has 30.
const TAKEN_OVER: Duration = Duration::from_secs(15);

/// Never answers its first call, and the others at once.
struct Endpoint {
    url: String,
    calls: Arc<Mutex<Calls>>,
}

#[derive(Default)]
struct Calls {
    begun: Vec<Instant>,
    /// When the gateway gave up the first one.
    first_closed: Option<Instant>,
}

impl Endpoint {
    async fn listen() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let calls = Arc::<Mutex<Calls>>::default();
        tokio::spawn({
            let calls = calls.clone();
            async move {
                while let Ok((socket, _)) = listener.accept().await {
                    tokio::spawn(answer(socket, calls.clone()));
                }
            }
        });
        Self { url, calls }
    }

    async fn is_called(&self, times: usize) {
        let what = format!("it is called {times} times");
        TestGateway::eventually(LIMIT, &what, async || self.calls.lock().begun.len() == times).await;
    }
}

async fn answer(mut socket: TcpStream, calls: Arc<Mutex<Calls>>) {
    let mut buffer = vec![0; 64 * 1024];
    if socket.read(&mut buffer).await.unwrap_or(0) == 0 {
        return;
    }
    let number = {
        let mut calls = calls.lock();
        calls.begun.push(Instant::now());
        calls.begun.len()
    };
    if number > 1 {
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
    }
    while socket.read(&mut buffer).await.unwrap_or(0) > 0 {}
    if number == 1 {
        calls.lock().first_closed = Some(Instant::now());
    }
}

/// A gateway that calls the endpoint now, and another one.
async fn calling(first: &Setup, database_url: &str, endpoint: &Endpoint) -> (GatewayProcess, GatewayProcess) {
    let calling = first.start().await.unwrap();
    let site = Site::of(&calling);
    register(&site, &endpoint.url, "a secret of some length").await;
    assert_eq!(message(&site, &Wallet::new(10), "once").await.status, 201);
    endpoint.is_called(1).await;
    let other = setup(Engine::Sqlite).await.set("database.url", database_url).start().await.unwrap();
    (calling, other)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_gateway_was_sending_another_one_sends_soon() {
    let (first, endpoint) = (setup(Engine::Postgres).await, Endpoint::listen().await);
    let (mut killed, mut other) = calling(&first, first.get("database.url").unwrap(), &endpoint).await;
    killed.kill().await.unwrap();
    let died = Instant::now();
    endpoint.is_called(2).await;
    assert!(died.elapsed() < TAKEN_OVER, "{:?}", died.elapsed());
    assert!(other.terminate(LIMIT).await.unwrap().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_without_its_database_stops_calling_before_another_one_calls() {
    let (first, endpoint) = (setup(Engine::Postgres).await, Endpoint::listen().await);
    let database_url = first.get("database.url").unwrap().to_owned();
    let proxy = PostgresProxy::start(&database_url).await.unwrap();
    let first = first.set("database.url", proxy.url());
    let (_lives, mut other) = calling(&first, &database_url, &endpoint).await;
    drop(proxy);
    endpoint.is_called(2).await;
    let (closed, second) = {
        let calls = endpoint.calls.lock();
        (calls.first_closed.expect("the first call goes on"), calls.begun[1])
    };
    assert!(closed < second, "{:?} after the other one began", closed - second);
    assert!(other.terminate(LIMIT).await.unwrap().success());
}
