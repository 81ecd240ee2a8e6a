//! The JSON-RPC server of a scripted chain, and what goes wrong with it.

use super::{accounts::ScriptedTx, answers, blocks::Blocks};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
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

/// What a server does instead of answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An HTTP error without JSON.
    Status(u16),
    /// Bytes that are no JSON.
    Garbage,
    /// No answer at all.
    Silence,
    /// Does what it is asked, and no answer comes.
    SilentSuccess,
    /// Leaves out the last answer of a batch, or sends nothing to a single question.
    DropsAnswer,
    /// Knows no batches.
    NoBatches,
    /// Answers questions for events with what is no list of events.
    LogsOfWrongType,
    /// Refuses questions for events of more than so many blocks.
    RangeMax(u64),
    /// Says that its newest block is so many blocks further than it is.
    LiesAhead(u64),
    /// Is a server of another chain.
    OtherChain(u64),
}

/// Which transactions a server does not take, and what it says then.
#[derive(Clone)]
pub struct Refused {
    pub words: String,
    pub which: Arc<dyn Fn(&ScriptedTx) -> bool + Send + Sync>,
}

pub struct Door {
    address: SocketAddr,
    state: Arc<State>,
    task: tokio::task::JoinHandle<()>,
}

struct State {
    blocks: Arc<Mutex<Blocks>>,
    next: Mutex<VecDeque<Fault>>,
    always: Mutex<Option<Fault>>,
    /// Requests that `always` does not meet yet.
    spared: Mutex<u64>,
    refused: Mutex<Option<Refused>>,
    lag: AtomicU64,
    requests: AtomicU64,
    /// Questions for events in a request of their own.
    lonely_logs: AtomicU64,
}

impl Door {
    pub async fn open(blocks: Arc<Mutex<Blocks>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.unwrap_or_else(|error| panic!("no port for a scripted chain: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("{error}"));
        let state = Arc::new(State {
            blocks,
            next: Mutex::default(),
            always: Mutex::default(),
            spared: Mutex::default(),
            refused: Mutex::default(),
            lag: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            lonely_logs: AtomicU64::new(0),
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
        *lock(&self.state.spared) = count;
        self.fail_always(Some(fault));
    }

    pub fn fail_always(&self, fault: Option<Fault>) {
        *lock(&self.state.always) = fault;
    }

    pub fn refuse_transactions(&self, refused: Option<Refused>) {
        *lock(&self.state.refused) = refused;
    }

    pub fn set_lag(&self, blocks: u64) {
        self.state.lag.store(blocks, SeqCst);
    }

    pub fn requests(&self) -> u64 {
        self.state.requests.load(SeqCst)
    }

    pub fn lonely_logs(&self) -> u64 {
        self.state.lonely_logs.load(SeqCst)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    while let Ok((socket, _)) = listener.accept().await {
        let state = state.clone();
        let service = service_fn(move |request| {
            let state = state.clone();
            async move { Ok::<_, Infallible>(state.answer(request).await) }
        });
        tokio::spawn(async move {
            // A client that leaves early is no event.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
        });
    }
}

impl State {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        self.requests.fetch_add(1, SeqCst);
        let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let question: Value = serde_json::from_slice(&body).unwrap_or_default();
        if question["method"] == "eth_getLogs" {
            self.lonely_logs.fetch_add(1, SeqCst);
        }
        let fault = lock(&self.next).pop_front().or_else(|| self.lasting());
        match fault {
            Some(Fault::Status(status)) => {
                let mut response = Response::new(Full::from("<html>sorry</html>"));
                *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                response
            }
            Some(Fault::Garbage) => Response::new(Full::from("\u{1}{\"jsonrpc\":")),
            Some(Fault::Silence) => std::future::pending().await,
            Some(Fault::SilentSuccess) => {
                self.reply(&question, None, false);
                std::future::pending().await
            }
            Some(Fault::DropsAnswer) => self.reply(&question, fault, true),
            Some(Fault::NoBatches) if question.is_array() => {
                let error =
                    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": "no batches" } });
                Response::new(Full::from(error.to_string()))
            }
            fault => self.reply(&question, fault, false),
        }
    }

    fn lasting(&self) -> Option<Fault> {
        let always = *lock(&self.always);
        let mut spared = lock(&self.spared);
        if always.is_some() && *spared > 0 {
            *spared -= 1;
            return None;
        }
        always
    }

    fn reply(&self, question: &Value, fault: Option<Fault>, drops_last: bool) -> Response<Full<Bytes>> {
        let text = match question {
            Value::Array(questions) => {
                let mut answers: Vec<Value> = questions.iter().map(|one| self.one(one, fault)).collect();
                if drops_last {
                    answers.pop();
                }
                Value::from(answers).to_string()
            }
            _ if drops_last => String::new(),
            one => self.one(one, fault).to_string(),
        };
        Response::new(Full::from(text))
    }

    fn refusal(&self, raw: &Value) -> Option<String> {
        let refused = lock(&self.refused).clone()?;
        let chain_id = lock(&self.blocks).chain_id;
        let tx = ScriptedTx::parse(raw.as_str()?, chain_id).ok()?;
        (refused.which)(&tx).then_some(refused.words)
    }

    fn one(&self, question: &Value, fault: Option<Fault>) -> Value {
        let (method, params) = (question["method"].as_str().unwrap_or_default(), &question["params"]);
        let mut answer = match (method, fault) {
            ("eth_getLogs", Some(Fault::RangeMax(most))) if range(&params[0]) > most => {
                Err((-32005, "query returned more than 10000 results".to_owned()))
            }
            ("eth_getLogs", Some(Fault::LogsOfWrongType)) => Ok(json!([{ "address": 1 }])),
            ("eth_chainId", Some(Fault::OtherChain(id))) => Ok(format!("{id:#x}").into()),
            ("eth_sendRawTransaction", _) if let Some(words) = self.refusal(&params[0]) => Err((-32000, words)),
            _ => answers::answer(&mut lock(&self.blocks), self.lag.load(SeqCst), method, params),
        };
        if let (Ok(Value::Object(block)), Some(Fault::LiesAhead(blocks)), Some("latest")) =
            (&mut answer, fault, params[0].as_str())
        {
            lie(block, blocks);
        }
        match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }),
            Err((code, message)) => {
                json!({ "jsonrpc": "2.0", "id": question["id"], "error": { "code": code, "message": message } })
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

/// A block that nobody has.
fn lie(block: &mut serde_json::Map<String, Value>, ahead: u64) {
    let number = hex_number(&block["number"]) + ahead;
    block.insert("number".to_owned(), format!("{number:#x}").into());
    for name in ["hash", "parentHash"] {
        let made_up = alloy_primitives::keccak256(format!("{name} {number}"));
        block.insert(name.to_owned(), json!(made_up));
    }
}
