//! Responses from outside that a plugin reads, or passes on, while they arrive.

use super::post;
use bytes::Bytes;
use http_body_util::{BodyExt as _, combinators::UnsyncBoxBody};
use plugin_testing::{TestGateway, Value, json};
use rstest::rstest;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

const LIMIT: Duration = Duration::from_secs(20);
const EVENTS: &str = "HTTP/1.1 203 Fine\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
const MIB: usize = 1024 * 1024;

/// A server of one path each: `/parts` sends a line per permit and then ends, `/dies` breaks off instead of its end, `/endless`
/// never stops by itself, `/silent` sends a line and nothing more, `/gone` is a 410, `/inside` leads to a private address.
#[derive(Clone, Default)]
struct Source(Arc<SourceState>);

#[derive(Default)]
struct SourceState {
    asked: AtomicUsize,
    sent: AtomicUsize,
    left: AtomicBool,
    permits: Option<Semaphore>,
}

impl Source {
    async fn start() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let source = Self(Arc::new(SourceState { permits: Some(Semaphore::new(0)), ..SourceState::default() }));
        let serving = source.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let source = serving.clone();
                tokio::spawn(async move {
                    let served = source.serve(stream).await;
                    source.0.left.store(served.is_err(), SeqCst);
                });
            }
        });
        (source, host)
    }

    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut request = Vec::new();
        while !request.windows(4).any(|four| four == b"\r\n\r\n") {
            stream.read_buf(&mut request).await?;
        }
        self.0.asked.fetch_add(1, SeqCst);
        let path = String::from_utf8_lossy(&request).split(' ').nth(1).unwrap_or_default().to_owned();
        match path.as_str() {
            "/gone" => {
                return stream
                    .write_all(b"HTTP/1.1 410 Gone\r\nConnection: close\r\nContent-Length: 4\r\n\r\nover")
                    .await;
            }
            "/inside" => {
                let location = "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n";
                return stream.write_all(location.as_bytes()).await;
            }
            _ => stream.write_all(EVENTS.as_bytes()).await?,
        }
        if path == "/endless" {
            let chunk = ["10000\r\n", &"x".repeat(0x10000), "\r\n"].concat();
            loop {
                let mut rest = chunk.as_bytes();
                while !rest.is_empty() {
                    let written = stream.write(rest).await?;
                    self.0.sent.fetch_add(written, SeqCst);
                    rest = &rest[written..];
                }
            }
        }
        if path == "/silent" {
            stream.write_all(b"6\r\nfirst\n\r\n").await?;
            // Ends when the gateway closes the connection.
            return Err(stream
                .read_exact(&mut [0])
                .await
                .map_or_else(|error| error, |_| std::io::ErrorKind::Other.into()));
        }
        for line in ["first", "other"] {
            self.0.permits.as_ref().unwrap().acquire().await.unwrap().forget();
            stream.write_all(format!("6\r\n{line}\n\r\n").as_bytes()).await?;
        }
        self.0.permits.as_ref().unwrap().acquire().await.unwrap().forget();
        let end: &[u8] = if path == "/dies" { b"" } else { b"0\r\n\r\n" };
        stream.write_all(end).await
    }

    fn permit(&self, count: usize) {
        self.0.permits.as_ref().unwrap().add_permits(count);
    }

    async fn is_left(&self) {
        TestGateway::eventually(LIMIT, "the connection to the source is closed", async || self.0.left.load(SeqCst))
            .await;
    }

    /// What the source could write, once it cannot write more.
    async fn settled(&self) -> usize {
        loop {
            let before = self.0.sent.load(SeqCst);
            assert!(before < 1 << 28, "it is not stopped: {before} bytes are written");
            tokio::time::sleep(Duration::from_millis(200)).await;
            if before > 0 && self.0.sent.load(SeqCst) == before {
                return before;
            }
        }
    }
}

type StreamedBody = UnsyncBoxBody<Bytes, String>;

struct Relay {
    gateway: TestGateway,
    source: Source,
    host: String,
}

async fn relay() -> Relay {
    let (source, host) = Source::start().await;
    let allowed = host.clone();
    let builder = TestGateway::builder().plugin(keeper::plugin_module()).configure(|config| {
        config.egress.allow_hosts = vec![allowed];
        config.egress.per_plugin_concurrency = 1;
        config.http.drain_timeout_ms = 5000;
    });
    Relay { gateway: builder.start().await, source, host }
}

impl Relay {
    fn at(&self, path: &str) -> Value {
        json!({ "url": format!("http://{}{path}", self.host) })
    }

    async fn open(&self, route: &str, source: &Value) -> http::Response<StreamedBody> {
        let (route, json) = (format!("/api/keeper/{route}"), [("content-type", "application/json")]);
        let response = self.gateway.open_stream("POST", &route, &json, source.to_string()).await;
        response.map(|body| body.map_err(|error| error.to_string()).boxed_unsync())
    }

    async fn switch_off(&self) {
        let mut config = gateway_config::Config::clone(&self.gateway.gateway().config);
        config.plugins.sections.entry("keeper".into()).or_default().enabled = Some(false);
        self.gateway.gateway().plugins.reconcile(&config).await;
    }

    /// The plugin has one outbound request at a time, and it is free again.
    async fn assert_slot_is_free(&self) {
        let gone = post(&self.gateway, "/api/keeper/relay", self.at("/gone")).await;
        assert_eq!((gone.status, gone.text().as_str()), (410, "over"));
    }

    async fn end(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new(), "what happens outside is not the plugin's fault");
        self.gateway.stop().await;
    }
}

