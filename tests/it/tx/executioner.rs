//! A JSON-RPC proxy that kills who asks: SIGKILL at a request of its choice, before the chain hears of it or before the answer
//! comes back. Between two requests lie the commits, so every step of sending is met. It can also refuse payments for good,
//! and lie about that.

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
pub enum Moment {
    /// The chain does not hear of the request.
    Before,
    /// The chain has done what it was asked.
    After,
}

pub struct Executioner {
    pub url: String,
    block: Arc<Mutex<Block>>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Block {
    victim: Option<Child>,
    /// Requests to go.
    fate: Option<(u64, Moment)>,
    /// Transactions of all lives.
    handed_out: u64,
    refuses: bool,
    /// Payments that were refused, of which the chain has heard of every second one all the same.
    refused: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Executioner {
    pub async fn start(upstream: String) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let block = Arc::new(Mutex::new(Block::default()));
        let task = tokio::spawn(serve(listener, upstream, block.clone()));
        Self { url, block, task }
    }

    /// The next to be killed, after so many of its requests; without a fate it lives.
    pub fn take(&self, victim: Child, fate: Option<(u64, Moment)>) {
        let mut block = lock(&self.block);
        (block.victim, block.fate) = (Some(victim), fate);
    }

    /// How the process ended, once it has.
    pub fn ended(&self) -> Option<std::process::ExitStatus> {
        lock(&self.block).victim.as_mut()?.try_wait().unwrap()
    }

    /// Kills it now, wherever it is.
    pub fn kill(&self) {
        lock(&self.block).kill();
    }

    /// How many transactions were handed to the server, also those that it refused.
    pub fn handed_out(&self) -> u64 {
        lock(&self.block).handed_out
    }

    /// Whether payments are refused from now on, in words that no server takes back.
    pub fn refuse(&self, refuses: bool) {
        lock(&self.block).refuses = refuses;
    }
}

impl Drop for Executioner {
    fn drop(&mut self) {
        self.kill();
        self.task.abort();
    }
}

impl Block {
    fn kill(&mut self) {
        if let Some(victim) = &mut self.victim {
            // It may have ended by itself.
            let _ = victim.kill();
            let _ = victim.wait();
        }
    }

    /// Counts one request; its moment, when it is the last.
    fn count(&mut self) -> Option<Moment> {
        let (left, moment) = self.fate?;
        self.fate = left.checked_sub(1).map(|left| (left, moment));
        (left == 0).then_some(moment)
    }

    /// Counts what hands out a transaction. What a payment is answered; whether the chain hears of it is another question.
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

async fn serve(listener: TcpListener, upstream: String, block: Arc<Mutex<Block>>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    while let Ok((socket, _)) = listener.accept().await {
        let (client, upstream, block) = (client.clone(), upstream.clone(), block.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let (client, upstream, block) = (client.clone(), upstream.clone(), block.clone());
            async move { Ok::<_, Infallible>(answer(request, &client, &upstream, &block).await) }
        });
        tokio::spawn(async move {
            // Who was killed leaves early.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    client: &reqwest::Client,
    upstream: &str,
    block: &Mutex<Block>,
) -> Response<Full<Bytes>> {
    let question = request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let (moment, refusal) = {
        let mut block = lock(block);
        (block.count(), block.refusal(&question))
    };
    if moment == Some(Moment::Before) {
        lock(block).kill();
        return failed();
    }
    // The chain hears of what is no payment, of what is not refused, and of lies.
    let answered = if refusal.as_ref().is_none_or(|refusal| refusal.is_lie) {
        let asked = client.post(upstream).header("content-type", "application/json").body(question).send().await;
        match asked {
            Ok(answer) => answer.bytes().await.ok(),
            Err(_) => None,
        }
    } else {
        None
    };
    if moment == Some(Moment::After) {
        lock(block).kill();
    }
    let refused = refusal.map(|refusal| refusal.answer.to_string().into());
    refused.or(answered).map_or_else(failed, |answer: Bytes| Response::new(Full::from(answer)))
}

fn failed() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}
