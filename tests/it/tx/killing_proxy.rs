//! A JSON-RPC proxy that sends SIGKILL to its client at a chosen request: before it forwards the request, or before it
//! returns the response. Commits happen between two requests, so every step of sending is interrupted. The proxy can
//! also refuse payments for good, and forward every second refused one all the same.

use super::payee;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use plugin_testing::{Value, json};
use std::{
    convert::Infallible,
    net::Ipv4Addr,
    process::Child,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::{net::TcpListener, task::JoinHandle};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillPoint {
    /// The request is not forwarded.
    BeforeRequest,
    /// The node has executed the request; the response is lost.
    BeforeResponse,
}

pub struct KillingProxy {
    pub url: String,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    process: Option<Child>,
    /// The number of requests before the kill.
    kill_after: Option<(u64, KillPoint)>,
    /// Transactions of all runs.
    handed_out: u64,
    refuses: bool,
    /// Payments that were refused; every second one was forwarded to the node all the same.
    refused: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl KillingProxy {
    pub async fn start(upstream: String) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let task = tokio::spawn(serve(listener, upstream, state.clone()));
        Self { url, state, task }
    }

    /// Kills this process after that many of its requests, or never.
    pub fn attach(&self, process: Child, kill_after: Option<(u64, KillPoint)>) {
        let mut state = lock(&self.state);
        (state.process, state.kill_after) = (Some(process), kill_after);
    }

    /// How the process ended, once it has.
    pub fn ended(&self) -> Option<std::process::ExitStatus> {
        lock(&self.state).process.as_mut()?.try_wait().unwrap()
    }

    /// Kills the process now.
    pub fn kill(&self) {
        lock(&self.state).kill();
    }

    /// How many transactions the processes sent, including refused ones.
    pub fn handed_out(&self) -> u64 {
        lock(&self.state).handed_out
    }

    /// Whether payments are refused from now on, with an error that is final.
    pub fn refuse(&self, refuses: bool) {
        lock(&self.state).refuses = refuses;
    }
}

impl Drop for KillingProxy {
    fn drop(&mut self) {
        self.kill();
        self.task.abort();
    }
}

impl State {
    fn kill(&mut self) {
        if let Some(process) = &mut self.process {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Counts one request. Returns where to kill the process if this is its last one.
    fn count(&mut self) -> Option<KillPoint> {
        let (left, kill_point) = self.kill_after?;
        self.kill_after = left.checked_sub(1).map(|left| (left, kill_point));
        (left == 0).then_some(kill_point)
    }

    /// Counts requests that send a transaction, and returns the refusal if it is a payment and payments are refused.
    fn refusal(&mut self, question: &[u8]) -> Option<Refusal> {
        let question: Value = serde_json::from_slice(question).unwrap_or_default();
        if question["method"] != "eth_sendRawTransaction" {
            return None;
        }
        self.handed_out += 1;
        if !self.refuses || !is_payment(&question) {
            return None;
        }
        self.refused += 1;
        let error = json!({ "code": -32003, "message": payee::REFUSED });
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
        Some(Refusal { answer, is_lie: self.refused.is_multiple_of(2) })
    }
}

struct Refusal {
    answer: Value,
    is_lie: bool,
}

/// Whether a transaction is a payment: its raw bytes hold the address that it pays to.
fn is_payment(question: &Value) -> bool {
    let address = payee::account(0).to_string().to_lowercase();
    let of_all = &address[2..26];
    question["params"][0].as_str().is_some_and(|raw| raw.contains(of_all))
}

async fn serve(listener: TcpListener, upstream: String, state: Arc<Mutex<State>>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    while let Ok((socket, _)) = listener.accept().await {
        let (client, upstream, state) = (client.clone(), upstream.clone(), state.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let (client, upstream, state) = (client.clone(), upstream.clone(), state.clone());
            async move { Ok::<_, Infallible>(answer(request, &client, &upstream, &state).await) }
        });
        tokio::spawn(async move {
            // Fails when the client is killed.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    client: &reqwest::Client,
    upstream: &str,
    state: &Mutex<State>,
) -> Response<Full<Bytes>> {
    let question = request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let (kill_point, refusal) = {
        let mut state = lock(state);
        (state.count(), state.refusal(&question))
    };
    if kill_point == Some(KillPoint::BeforeRequest) {
        lock(state).kill();
        return failed();
    }
    // Forwarded: all requests but honestly refused payments.
    let answered = if refusal.as_ref().is_none_or(|refusal| refusal.is_lie) {
        let asked = client.post(upstream).header("content-type", "application/json").body(question).send().await;
        match asked {
            Ok(answer) => answer.bytes().await.ok(),
            Err(_) => None,
        }
    } else {
        None
    };
    if kill_point == Some(KillPoint::BeforeResponse) {
        lock(state).kill();
    }
    let refused = refusal.map(|refusal| refusal.answer.to_string().into());
    refused.or(answered).map_or_else(failed, |answer: Bytes| Response::new(Full::from(answer)))
}

fn failed() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}
