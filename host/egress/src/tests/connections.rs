//! Connections are reused per origin and checked address, and a request leaves once.

use futures_util::future::join_all;
use std::time::Duration;

use super::fixture::*;
use crate::{Egress, FetchRequest};

const NAME: &str = "fixture.test";

/// Fetches; then waits until hyper has put the connection back, which is a moment after the end of the body.
async fn fetch(egress: &Egress, owner: &str, url: &str) -> Result<u16, &'static str> {
    let fetched = egress.fetch(owner, get(url)).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    fetched.map(|response| response.status).map_err(|error| error.code())
}

#[tokio::test]
async fn fetches_of_all_plugins_share_the_connections_of_an_origin() {
    let fixture = Fixture::start(|_| kept_open(200)).await;
    let names = ["a.test", "b.test"];
    let resolver = ScriptedResolver::new(&names.map(|name| (name, &[&["127.0.0.1"] as &[&str]] as &[&[&str]])));
    let egress = egress_with(settings(&[fixture.allow_entry()]), &resolver);
    for owner in ["forum", "arena", "forum"] {
        assert_eq!(fetch(&egress, owner, &fixture.url_by_name("a.test", &format!("/{owner}"))).await, Ok(200));
    }
    assert_eq!(fixture.connections(), 1);
    assert_eq!(fetch(&egress, "forum", &fixture.url_by_name("b.test", "/")).await, Ok(200));
    assert_eq!(fixture.connections(), 2, "another name is another origin");
    assert_eq!(fixture.requests().len(), 4);
}

/// The connection is in use all the time, so that it does not end by being idle.
#[tokio::test]
async fn a_name_that_moves_is_followed_after_thirty_seconds_and_its_old_connection_closed() {
    let old = Fixture::start(|_| kept_open(200)).await;
    let new = Fixture::start_at(&format!("127.0.0.2:{}", old.port), |_| kept_open(201)).await;
    let resolver = ScriptedResolver::new(&[(NAME, &[&["127.0.0.1"], &["127.0.0.2"]])]);
    let allowed = [old.allow_entry(), format!("127.0.0.2:{}", new.port)];
    let egress = egress_with(settings(&allowed), &resolver);
    let url = old.url_by_name(NAME, "/");
    for second in (0..30).step_by(3) {
        assert_eq!(fetch(&egress, "hello", &url).await, Ok(200), "{second} s");
        // The last step ends a little after the thirtieth second.
        egress.advance_clock(Duration::from_secs(3));
    }
    assert_eq!((old.connections(), resolver.resolved().len()), (1, 1));
    assert_eq!(fetch(&egress, "hello", &url).await, Ok(201));
    assert_eq!((old.requests().len(), new.requests().len(), resolver.resolved().len()), (10, 1, 2));
    eventually("the connection to the old address is closed", || old.client_closed()).await;
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_accepts_no_connection() {
    let fixture = Fixture::start(|_| kept_open(200)).await;
    let resolver = ScriptedResolver::new(&[(NAME, &[&["127.0.0.2", "127.0.0.1"]])]);
    let allowed = [fixture.allow_entry(), format!("127.0.0.2:{}", fixture.port)];
    let egress = egress_with(settings(&allowed), &resolver);
    let request = FetchRequest { body: "body".into(), ..FetchRequest::new("POST", &fixture.url_by_name(NAME, "/")) };
    assert_eq!(egress.fetch("hello", request).await.unwrap().status, 200);
    assert_eq!(fixture.requests().iter().map(|request| &request.body[..]).collect::<Vec<_>>(), [b"body"]);
}

/// A server may close an idle connection at any time.
#[tokio::test]
async fn a_connection_that_was_closed_while_it_was_idle_is_replaced() {
    let fixture = Fixture::start(|_| {
        ServerScript::Bytes(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n".to_vec())
    })
    .await;
    let egress = egress(&[fixture.allow_entry()]);
    for _ in 0..3 {
        assert_eq!(fetch(&egress, "hello", &fixture.url("/")).await, Ok(200));
    }
    assert_eq!((fixture.connections(), fixture.requests().len()), (3, 3));
}

/// The server read it and may have done what it asks for.
#[tokio::test]
async fn a_request_that_had_left_is_not_sent_again() {
    let fixture = Fixture::start(|request| match request.path() {
        "/first" => kept_open(200),
        _ => ServerScript::Bytes(Vec::new()),
    })
    .await;
    let egress = egress(&[fixture.allow_entry()]);
    assert_eq!(fetch(&egress, "hello", &fixture.url("/first")).await, Ok(200));
    assert_eq!(fetch(&egress, "hello", &fixture.url("/second")).await, Err("broken_answer"));
    assert_eq!(fixture.connections(), 1, "the second one took the connection of the first");
    assert_eq!(fixture.request_lines(), ["GET /first", "GET /second"]);
}

/// Nobody asks again, so no later request finds out that its time is over.
#[tokio::test]
async fn an_idle_connection_is_closed_before_its_server_closes_it() {
    let fixture = Fixture::start(|_| kept_open(200)).await;
    let egress = egress(&[fixture.allow_entry()]);
    assert_eq!(fetch(&egress, "hello", &fixture.url("/")).await, Ok(200));
    assert!(!fixture.client_closed());
    eventually("the connection is closed", || fixture.client_closed()).await;
    assert_eq!(fetch(&egress, "hello", &fixture.url("/")).await, Ok(200));
    assert_eq!(fixture.connections(), 2);
}

/// A request finds the one that is left, and no other answer on it.
#[tokio::test]
async fn requests_at_once_have_connections_of_their_own_and_leave_them_to_later_ones() {
    let fixture = Fixture::start(|request| {
        let answer = match request.path() {
            "/empty" => "HTTP/1.1 204 No Content\r\n\r\n",
            "/length" => "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nlength",
            _ => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nchu\r\n3\r\nnks\r\n0\r\n\r\n",
        };
        ServerScript::KeepOpen(answer.as_bytes().to_vec())
    })
    .await;
    let egress = egress(&[fixture.allow_entry()]);
    let answers = [("/empty", ""), ("/length", "length"), ("/chunks", "chunks"), ("/length", "length")];
    let ask = async |(path, body): (&str, &str)| {
        let answer = egress.fetch("hello", get(&fixture.url(path))).await.unwrap();
        assert_eq!(answer.body, body.as_bytes(), "{path}");
    };
    join_all(answers.map(ask)).await;
    assert_eq!(fixture.connections(), 4);
    for answer in answers {
        ask(answer).await;
    }
    assert_eq!(fixture.connections(), 4, "a request begins when the connection of the one before is free");
}