/// The next bytes; `None` at the end.
async fn next(body: &mut StreamedBody) -> Option<Result<String, String>> {
    let frame = tokio::time::timeout(LIMIT, body.frame()).await.expect("a part arrives")?;
    Some(frame.map(|frame| {
        let data = frame.into_data().unwrap();
        String::from_utf8(data.to_vec()).unwrap()
    }))
}

#[tokio::test]
async fn what_is_passed_on_arrives_before_its_source_has_finished() {
    let relay = relay().await;
    let response = relay.open("relay", &relay.at("/parts")).await;
    assert_eq!(response.status(), 203);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    for line in ["first\n", "other\n"] {
        relay.source.permit(1);
        assert_eq!(next(&mut body).await, Some(Ok(line.to_owned())));
    }
    relay.source.permit(1);
    assert_eq!(next(&mut body).await, None);
    relay.assert_slot_is_free().await;
    relay.end().await;
}

/// The source is stopped by a client that does not read, and by nothing else: both grow by what is read.
#[tokio::test]
async fn a_client_that_does_not_read_stops_the_source() {
    let relay = relay().await;
    let mut body = relay.open("relay", &relay.at("/endless")).await.into_body();
    let before = relay.source.settled().await;
    assert!(before < 24 * MIB, "the source wrote {before} bytes that nobody read");
    let mut read = 0;
    while read < 2 * before {
        read += next(&mut body).await.unwrap().unwrap().len();
    }
    let after = relay.source.settled().await;
    assert!(after < read + 24 * MIB, "the source wrote {after} bytes, of which {read} are read");
    drop(body);
    relay.source.is_left().await;
    relay.assert_slot_is_free().await;
    relay.end().await;
}

#[rstest]
#[case::that_dies("/dies", 3, None, "broke off")]
#[case::that_falls_silent("/silent", 0, Some(100), "nothing more of the answer within 100 ms")]
#[tokio::test]
async fn a_source_breaks_what_is_made_of_it(
    #[case] path: &str,
    #[case] permits: usize,
    #[case] idle_ms: Option<u64>,
    #[case] reason: &str,
) {
    let relay = relay().await;
    relay.source.permit(permits);
    let mut source = relay.at(path);
    source["idle_ms"] = json!(idle_ms);
    let mut body = relay.open("relay", &source).await.into_body();
    let mut text = String::new();
    let end = loop {
        match next(&mut body).await.expect("it does not end like a complete one") {
            Ok(part) => text += &part,
            Err(error) => break error,
        }
    };
    assert!(text.starts_with("first\n"), "{text}");
    assert_eq!(end, "the source of the stream broke off");
    relay.source.permit(permits);
    let read = post(&relay.gateway, "/api/keeper/read", source).await.json();
    assert!(read["end"].as_str().unwrap().contains(reason), "{read}");
    relay.end().await;
}

#[rstest]
#[case::nobody_there("http://127.0.0.1:1/", 400, "private_url", "not public")]
#[case::inside("/inside", 400, "private_url", "not public")]
#[case::another_status("/gone", 502, "bad_status", "410")]
#[case::no_first_chunk("/dies", 502, "broken_answer", "another server failed")]
#[tokio::test]
async fn a_source_that_fails_at_once_is_an_error_response(
    #[case] url: &str,
    #[case] status: u16,
    #[case] code: &str,
    #[case] part: &str,
) {
    let relay = relay().await;
    // Before the first line, `/dies` says nothing for longer than it may.
    let mut source = if url.starts_with('/') { relay.at(url) } else { json!({ "url": url }) };
    (source["redirects_max"], source["idle_ms"]) = (json!(1), json!(100));
    let failed = post(&relay.gateway, "/api/keeper/relay_late", source).await;
    assert_eq!((failed.status, failed.code().as_str()), (status, code), "{}", failed.text());
    assert!(failed.text().contains(part), "{}", failed.text());
    relay.assert_slot_is_free().await;
    relay.end().await;
}

#[tokio::test]
async fn a_plugin_that_is_stopped_reads_no_further() {
    let relay = relay().await;
    let source = relay.at("/silent");
    let read = relay.open("read", &source);
    let (read, ()) = tokio::join!(read, async {
        TestGateway::eventually(LIMIT, "it reads", async || relay.source.0.asked.load(SeqCst) == 1).await;
        relay.switch_off().await;
    });
    let read: Value = serde_json::from_slice(&read.into_body().collect().await.unwrap().to_bytes()).unwrap();
    assert_eq!(read["end"], "the plugin was stopped while it read a response", "{read}");
    relay.source.is_left().await;
    relay.end().await;
}

#[tokio::test]
async fn what_a_stopped_plugin_passes_on_does_not_look_complete() {
    let relay = relay().await;
    let mut body = relay.open("relay", &relay.at("/silent")).await.into_body();
    assert_eq!(next(&mut body).await, Some(Ok("first\n".to_owned())));
    let ((), end) = tokio::join!(relay.switch_off(), next(&mut body));
    assert_eq!(end, Some(Err("the plugin was stopped".to_owned())));
    drop(body);
    relay.source.is_left().await;
    relay.end().await;
}

/// A body that the plugin keeps for ever ends with the plugin all the same.
#[tokio::test]
async fn a_body_that_a_stopped_plugin_still_holds_is_over() {
    let relay = relay().await;
    assert_eq!(post(&relay.gateway, "/api/keeper/forget", relay.at("/silent")).await.json(), 203);
    let busy = post(&relay.gateway, "/api/keeper/relay_late", relay.at("/gone")).await;
    assert_eq!((busy.status, busy.code().as_str()), (503, "egress_busy"), "{}", busy.text());
    relay.switch_off().await;
    relay.source.is_left().await;
    relay.end().await;
}
