//! The JSON-RPC server of a scripted chain, with injected faults.

use super::{blocks::Blocks, mempool::ScriptedTx, rpc};
use alloy_primitives::B256;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use plugin_api::Address;
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};
use tokio::net::TcpListener;

/// A fault of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An HTTP error without JSON.
    Status(u16),
    /// Bytes that are not JSON.
    Garbage,
    /// No response.
    Silence,
    /// Executes the request and sends no response.
    SilentSuccess,
    /// Omits the last response of a batch; an empty body for a single request.
    DropsAnswer,
    /// Does not support batches.
    NoBatches,
    /// Results of `eth_getLogs` have the wrong type.
    LogsOfWrongType,
    /// Refuses `eth_getLogs` for more than this many blocks; with 0 for one block, too, as if it had too many events.
    RangeMax(u64),
    /// Leaves out all events, without an error.
    HidesLogs,
    /// Has no state of earlier blocks.
    NoOldState,
    /// Takes no hash for the block of an `eth_call` (EIP-1898).
    TakesNoHash,
    /// Reports a newest block that is this many blocks too high.
    LiesAhead(u64),
    /// Has this chain id.
    OtherChain(u64),
    /// Answers a request for a receipt with that of the first transaction of the chain.
    OtherReceipts,
    /// No response to requests with this method.
    SilentOn(&'static str),
    /// Answers null to requests with this method.
    NullOn(&'static str),
    /// Refuses `eth_feeHistory` of more than this many blocks.
    HistoryMax(u64),
    /// Its errors name its address and the key in it, as those of servers in front of other servers do.
    NamesItself,
}

/// A call that a server got.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedCall {
    pub method: String,
    pub params: Value,
    /// Number of the TCP connection on which it came.
    pub connection: u64,
}

/// The transactions that a server refuses, and its error message.
#[derive(Clone)]
pub struct TransactionRefusal {
    pub message: String,
    pub matches: Arc<dyn Fn(&ScriptedTx) -> bool + Send + Sync>,
}

/// What happens before a call is answered.
type Act = Box<dyn FnOnce() + Send>;

pub struct RpcServer {
    address: SocketAddr,
    state: Arc<State>,
    task: tokio::task::JoinHandle<()>,
}

struct State {
    blocks: Arc<Mutex<Blocks>>,
    next: Mutex<VecDeque<Fault>>,
    always: Mutex<Option<Fault>>,
    /// Requests that succeed before `always` applies.
    successes_left: Mutex<u64>,
    refusal: Mutex<Option<TransactionRefusal>>,
    before_call: Mutex<Option<(Address, Act)>>,
    lag: AtomicU64,
    requests: AtomicU64,
    /// `eth_getLogs` outside a batch.
    unbatched_log_requests: AtomicU64,
    calls: Mutex<Vec<ScriptedCall>>,
}

impl RpcServer {
    pub async fn start(blocks: Arc<Mutex<Blocks>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.unwrap_or_else(|error| panic!("no port for a scripted chain: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("{error}"));
        let state = Arc::new(State {
            blocks,
            next: Mutex::default(),
            always: Mutex::default(),
            successes_left: Mutex::default(),
            refusal: Mutex::default(),
            before_call: Mutex::default(),
            lag: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            unbatched_log_requests: AtomicU64::new(0),
            calls: Mutex::default(),
        });
        Self { address, task: tokio::spawn(serve(listener, state.clone())), state }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn fail_next(&self, times: usize, fault: Fault) {
        lock(&self.state.next).extend(std::iter::repeat_n(fault, times));
    }

    pub fn fail_after(&self, count: u64, fault: Fault) {
        *lock(&self.state.successes_left) = count;
        self.fail_always(Some(fault));
    }

    pub fn fail_always(&self, fault: Option<Fault>) {
        *lock(&self.state.always) = fault;
    }

    pub fn forget_faults(&self) {
        lock(&self.state.next).clear();
        self.fail_always(None);
    }

    pub fn refuse_transactions(&self, refusal: Option<TransactionRefusal>) {
        *lock(&self.state.refusal) = refusal;
    }

    pub fn before_call(&self, to: Address, act: Act) {
        *lock(&self.state.before_call) = Some((to, act));
    }

    pub fn set_lag(&self, blocks: u64) {
        self.state.lag.store(blocks, SeqCst);
    }

    pub fn requests(&self) -> u64 {
        self.state.requests.load(SeqCst)
    }

    pub fn calls(&self) -> Vec<ScriptedCall> {
        lock(&self.state.calls).clone()
    }

    pub fn unbatched_log_requests(&self) -> u64 {
        self.state.unbatched_log_requests.load(SeqCst)
    }
}

impl Drop for RpcServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    let mut connection = 0;
    while let Ok((socket, _)) = listener.accept().await {
        connection += 1;
        let state = state.clone();
        let service = service_fn(move |request| {
            let state = state.clone();
            async move { Ok::<_, Infallible>(state.respond(request, connection).await) }
        });
        tokio::spawn(async move {
            // A client that disconnects early is not an error.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
        });
    }
}

impl State {
    async fn respond(&self, request: Request<Incoming>, connection: u64) -> Response<Full<Bytes>> {
        let address = request.headers().get("host").and_then(|host| host.to_str().ok()).map(str::to_owned);
        self.requests.fetch_add(1, SeqCst);
        let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        let calls = request.as_array().map_or(std::slice::from_ref(&request), Vec::as_slice);
        lock(&self.calls).extend(calls.iter().map(|call| ScriptedCall {
            method: call["method"].as_str().unwrap_or_default().to_owned(),
            params: call["params"].clone(),
            connection,
        }));
        let is_of = |to: Address, call: &Value| {
            call["method"] == "eth_call" && rpc::address(&call["params"][0]["to"]) == Some(to)
        };
        let act = lock(&self.before_call).take_if(|(to, _)| calls.iter().any(|call| is_of(*to, call)));
        if let Some((_, act)) = act {
            act();
        }
        if request["method"] == "eth_getLogs" {
            self.unbatched_log_requests.fetch_add(1, SeqCst);
        }
        let fault = lock(&self.next).pop_front().or_else(|| self.permanent_fault());
        match fault {
            Some(Fault::Status(status)) => {
                let mut response = Response::new(Full::from("<html>sorry</html>"));
                *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                response
            }
            Some(Fault::Garbage) => Response::new(Full::from("\u{1}{\"jsonrpc\":")),
            Some(Fault::Silence) => std::future::pending().await,
            Some(Fault::SilentSuccess) => {
                self.execute(&request, None, false);
                std::future::pending().await
            }
            Some(Fault::SilentOn(method)) if request["method"] == method => std::future::pending().await,
            Some(Fault::NamesItself) if request.is_object() => {
                let message = format!("upstream {}/key-0123456789 is over its limit", address.unwrap_or_default());
                let error = json!({ "code": -32000, "message": message, "data": message });
                Response::new(Full::from(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }).to_string()))
            }
            Some(Fault::DropsAnswer) => self.execute(&request, fault, true),
            Some(Fault::NoBatches) if request.is_array() => {
                let error =
                    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": "no batches" } });
                Response::new(Full::from(error.to_string()))
            }
            fault => self.execute(&request, fault, false),
        }
    }

