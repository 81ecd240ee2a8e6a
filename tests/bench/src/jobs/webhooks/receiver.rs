//! The endpoint of all webhooks here, on the processor of the load: counts what arrives.

use crate::pin::{self, PinnedRole};
use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{
    future::pending,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Instant,
};
use tokio::{net::TcpListener, runtime};

pub struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Whether it keeps everybody waiting.
    is_silent: bool,
    arrivals: Vec<Instant>,
}

impl Receiver {
    /// Its thread ends with the program.
    pub fn start() -> Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let (address, state) = (listener.local_addr()?, Arc::<Mutex<State>>::default());
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let shared = state.clone();
        let serving = move || {
            // Where it runs matters for the figures only.
            let served = pin::on(PinnedRole::Load, || runtime.block_on(serve(listener, shared)));
            if let Err(error) = served.and_then(|served| served) {
                eprintln!("bench: the receiver of webhooks ended: {error:#}");
            }
        };
        thread::spawn(serving);
        Ok(Self { address, state })
    }

    pub fn url(&self, number: u64) -> String {
        format!("http://{}/{number}", self.address)
    }

    /// From now on nobody gets an answer.
    pub fn fall_silent(&self) {
        lock(&self.state).is_silent = true;
    }

    pub fn arrived(&self) -> usize {
        lock(&self.state).arrivals.len()
    }

    /// When each request arrived since the last call of this.
    pub fn take_arrivals(&self) -> Vec<Instant> {
        std::mem::take(&mut lock(&self.state).arrivals)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: std::net::TcpListener, state: Arc<Mutex<State>>) -> Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let state = state.clone();
        let answer = service_fn(move |request| answer(request, state.clone()));
        tokio::spawn(async move {
            // A gateway that goes away is no failure of this server.
            let _ = http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

async fn answer(request: Request<Incoming>, state: Arc<Mutex<State>>) -> hyper::Result<Response<Full<Bytes>>> {
    request.into_body().collect().await?;
    let is_silent = {
        let mut state = lock(&state);
        state.arrivals.push(Instant::now());
        state.is_silent
    };
    if is_silent {
        pending::<()>().await;
    }
    Ok(Response::new(Full::new(Bytes::from_static(b"{}"))))
}
