//! Very many endpoints, one in a hundred of them dead, slow or hostile: each event gets to its healthy endpoint at least once, and soon,
//! and none is called by two at a time.
//!
//! `cargo xtask prove` has 10,000 endpoints, 100,000 events, and a gateway that is killed in between, on PostgreSQL beside another one.

use super::setup;
use crate::{
    e2e::{Site, signed},
    storage::Engine,
};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use gateway_tests::process::{GatewayProcess, LIMIT, Setup};
use http::{Request, Response};
use http_body_util::{BodyExt as _, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use plugin_testing::{TestGateway, Value, Wallet, json};
use reqwest::Method;
use rstest::rstest;
use std::{
    collections::{HashMap, HashSet},
    convert::Infallible,
    env, io,
    net::Ipv4Addr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::net::TcpListener;

/// Writes at a time.
const WRITERS: usize = 16;
/// Linux gives the ports up to 60,999 to sockets that ask for none.
const CLOSED_PORT: u16 = 65_534;
/// After a kill, another process goes on when the leases of the sequencer and of the job that follows the log are over; what happens
/// until then is late.
const OUTAGE: Duration = Duration::from_secs(4);
/// What a healthy endpoint takes.
const WORK: Duration = Duration::from_millis(3);
/// From the acknowledgement of an event to its first attempt, of 99 in 100.
const FIRST_ATTEMPT: Duration = Duration::from_secs(2);
/// Beyond the time that an endpoint has.
const SLOW: Duration = Duration::from_secs(11);

fn count(variable: &str, otherwise: u64) -> u64 {
    env::var(variable).map_or(otherwise, |count| count.parse().unwrap())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Healthy,
    /// Nobody listens.
    Dead,
    /// Answers when its time is over.
    Slow,
    /// Answers without end.
    Endless,
}

/// Endpoints share them as those of a host do: limits are by address.
const ADDRESSES: u64 = 300;

fn address(number: u64) -> Ipv4Addr {
    let [.., high, low] = (number % ADDRESSES).to_be_bytes();
    Ipv4Addr::new(127, 7, high, low)
}

/// Of the endpoint with this number.
fn kind(number: u64) -> Kind {
    match number % ADDRESSES {
        50 => Kind::Dead,
        150 => Kind::Slow,
        250 => Kind::Endless,
        _ => Kind::Healthy,
    }
}

/// What healthy endpoints heard, by the text of the message.
#[derive(Default)]
struct Heard {
    first: HashMap<String, (Value, Instant)>,
    repeated: u64,
    /// Deliveries whose id or data were others the next time.
    changed: Vec<String>,
    /// Endpoints that are called now, and those that got another call meanwhile.
    called: HashSet<u64>,
    overlapping: Vec<u64>,
}

/// A call of a healthy endpoint.
struct Call {
    number: u64,
    heard: Arc<Mutex<Heard>>,
}

impl Call {
    fn begin(number: u64, heard: Arc<Mutex<Heard>>) -> Self {
        let mut calls = heard.lock();
        if !calls.called.insert(number) {
            calls.overlapping.push(number);
        }
        drop(calls);
        Self { number, heard }
    }
}

/// Also when its gateway is killed.
impl Drop for Call {
    fn drop(&mut self) {
        self.heard.lock().called.remove(&self.number);
    }
}

impl Heard {
    fn note(&mut self, body: &Value) {
        let text = body["data"]["body"].as_str().unwrap_or_default().to_owned();
        let same = json!([body["id"], body["data"]]);
        match self.first.get(&text) {
            None => drop(self.first.insert(text, (same, Instant::now()))),
            Some((first, _)) if *first == same => self.repeated += 1,
            Some(_) => self.changed.push(text),
        }
    }
}

/// The server of all endpoints that somebody serves.
struct Crowd {
    port: u16,
    heard: Arc<Mutex<Heard>>,
}

impl Crowd {
    async fn listen() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await.unwrap();
        let (port, heard) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Heard::default())));
        tokio::spawn(serve(listener, heard.clone()));
        Self { port, heard }
    }

    fn url(&self, number: u64) -> String {
        let port = if kind(number) == Kind::Dead { CLOSED_PORT } else { self.port };
        format!("http://{}:{port}/{number}", address(number))
    }
}

