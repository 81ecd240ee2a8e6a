//! A server and a resolver that respond as a test scripts them.

use std::{
    collections::HashMap,
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::{Egress, EgressSettings, FetchRequest, resolver::Resolver};

/// A request as the server received it.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    pub head: String,
    pub body: Vec<u8>,
}

impl RecordedRequest {
    /// `GET /path`
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap().trim_end_matches(" HTTP/1.1")
    }

    pub fn path(&self) -> &str {
        self.line().split_once(' ').unwrap().1
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
    }
}

/// What the server does after it has read a request.
pub enum ServerScript {
    /// Writes this and closes.
    Bytes(Vec<u8>),
    /// Writes this and reads the next request on the same connection.
    KeepOpen(Vec<u8>),
    /// Writes this, then the pattern again and again until the other side goes away.
    Endless(Vec<u8>, Vec<u8>),
    /// Writes this, then one byte every few milliseconds.
    Drip(Vec<u8>),
    /// Writes this and then nothing, with the connection open.
    Hang(Vec<u8>),
    /// Writes this, then one of the parts for each permit, and closes.
    Parts(Vec<u8>, Vec<Vec<u8>>, Arc<tokio::sync::Semaphore>),
    /// Responds with 200 once the gate opens.
    Gate(Arc<tokio::sync::Semaphore>),
}

pub fn ok(body: &str) -> ServerScript {
    let length = body.len();
    let text = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    ServerScript::Bytes(text.into_bytes())
}

/// With this status, on a connection that stays open.
pub fn kept_open(status: u16) -> ServerScript {
    ServerScript::KeepOpen(format!("HTTP/1.1 {status} Status\r\nContent-Length: 0\r\n\r\n").into_bytes())
}

pub fn redirect(status: u16, location: &str) -> ServerScript {
    let head = format!("HTTP/1.1 {status} Moved\r\nConnection: close\r\nLocation: {location}\r\n");
    let text = format!("{head}Content-Length: 0\r\n\r\n");
    ServerScript::Bytes(text.into_bytes())
}

#[derive(Default)]
struct State {
    requests: Mutex<Vec<RecordedRequest>>,
    connections: AtomicUsize,
    sent: AtomicUsize,
    /// The client closed the connection while the server was writing.
    client_closed: AtomicBool,
}

pub struct Fixture {
    pub port: u16,
    state: Arc<State>,
}

impl Fixture {
    pub async fn start(reply: impl Fn(&RecordedRequest) -> ServerScript + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", reply).await
    }

    pub async fn start_at(
        address: &str,
        reply: impl Fn(&RecordedRequest) -> ServerScript + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let (shared, reply) = (Arc::clone(&state), Arc::new(reply));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (state, reply) = (Arc::clone(&shared), Arc::clone(&reply));
                tokio::spawn(async move {
                    if serve(stream, &state, &*reply).await.is_err() {
                        state.client_closed.store(true, Ordering::SeqCst);
                    }
                });
            }
        });
        Self { port, state }
    }

    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.requests.lock().clone()
    }

    pub fn request_lines(&self) -> Vec<String> {
        self.requests().iter().map(|request| request.line().to_owned()).collect()
    }

    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Bytes written by `Endless` and `Drip`.
    pub fn sent(&self) -> usize {
        self.state.sent.load(Ordering::SeqCst)
    }

    pub fn client_closed(&self) -> bool {
        self.state.client_closed.load(Ordering::SeqCst)
    }

    /// The allow list entry for exactly this server.
    pub fn allow_entry(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn url_by_name(&self, name: &str, path: &str) -> String {
        format!("http://{name}:{}{path}", self.port)
    }
}

async fn serve(
    mut stream: TcpStream,
    state: &State,
    reply: &(impl Fn(&RecordedRequest) -> ServerScript + Sync),
) -> io::Result<()> {
    let reply = loop {
        let request = read_request(&mut stream).await?;
        let reply = reply(&request);
        state.requests.lock().push(request);
        match reply {
            ServerScript::KeepOpen(bytes) => stream.write_all(&bytes).await?,
            last => break last,
        }
    };
    match reply {
        ServerScript::KeepOpen(_) => Ok(()),
        ServerScript::Bytes(bytes) => {
            stream.write_all(&bytes).await?;
            stream.shutdown().await
        }
        ServerScript::Endless(head, pattern) => {
            stream.write_all(&head).await?;
            loop {
                state.sent.fetch_add(stream.write(&pattern).await?, Ordering::SeqCst);
            }
        }
        ServerScript::Drip(head) => {
            stream.write_all(&head).await?;
            let mut tick = tokio::time::interval(Duration::from_millis(5));
            loop {
                tick.tick().await;
                state.sent.fetch_add(stream.write(b"a").await?, Ordering::SeqCst);
            }
        }
        ServerScript::Hang(head) => {
            stream.write_all(&head).await?;
            // Returns when the client closes.
            stream.read_to_end(&mut Vec::new()).await.map(drop)
        }
        ServerScript::Parts(head, parts, gate) => {
            stream.write_all(&head).await?;
            for part in parts {
                gate.acquire().await.unwrap().forget();
                stream.write_all(&part).await?;
            }
            stream.shutdown().await
        }
        ServerScript::Gate(gate) => {
            gate.acquire().await.unwrap().forget();
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> io::Result<RecordedRequest> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let mut request = RecordedRequest { head, body: bytes[end + 4..].to_vec() };
            let length: usize = request.header("content-length").map_or(0, |text| text.parse().unwrap());
            while request.body.len() < length && stream.read_buf(&mut request.body).await? > 0 {}
            return Ok(request);
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// The n-th look-up of a name returns the n-th scripted response; the last one repeats. An unknown name is an error.
#[derive(Default)]
pub struct ScriptedResolver {
    responses: HashMap<String, Vec<Vec<IpAddr>>>,
    resolved: Mutex<Vec<String>>,
}

impl ScriptedResolver {
    pub fn new(responses: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let addresses = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let responses = responses
            .iter()
            .map(|(name, rounds)| ((*name).to_owned(), rounds.iter().map(addresses).collect()))
            .collect();
        Arc::new(Self { responses, resolved: Mutex::default() })
    }

    pub fn resolved(&self) -> Vec<String> {
        self.resolved.lock().clone()
    }
}

impl Resolver for ScriptedResolver {
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let mut resolved = self.resolved.lock();
        let round = resolved.iter().filter(|known| **known == name).count();
        let response = match self.responses.get(&name) {
            Some(rounds) => Ok(rounds[round.min(rounds.len() - 1)].clone()),
            None => Err(io::Error::other("no such name")),
        };
        resolved.push(name);
        Box::pin(std::future::ready(response))
    }
}

pub fn settings(allow_hosts: &[String]) -> EgressSettings {
    EgressSettings { allow_hosts: allow_hosts.to_vec(), ..EgressSettings::default() }
}

/// Reaches the fixtures by address and resolves no names.
pub fn egress(allow_hosts: &[String]) -> Egress {
    egress_with(settings(allow_hosts), &ScriptedResolver::new(&[]))
}

pub fn egress_with(settings: EgressSettings, resolver: &Arc<ScriptedResolver>) -> Egress {
    Egress::with_resolver(settings, Arc::<ScriptedResolver>::clone(resolver)).unwrap()
}

pub fn get(url: &str) -> FetchRequest {
    FetchRequest::new("GET", url)
}

/// Polls the condition; fails the test after ten seconds.
pub async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let polling = async {
        let mut tick = tokio::time::interval(Duration::from_millis(2));
        while !condition() {
            tick.tick().await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(10), polling).await.is_ok(), "never: {what}");
}
