//! Request ids: a caller's valid id is kept, otherwise one is generated.

use super::fixture::{Client, settings, start};
use rstest::rstest;

#[tokio::test]
async fn generates_an_id_per_request() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let (first, second) = (client.get("/who").await, client.get("/who").await);
    let id = first.header("x-request-id").unwrap();
    assert_eq!(id.parse::<uuid::Uuid>().unwrap().get_version_num(), 7);
    assert_eq!(first.text().split(' ').nth(1), Some(id), "the gateway knows the same id");
    assert_ne!(second.header("x-request-id"), Some(id));
}

#[tokio::test]
async fn keeps_a_valid_id() {
    let server = start(&settings());
    let longest = "a".repeat(64);
    for id in ["trace_1-A", &longest] {
        let response = Client::connect(server.addr).await.get_with("/who", &format!("X-Request-Id: {id}\r\n")).await;
        assert_eq!(response.header("x-request-id"), Some(id));
        assert!(response.text().contains(id));
    }
}

#[rstest]
#[case::empty("")]
#[case::too_long(&"a".repeat(65))]
#[case::space("a b")]
#[case::forged_log_field("a\" status=200")]
#[case::not_ascii("ä")]
#[tokio::test]
async fn replaces_an_invalid_id(#[case] id: &str) {
    let server = start(&settings());
    let response = Client::connect(server.addr).await.get_with("/who", &format!("x-request-id: {id}\r\n")).await;
    assert!(response.header("x-request-id").unwrap().parse::<uuid::Uuid>().is_ok());
}
