//! A server on this machine that takes its time, and knows how many calls it had at once.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// In real time.
const TAKES: Duration = Duration::from_millis(150);

/// How many calls of a kind are in progress, and were at most.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    now: usize,
    most: usize,
    answered: usize,
}

impl Calls {
    fn begin(&mut self) {
        self.now += 1;
        self.most = self.most.max(self.now);
    }

    fn end(&mut self) {
        self.now -= 1;
        self.answered += 1;
    }
}

#[derive(Default)]
struct State {
    all: Calls,
    /// By the first part of the path.
    by_owner: BTreeMap<String, Calls>,
}

#[derive(Clone)]
pub struct SlowServer {
    port: u16,
    state: Arc<Mutex<State>>,
    status: Arc<AtomicU16>,
}

impl SlowServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Self { port, state: Arc::default(), status: Arc::new(AtomicU16::new(200)) };
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(socket));
            }
        });
        server
    }

    pub fn url(&self, owner: &str, number: usize) -> String {
        format!("http://127.0.0.1:{}/{owner}/{number}", self.port)
    }

    /// Of the next answers.
    pub fn set_status(&self, status: u16) {
        self.status.store(status, SeqCst);
    }

    pub fn answered(&self) -> usize {
        self.state.lock().unwrap().all.answered
    }

    /// Calls at once since it was asked the last time: of all, and of each owner.
    pub fn take_most(&self) -> (usize, Vec<usize>) {
        let mut state = self.state.lock().unwrap();
        let most = (state.all.most, state.by_owner.values().map(|calls| calls.most).collect());
        state.all.most = 0;
        state.by_owner.values_mut().for_each(|calls| calls.most = 0);
        most
    }

    /// One call of a connection.
    async fn serve(self, mut socket: TcpStream) -> std::io::Result<()> {
        let head = read_call(&mut socket).await?;
        let owner = head.split('/').nth(1).unwrap_or_default().to_owned();
        let each = |change: fn(&mut Calls)| {
            let mut state = self.state.lock().unwrap();
            change(&mut state.all);
            change(state.by_owner.entry(owner.clone()).or_default());
        };
        each(Calls::begin);
        tokio::time::sleep(TAKES).await;
        each(Calls::end);
        let status = self.status.load(SeqCst);
        let answer = format!("HTTP/1.1 {status} Answer\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        socket.write_all(answer.as_bytes()).await
    }
}

/// Reads head and body; returns the head.
async fn read_call(socket: &mut TcpStream) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let lower = head.to_lowercase();
            let length =
                lower.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
            if bytes.len() >= head.len() + 4 + length.unwrap_or(0) {
                return Ok(head.to_owned());
            }
        }
        if socket.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}
