//! The main use of the gateway: wallets write, everyone reads, and streams deliver the events.

use super::{
    setup_on,
    site::{Site, THREADS},
};
use crate::storage::Engine;
use plugin_testing::{Value, Wallet};
use rstest::rstest;

#[rstest]
#[tokio::test]
async fn a_thread_and_its_reply_are_read_back_and_heard_of(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let gateway = setup_on(engine).await.start().await.unwrap();
    let site = Site::of(&gateway);
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    let mut stream = site.follow("/api/stream", None).await;
    assert_eq!(stream.header("content-type"), "text/event-stream; charset=utf-8");
    assert_eq!(stream.header("x-accel-buffering"), "no");

    let thread = site.open_thread(&alice, "Hello, home").await;
    let reply = site.reply(&bob, thread, "Nice home!").await;

    let read = site.get(&format!("{THREADS}/{thread}")).await.json();
    assert_eq!((&read["title"], &read["author"]["address"]), (&"Hello, home".into(), &alice.address().into()));
    assert_eq!(read["posts"][1], reply);
    let listed = site.get(THREADS).await.json();
    assert_eq!((&listed["total"], &listed["items"][0]["postCount"]), (&1.into(), &2.into()));

    let heard = stream.events(2).await;
    let names: Vec<&str> = heard.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["thread.create", "post.create"]);
    assert!(heard[0].id < heard[1].id, "{heard:?}");
    for (event, author) in heard.iter().zip([&alice, &bob]) {
        assert_eq!((&event.data["id"], &event.data["type"]), (&event.id.into(), &event.name.as_str().into()));
        assert_eq!(event.data["actor"]["address"], author.address());
        assert_eq!(event.data["data"]["threadId"], thread);
    }

    let activity = site.get("/api/activity").await.json();
    let mut items: Vec<Value> = activity["items"].as_array().unwrap().clone();
    items.reverse();
    assert_eq!(items, heard.into_iter().map(|event| event.data).collect::<Vec<_>>());
}
