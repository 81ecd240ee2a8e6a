//! The end of the gateway, by SIGTERM and by SIGKILL.

use super::{
    setup, setup_on,
    site::{Site, THREADS, signed},
    stream_reader::Part,
};
use crate::storage::Engine;
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_testing::{TestGateway, Wallet, json};
use rstest::rstest;
use std::time::{Duration, Instant};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// A client in the middle of sending a body: the gateway has asked for it and waits.
struct Upload {
    socket: TcpStream,
    body: String,
}

impl Upload {
    async fn begin(gateway: &GatewayProcess) -> Self {
        const INVITATION: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
        let body = signed(&Wallet::new(1), "thread.create", &json!({ "title": "Slow", "body": "B" })).to_string();
        let mut socket = TcpStream::connect(gateway.address()).await.unwrap();
        let head = format!(
            "POST {THREADS} HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             expect: 100-continue\r\n\r\n",
            body.len()
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut invitation = vec![0; INVITATION.len()];
        socket.read_exact(&mut invitation).await.unwrap();
        assert_eq!(invitation, INVITATION);
        let (first_half, rest) = body.split_at(body.len() / 2);
        socket.write_all(first_half.as_bytes()).await.unwrap();
        Self { socket, body: rest.to_owned() }
    }

    async fn finish(mut self) -> String {
        self.socket.write_all(self.body.as_bytes()).await.unwrap();
        let mut answer = String::new();
        self.socket.read_to_string(&mut answer).await.unwrap();
        answer
    }
}

async fn accepts_nobody(gateway: &GatewayProcess) {
    let refuses = async || TcpStream::connect(gateway.address()).await.is_err();
    TestGateway::eventually(LIMIT, "new connections are refused", refuses).await;
}

#[tokio::test]
async fn a_request_that_has_begun_is_finished() {
    let mut gateway = setup().start().await.unwrap();
    let upload = Upload::begin(&gateway).await;
    gateway.sigterm().unwrap();
    accepts_nobody(&gateway).await;
    let answer = upload.finish().await;
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    assert!(gateway.ended(LIMIT).await.unwrap().success());

    let gateway = gateway.setup().start().await.unwrap();
    assert_eq!(Site::of(&gateway).get(THREADS).await.json()["items"][0]["title"], "Slow");
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut() {
    let setup = setup().set("http.drain_timeout_ms", 1000).set("http.body_timeout_ms", 3_600_000);
    let mut gateway = setup.start().await.unwrap();
    let _upload = Upload::begin(&gateway).await;
    let begun = Instant::now();
    assert!(gateway.terminate(LIMIT).await.unwrap().success(), "an end by force is no failure of the gateway");
    assert!(begun.elapsed() >= Duration::from_secs(1), "it had a second to finish");
    let gateway = setup.start().await.unwrap();
    assert_eq!(Site::of(&gateway).get(THREADS).await.json()["total"], 0, "half a request is none");
}

#[tokio::test]
async fn open_streams_end_with_a_comment_and_do_not_hold_up_the_stop() {
    let mut gateway = setup().set("http.drain_timeout_ms", 60_000).start().await.unwrap();
    let site = Site::of(&gateway);
    let mut streams = [site.follow("/api/stream", None).await, site.follow("/api/stream?sinceId=0", None).await];
    let thread = site.open_thread(&Wallet::new(1), "Last words").await;
    for stream in &mut streams {
        assert_eq!(stream.event().await.data["data"]["threadId"], thread);
    }
    gateway.sigterm().unwrap();
    for stream in &mut streams {
        let rest = stream.rest().await;
        assert!(matches!(rest.last(), Some(Part::Comment(_))), "{rest:?}");
        assert!(!rest.iter().any(|part| matches!(part, Part::Event(_))), "{rest:?}");
    }
    // Running requests get a minute, but none is running.
    assert!(gateway.ended(LIMIT).await.unwrap().success());
}

#[rstest]
#[tokio::test]
async fn what_was_acknowledged_survives_a_kill(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let setup = setup_on(engine).await;
    for round in 1..=3 {
        let mut gateway = setup.start().await.unwrap();
        let site = Site::of(&gateway);
        let thread = site.open_thread(&Wallet::new(round), &format!("round {round}")).await;
        gateway.kill().await.unwrap();

        let gateway = setup.start().await.unwrap();
        let site = Site::of(&gateway);
        let read = site.get(&format!("{THREADS}/{thread}")).await;
        assert_eq!((read.status, &read.json()["title"]), (200, &format!("round {round}").into()));
        // On PostgreSQL when the lease of the killed one is over.
        let is_public = async || {
            let newest = site.get("/api/activity?limit=1").await.json();
            newest["items"][0]["data"]["threadId"] == thread
        };
        TestGateway::eventually(LIMIT, "the event is part of the write", is_public).await;
    }
}
