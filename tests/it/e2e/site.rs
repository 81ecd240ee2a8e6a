//! A client of the gateway: requests over a socket, signed with the current time.

use super::stream_reader::StreamReader;
use bytes::Bytes;
use gateway_clock::Clock;
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_testing::{TestResponse, Value, Wallet, json};
use reqwest::{Client, ClientBuilder, Method, RequestBuilder};
use std::{
    net::IpAddr,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

pub const THREADS: &str = "/api/forum/threads";

#[derive(Clone)]
pub struct Site {
    base_url: String,
    http: Client,
}

impl Site {
    pub fn of(process: &GatewayProcess) -> Self {
        Self::at(process.base_url())
    }

    /// A client at another address of this machine.
    pub fn from_address(process: &GatewayProcess, address: IpAddr) -> Self {
        Self::build(process.base_url(), |http| http.local_address(address))
    }

    pub fn at(base_url: &str) -> Self {
        Self::build(base_url, |http| http)
    }

    /// A client that trusts these certificates alone, and speaks HTTP/2 unless it is told not to.
    pub fn over_tls(base_url: &str, authorities_pem: &[u8], is_http1: bool) -> Self {
        let authorities = reqwest::Certificate::from_pem_bundle(authorities_pem).unwrap();
        Self::build(base_url, |http| {
            let http = http.tls_certs_only(authorities);
            if is_http1 { http.http1_only() } else { http }
        })
    }

    /// A client that shows this certificate with its key, both PEM.
    pub fn with_certificate(base_url: &str, authorities_pem: &[u8], shown_pem: &[u8]) -> Self {
        let authorities = reqwest::Certificate::from_pem_bundle(authorities_pem).unwrap();
        let shown = reqwest::Identity::from_pem(shown_pem).unwrap();
        Self::build(base_url, |http| http.tls_certs_only(authorities).identity(shown).pool_max_idle_per_host(0))
    }

    fn build(base_url: &str, change: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Self {
        // Fails if it is installed already. reqwest requires a provider, also where no TLS is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder().no_proxy().tls_certs_only([]).retry(reqwest::retry::never());
        Self { base_url: base_url.to_owned(), http: change(http).build().unwrap() }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base_url))
    }

    pub async fn get(&self, path: &str) -> TestResponse {
        answer(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> TestResponse {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        answer(request.body(body.to_string())).await
    }

    /// Calls a path until told to stop, and counts; any answer but 200 is a failure.
    pub async fn keep_calling(&self, path: &str, is_over: &AtomicBool, calls: &AtomicUsize) {
        while !is_over.load(SeqCst) {
            let answer = self.get(path).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            calls.fetch_add(1, SeqCst);
        }
    }

    /// A write that is signed now.
    pub async fn write(&self, path: &str, wallet: &Wallet, action: &str, payload: Value) -> TestResponse {
        self.post(path, &signed(wallet, action, &payload)).await
    }

    /// Opens a thread and answers its id.
    pub async fn open_thread(&self, wallet: &Wallet, title: &str) -> i64 {
        let payload = json!({ "title": title, "body": "The opening post", "tags": ["e2e"] });
        let thread = self.write(THREADS, wallet, "thread.create", payload).await;
        assert_eq!(thread.status, 201, "{}", thread.text());
        thread.json()["id"].as_i64().unwrap()
    }

    /// Replies to a thread and answers the post.
    pub async fn reply(&self, wallet: &Wallet, thread: i64, body: &str) -> Value {
        let post = self.write(&posts_of(thread), wallet, "post.create", json!({ "body": body })).await;
        assert_eq!(post.status, 201, "{}", post.text());
        post.json()
    }

    /// An open stream. When this returns, the gateway has noted its position: every later commit is delivered.
    pub async fn follow(&self, path: &str, last_event_id: Option<&[u8]>) -> StreamReader {
        let mut request = self.request(Method::GET, path).header("accept", "text/event-stream");
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        let response = in_time(request.send()).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        StreamReader::new(response)
    }
}

pub fn posts_of(thread: i64) -> String {
    format!("{THREADS}/{thread}/posts")
}

/// A body with its envelope, signed now.
pub fn signed(wallet: &Wallet, action: &str, payload: &Value) -> Value {
    wallet.signed_body(action, Clock::System.now_s(), payload)
}

pub async fn answer(request: RequestBuilder) -> TestResponse {
    let response = in_time(request.send()).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body: Bytes = in_time(response.bytes()).await.unwrap();
    TestResponse { status, headers, body }
}

pub async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, work).await.expect("the gateway does not answer in time")
}