async fn serve(listener: TcpListener, heard: Arc<Mutex<Heard>>) {
    while let Ok((socket, _)) = listener.accept().await {
        let heard = heard.clone();
        let service = service_fn(move |request| answer(request, heard.clone()));
        tokio::spawn(async move {
            // Fails when the gateway is killed.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
        });
    }
}

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

async fn answer(request: Request<Incoming>, heard: Arc<Mutex<Heard>>) -> io::Result<Answer> {
    let number = request.uri().path().trim_start_matches('/').parse().unwrap_or_default();
    let body = request.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
    let (empty, endless) = (stream::empty().boxed(), stream::repeat(Bytes::from_static(&[b'x'; 4096])).boxed());
    let content = match kind(number) {
        Kind::Slow => {
            tokio::time::sleep(SLOW).await;
            empty
        }
        Kind::Endless => endless,
        Kind::Healthy | Kind::Dead => {
            heard.lock().note(&serde_json::from_slice(&body).map_err(io::Error::other)?);
            let _call = Call::begin(number, heard);
            tokio::time::sleep(WORK).await;
            empty
        }
    };
    let content = StreamBody::new(content.map(|bytes| Ok(Frame::data(bytes))));
    Ok(Response::new(UnsyncBoxBody::new(content)))
}

fn owner(number: u64) -> Wallet {
    Wallet::new(1_000 + number)
}

/// One signed write.
struct Write {
    path: &'static str,
    signed: Value,
    /// Of a message.
    text: String,
}

/// Where the gateway is now, how many writes it acknowledged and when it did each message, and when it was killed.
struct Progress {
    base_url: Mutex<String>,
    acknowledged: Mutex<HashMap<String, Instant>>,
    killed: Mutex<Option<Instant>>,
}

