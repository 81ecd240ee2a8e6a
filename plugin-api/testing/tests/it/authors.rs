//! `Author` in a response: the gateway completes it, from what plugins contribute to the point `authors`.

use super::names::{ASKED, CACHED_NOTES, NAMES, NOTES, plugin_module};
use plugin_testing::{TestGateway, Value, Wallet, json};

const ZERO: &str = "0x0000000000000000000000000000000000000000";

async fn gateways() -> Vec<TestGateway> {
    TestGateway::each_database(&[plugin_module()]).await
}

async fn post(gateway: &TestGateway, path: &str, body: Value) -> Value {
    let response = gateway.send("POST", path, &[], body.to_string()).await;
    assert!(response.is_success(), "{}", response.text());
    response.json()
}

async fn note(gateway: &TestGateway, author: &str) -> Value {
    post(gateway, NOTES, json!({ "author": author })).await
}

async fn name(gateway: &TestGateway, address: &str, name: &str) {
    post(gateway, NAMES, json!({ "address": address, "name": name })).await;
}

/// How many addresses each lookup had since the last call.
async fn asked(gateway: &TestGateway) -> Value {
    gateway.get(ASKED).await.json()
}

fn named(address: &str, name: &str) -> Value {
    json!({ "address": address, "name": name, "agentId": 7 })
}

fn unnamed(address: &str) -> Value {
    json!({ "address": address, "name": null, "agentId": null })
}

async fn finish(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}

#[tokio::test]
async fn authors_have_the_members_address_name_and_agent_in_this_order() {
    for gateway in gateways().await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        name(&gateway, alice.address(), "Alice \"A\"").await;
        let first = note(&gateway, alice.address()).await;
        assert_eq!(first["author"], named(alice.address(), "Alice \"A\""));
        for author in [bob.address(), ZERO, alice.address()] {
            note(&gateway, author).await;
        }
        let response = gateway.get(&format!("{NOTES}?text=%01author")).await;
        let network = gateway.gateway().environment.brand.network_name.clone();
        let (alice, bob) = (alice.address(), bob.address());
        let expected = format!(
            "{{\"notes\":[\
             {{\"id\":1,\"author\":{{\"address\":\"{alice}\",\"name\":\"Alice \\\"A\\\"\",\"agentId\":7}}}},\
             {{\"id\":2,\"author\":{{\"address\":\"{bob}\",\"name\":null,\"agentId\":null}}}},\
             {{\"id\":3,\"author\":{{\"address\":\"{ZERO}\",\"name\":\"{network}\",\"agentId\":null}}}},\
             {{\"id\":4,\"author\":{{\"address\":\"{alice}\",\"name\":\"Alice \\\"A\\\"\",\"agentId\":7}}}}\
             ],\"text\":\"\\u0001author\"}}"
        );
        assert_eq!(response.text(), expected);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn each_author_of_a_page_is_asked_for_once_and_cached_by_address() {
    for gateway in gateways().await {
        let wallets: Vec<Wallet> = (1..=3).map(Wallet::new).collect();
        for wallet in wallets.iter().chain(&wallets) {
            note(&gateway, wallet.address()).await;
        }
        // A write of the plugin that names them: what was cached until now is not used again.
        name(&gateway, wallets[0].address(), "Alice").await;
        asked(&gateway).await;
        gateway.get(&format!("{NOTES}?after=4")).await;
        assert_eq!(asked(&gateway).await, json!([2]));
        // Of the three authors of all notes two are cached.
        gateway.get(NOTES).await;
        assert_eq!(asked(&gateway).await, json!([1]));
        gateway.get(&format!("{NOTES}?after=1")).await;
        assert_eq!(asked(&gateway).await, json!([]));
        gateway.get(&format!("{NOTES}?after=99")).await;
        assert_eq!(asked(&gateway).await, json!([]), "a page without authors asks for none");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_cached_response_gets_a_new_name_at_once() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        note(&gateway, alice.address()).await;
        let read = async || {
            let response = gateway.get(CACHED_NOTES).await;
            (response.header("etag").to_owned(), response.json())
        };
        let list = |author: Value| json!({ "notes": [{ "text": "\u{1}", "author": author }], "text": "t" });
        let (first_tag, first) = read().await;
        assert_eq!(first, list(unnamed(alice.address())));
        assert_eq!(read().await, (first_tag.clone(), first));
        name(&gateway, alice.address(), "Alice").await;
        let (tag, renamed) = read().await;
        assert_eq!(renamed, list(named(alice.address(), "Alice")));
        assert_ne!(tag, first_tag);
        finish(gateway).await;
    }
}
