//! A JSON-RPC proxy that kills who asks: SIGKILL at a request of its choice, before the chain hears of it or before the answer
//! comes back. Between two requests lie the commits, so every step of sending is met.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
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
    let moment = lock(block).count();
    if moment == Some(Moment::Before) {
        lock(block).kill();
        return failed();
    }
    let asked = client.post(upstream).header("content-type", "application/json").body(question).send().await;
    let answered = match asked {
        Ok(answer) => answer.bytes().await.ok(),
        Err(_) => None,
    };
    if moment == Some(Moment::After) {
        lock(block).kill();
    }
    answered.map_or_else(failed, |answer| Response::new(Full::from(answer)))
}

fn failed() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}