impl Progress {
    /// Sends the same bytes until the gateway has acknowledged them: what it did before it was killed is a repeat then.
    async fn send(&self, Write { path, signed, text }: Write) {
        let deadline = Instant::now() + 2 * LIMIT;
        loop {
            let site = Site::at(&self.base_url.lock().clone());
            let request = site.request(Method::POST, path).header("content-type", "application/json");
            match request.body(signed.to_string()).send().await {
                Ok(answer) if matches!(answer.status().as_u16(), 201 | 409) => break,
                other => assert!(Instant::now() < deadline, "{path}: {other:?}"),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        self.acknowledged.lock().insert(text, Instant::now());
    }

    async fn send_all(&self, writes: impl Iterator<Item = Write>) {
        stream::iter(writes).for_each_concurrent(WRITERS, |write| self.send(write)).await;
    }

    /// So many in a second: what a gateway cannot deliver as fast as it is written waits, and says nothing of its speed.
    async fn send_steadily(&self, per_s: u64, writes: impl Iterator<Item = Write>) {
        let begun = tokio::time::Instant::now();
        let send = |(number, write): (u32, Write)| async move {
            tokio::time::sleep_until(begun + Duration::from_secs(number.into()) / u32::try_from(per_s).unwrap()).await;
            self.send(write).await;
        };
        stream::iter((0_u32..).zip(writes)).for_each_concurrent(WRITERS, send).await;
    }

    /// From the acknowledgement to the first attempt: the time of half of them, of 99 %, and of all.
    fn delays(&self, heard: &Heard, texts: &[&String]) -> [Duration; 3] {
        let acknowledged = self.acknowledged.lock();
        let delay = |text: &&String| heard.first[*text].1.saturating_duration_since(acknowledged[*text]);
        let mut delays: Vec<Duration> = texts.iter().map(delay).collect();
        delays.sort();
        [500, 990, 1000].map(|per_mille| delays[(delays.len() - 1) * per_mille / 1000])
    }

    /// Whether it was acknowledged in the time that a kill may delay.
    fn is_in_outage(&self, text: &str) -> bool {
        let Some(killed) = *self.killed.lock() else { return false };
        let acknowledged = self.acknowledged.lock()[text];
        (killed.checked_sub(FIRST_ATTEMPT).unwrap()..killed + OUTAGE).contains(&acknowledged)
    }
}

/// SIGKILL when so many writes are acknowledged, and another start.
async fn kill_once(gateway: &mut GatewayProcess, progress: &Progress, after: usize) {
    while progress.acknowledged.lock().len() < after {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    gateway.kill().await.unwrap();
    *progress.killed.lock() = Some(Instant::now());
    *gateway = gateway.setup().clone().start().await.unwrap();
    gateway.base_url().clone_into(&mut progress.base_url.lock());
}

fn registration(crowd: &Crowd, number: u64) -> Write {
    let payload = json!({ "url": crowd.url(number), "secret": "a secret of some length", "events": ["dm.received"] });
    Write { path: "/api/webhooks", signed: signed(&owner(number), "webhook.set", &payload), text: String::new() }
}

fn message(endpoints: u64, event: u64) -> Write {
    let payload = json!({ "to": owner(event % endpoints).address(), "body": event.to_string() });
    // Another sender each time, since a wallet's digest of two alike messages in one second would be the same.
    let sender = Wallet::new(1_000_000 + event % 1_000);
    Write { path: "/api/messages", signed: signed(&sender, "message.send", &payload), text: event.to_string() }
}

/// Of another gateway on its database.
async fn second_setup(first: &Setup) -> Setup {
    let [database, hosts] = ["database.url", "egress.allow_hosts"].map(|key| first.get(key).unwrap());
    setup(Engine::Sqlite).await.set("database.url", database).set("egress.allow_hosts", hosts)
}

/// `per_s`: events in a second.
async fn deliver_to_all(engine: Engine, endpoints: u64, (events, per_s): (u64, u64), is_killed: bool) {
    let crowd = Crowd::listen().await;
    let addresses: Vec<String> = (0..ADDRESSES).map(|number| address(number).to_string()).collect();
    let setup = setup(engine).await.set("egress.allow_hosts", addresses.join(","));
    let mut gateway = setup.start().await.unwrap();
    let beside = match engine {
        Engine::Postgres => Some(second_setup(&setup).await.start().await.unwrap()),
        Engine::Sqlite => None,
    };
    let progress = Progress {
        base_url: Mutex::new(gateway.base_url().to_owned()),
        acknowledged: Mutex::default(),
        killed: Mutex::default(),
    };
    progress.send_all((0..endpoints).map(|number| registration(&crowd, number))).await;
    progress.acknowledged.lock().clear();

    let half = usize::try_from(events / 2).unwrap();
    let kill = async {
        if is_killed {
            kill_once(&mut gateway, &progress, half).await;
        }
    };
    tokio::join!(progress.send_steadily(per_s, (0..events).map(|event| message(endpoints, event))), kill);

    let expected: Vec<String> =
        (0..events).filter(|event| kind(event % endpoints) == Kind::Healthy).map(|event| event.to_string()).collect();
    let is_complete = async || crowd.heard.lock().first.len() == expected.len();
    TestGateway::eventually(4 * LIMIT, "each healthy endpoint heard its events", is_complete).await;
    let heard = crowd.heard.lock();
    assert!(expected.iter().all(|text| heard.first.contains_key(text)));
    assert_eq!(heard.changed, Vec::<String>::new(), "id and data stay");
    assert_eq!(heard.overlapping, Vec::<u64>::new(), "one call of an endpoint at a time");
    let (late, usual): (Vec<&String>, Vec<&String>) = expected.iter().partition(|text| progress.is_in_outage(text));
    let [_, usual_99, _] = progress.delays(&heard, &usual);
    let [half, most, all] = progress.delays(&heard, &expected.iter().collect::<Vec<_>>());
    println!(
        "{engine:?}, {endpoints} endpoints, {events} events, {per_s} a second: from the acknowledgement to the first attempt half within \
         {half:?}, 99 % within {most:?}, all within {all:?}; without {} events around the kill 99 % within {usual_99:?}; {} deliveries \
         were repeated",
        late.len(),
        heard.repeated
    );
    assert!(!is_killed || most <= FIRST_ATTEMPT, "99 % within {most:?}");
    drop(beside);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_gets_to_each_healthy_endpoint_among_dead_ones() {
    deliver_to_all(Engine::Sqlite, 300, (600, 10_000), false).await;
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes many minutes: cargo xtask prove"]
async fn events_get_to_ten_thousand_endpoints(#[case] engine: Engine) {
    let events = (count("WEBHOOK_EVENTS", 100_000), count("WEBHOOK_EVENTS_PER_S", 200));
    deliver_to_all(engine, count("WEBHOOK_ENDPOINTS", 10_000), events, true).await;
}