    fn permanent_fault(&self) -> Option<Fault> {
        let always = *lock(&self.always);
        let mut successes_left = lock(&self.successes_left);
        if always.is_some() && *successes_left > 0 {
            *successes_left -= 1;
            return None;
        }
        always
    }

    fn execute(&self, request: &Value, fault: Option<Fault>, drops_last: bool) -> Response<Full<Bytes>> {
        let text = match request {
            Value::Array(batch) => {
                let mut responses: Vec<Value> = batch.iter().map(|call| self.call(call, fault)).collect();
                if drops_last {
                    responses.pop();
                }
                Value::from(responses).to_string()
            }
            _ if drops_last => String::new(),
            call => self.call(call, fault).to_string(),
        };
        Response::new(Full::from(text))
    }

    fn refusal_message(&self, raw: &Value) -> Option<String> {
        let refusal = lock(&self.refusal).clone()?;
        let chain_id = lock(&self.blocks).chain_id;
        let tx = ScriptedTx::parse(raw.as_str()?, chain_id).ok()?;
        (refusal.matches)(&tx).then_some(refusal.message)
    }

    fn first_receipt(&self) -> Value {
        let mut blocks = lock(&self.blocks);
        let first = blocks.all().iter().flat_map(|block| &block.txs).next().map(|tx| B256::from(tx.hash));
        let receipt = rpc::call(&mut blocks, 0, "eth_getTransactionReceipt", &json!([first]));
        receipt.unwrap_or_default()
    }

    fn call(&self, request: &Value, fault: Option<Fault>) -> Value {
        let (method, params) = (request["method"].as_str().unwrap_or_default(), &request["params"]);
        let mut result = match (method, fault) {
            ("eth_getLogs", Some(Fault::RangeMax(most))) if range(&params[0]) > most => {
                Err((-32005, "query returned more than 10000 results".to_owned()))
            }
            ("eth_getLogs", Some(Fault::HidesLogs)) => Ok(json!([])),
            ("eth_call", Some(Fault::NoOldState)) => Err((-32000, "missing trie node".to_owned())),
            ("eth_call", Some(Fault::TakesNoHash)) if params[1].is_object() => {
                let message = "invalid argument 1: json: cannot unmarshal object into Go value of type string";
                Err((-32602, message.to_owned()))
            }
            ("eth_getLogs", Some(Fault::LogsOfWrongType)) => Ok(json!([{ "address": 1 }])),
            (method, Some(Fault::NullOn(null))) if method == null => Ok(Value::Null),
            ("eth_feeHistory", Some(Fault::HistoryMax(most))) if hex_number(&params[0]) > most => {
                Err((-32602, "blockCount is too large".to_owned()))
            }
            ("eth_getTransactionReceipt", Some(Fault::OtherReceipts)) => Ok(self.first_receipt()),
            ("eth_chainId", Some(Fault::OtherChain(id))) => Ok(format!("{id:#x}").into()),
            ("eth_sendRawTransaction", _) if let Some(message) = self.refusal_message(&params[0]) => {
                Err((-32000, message))
            }
            _ => rpc::call(&mut lock(&self.blocks), self.lag.load(SeqCst), method, params),
        };
        if let (Ok(Value::Object(block)), Some(Fault::LiesAhead(blocks)), Some("latest")) =
            (&mut result, fault, params[0].as_str())
        {
            move_ahead(block, blocks);
        }
        match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }),
            Err((code, message)) => {
                json!({ "jsonrpc": "2.0", "id": request["id"], "error": { "code": code, "message": message } })
            }
        }
    }
}

fn hex_number(value: &Value) -> u64 {
    value.as_str().and_then(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()).unwrap_or_default()
}

fn range(filter: &Value) -> u64 {
    hex_number(&filter["toBlock"]).saturating_sub(hex_number(&filter["fromBlock"])) + 1
}

/// Turns the block into one that does not exist.
fn move_ahead(block: &mut serde_json::Map<String, Value>, ahead: u64) {
    let number = hex_number(&block["number"]) + ahead;
    block.insert("number".to_owned(), format!("{number:#x}").into());
    for name in ["hash", "parentHash"] {
        let hash = alloy_primitives::keccak256(format!("{name} {number}"));
        block.insert(name.to_owned(), json!(hash));
    }
}
