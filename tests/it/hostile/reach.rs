//! Egress: a plugin reaches no private address, whatever URL its caller sends, and public addresses only through the
//! gateway.

use super::{TestGateway, gateway, gateway_with, json};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::method};

async fn fetch(gateway: &TestGateway, url: &str) -> String {
    let answer = gateway.send("POST", "/api/hostile/fetch", &[], url.to_owned()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json().as_str().unwrap().to_owned()
}

async fn neighbour(body: &str) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("GET")).respond_with(ResponseTemplate::new(200).set_body_string(body)).mount(&server).await;
    server
}

#[tokio::test]
async fn private_addresses_are_refused_before_anything_is_sent() {
    let gateway = gateway(json!({})).await;
    let server = neighbour("secret").await;
    let port = server.address().port();
    let urls = [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ];
    for url in urls {
        let refusal = fetch(&gateway, &url).await;
        assert!(refusal.starts_with("private_url:"), "{url}: {refusal}");
    }
    assert_eq!(server.received_requests().await.unwrap().len(), 0);
    gateway.stop().await;
}

#[tokio::test]
async fn the_development_switch_opens_the_host_that_it_names() {
    let server = neighbour("hello").await;
    let port = server.address().port();
    let gateway = gateway_with(json!({}), |config| config.egress.allow_hosts = vec![format!("127.0.0.1:{port}")]).await;
    assert_eq!(fetch(&gateway, &format!("http://127.0.0.1:{port}/")).await, "200 hello");
    assert!(fetch(&gateway, "http://127.0.0.1:1/").await.starts_with("private_url:"));
    gateway.stop().await;
}

#[tokio::test]
async fn a_longer_answer_than_asked_for_is_an_error_with_its_code() {
    let server = neighbour(&"x".repeat(2000)).await;
    let host = server.address().to_string();
    let gateway = gateway_with(json!({}), |config| config.egress.allow_hosts = vec![host.clone()]).await;
    assert!(fetch(&gateway, &format!("http://{host}/")).await.starts_with("too_large:"));
    gateway.stop().await;
}
