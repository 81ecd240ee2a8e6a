//! One line per request in the access log, without secrets.

use super::fixture::{Client, eventually, settings, start};
use serde_json::Value;
use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Captures the log of this thread, on which the test's whole runtime runs.
    fn capture() -> (Self, DefaultGuard) {
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_writer(log.clone()).finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    fn requests(&self) -> Vec<Value> {
        let lines = self.text();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["target"] == "gateway::access").collect()
    }

    async fn request(&self) -> Value {
        eventually("the request is logged", || {
            let found = !self.requests().is_empty();
            async move { found }
        })
        .await;
        self.requests().remove(0)
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn logs_one_line_per_request() {
    let (log, _guard) = Log::capture();
    let server = start(&settings());
    let request = "GET /hello?sig=0xsecret HTTP/1.1\r\nhost: a\r\nx-request-id: my-id\r\nx-service-sig: secret\r\n\r\n";
    Client::connect(server.addr).await.request(request).await;
    let line = log.request().await;
    assert_eq!(line["level"], "INFO");
    assert_eq!(line["method"], "GET");
    assert_eq!(line["path"], "/hello");
    assert_eq!(line["status"], 200);
    assert_eq!(line["bytes"], 5);
    assert_eq!(line["client_ip"], "127.0.0.1");
    assert_eq!(line["request_id"], "my-id");
    assert_eq!((&line["plugin"], &line["operation"]), (&"hello".into(), &"say_hello".into()));
    assert!(line["latency_ms"].as_f64().unwrap() >= 0.0);
    assert!(!log.text().contains("secret"), "a signature is in the log: {}", log.text());
}

#[tokio::test]
async fn a_stream_is_logged_with_its_length_at_its_end() {
    let (log, _guard) = Log::capture();
    let server = start(&settings());
    let response = Client::connect(server.addr).await.get("/stream").await;
    assert_eq!(log.request().await["bytes"], response.body.len());
}

#[tokio::test]
async fn refusals_are_logged_too() {
    let (log, _guard) = Log::capture();
    let server = start(&settings());
    Client::connect(server.addr).await.request("GET /hello HTTP/1.1\r\n\r\n").await;
    assert_eq!(log.request().await["status"], 400);
}

#[tokio::test]
async fn a_client_that_disconnects_early_is_logged_without_a_status() {
    let (log, _guard) = Log::capture();
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send("GET /never HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(Client::connect(server.addr).await.get("/hello").await.status, 200);
    drop(client);
    eventually("both requests are logged", || {
        let count = log.requests().len();
        async move { count == 2 }
    })
    .await;
    let left = log.requests().remove(1);
    assert_eq!((&left["path"], left.get("status")), (&"/never".into(), None));
}

#[tokio::test]
async fn a_panic_is_logged_with_its_text_and_the_request_id() {
    let (log, _guard) = Log::capture();
    let server = start(&settings());
    let response = Client::connect(server.addr).await.get("/panic").await;
    let id = response.header("x-request-id").unwrap();
    let text = log.text();
    let line = text.lines().find(|line| line.contains("secret of the handler")).expect("the panic is not logged");
    assert!(line.contains(id), "{line}");
}
