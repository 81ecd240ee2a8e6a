//! The public libraries verify deliveries as they are: `standardwebhooks` of npm, PyPI and crates.io, and `svix` of npm.

use super::{message, register, setup};
use crate::{
    e2e::{Site, clients, node, python},
    storage::Engine,
};
use gateway_tests::process::LIMIT;
use plugin_testing::{Value, Wallet, json};
use rstest::rstest;
use standardwebhooks::Webhook;
use std::process::Stdio;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

const SECRETS: [&str; 2] = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "a text of 24 characters!"];
const TEXT: &str = "Grüße, \u{1f980} \"quoted\" \\ and\nmore";

/// An endpoint in a process of its own that prints a line for each delivery.
struct Endpoint {
    _process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    url: String,
}

impl Endpoint {
    async fn start(script: &str, secret: &str) -> Self {
        let command = if script.ends_with(".py") { python(script) } else { node(script) };
        let mut command = Command::from(command);
        command.arg(secret).current_dir(clients()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let port = tokio::time::timeout(LIMIT, lines.next_line()).await.unwrap().unwrap().expect("it prints its port");
        Self { _process: process, lines, url: format!("http://127.0.0.1:{port}/hook") }
    }

    async fn delivery(&mut self) -> Value {
        let line = tokio::time::timeout(LIMIT, self.lines.next_line()).await.unwrap().unwrap();
        serde_json::from_str(&line.expect("it is called")).unwrap()
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn public_libraries_accept_deliveries(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
    #[values("verify_webhook.mjs", "verify_webhook.py")] script: &str,
) {
    let gateway = setup(engine).await.start().await.unwrap();
    let site = Site::of(&gateway);
    let expected =
        if script.ends_with(".py") { json!(["standardwebhooks"]) } else { json!(["standardwebhooks", "svix"]) };
    for (sender, secret) in (2..).zip(SECRETS) {
        let mut endpoint = Endpoint::start(script, secret).await;
        let id = register(&site, &endpoint.url, secret).await;
        assert_eq!(message(&site, &Wallet::new(sender), TEXT).await.status, 201);
        let delivery = endpoint.delivery().await;
        assert_eq!((&delivery["verified"], &delivery["forged"]), (&expected, &json!([])), "{delivery}");
        assert_eq!((&delivery["body"]["data"]["body"], &delivery["body"]["webhookId"]), (&json!(TEXT), &json!(id)));
        // While a new secret signs beside it, the old one still verifies.
        let payload =
            json!({ "url": endpoint.url, "secret": "another secret of some length", "events": ["dm.received"] });
        let set = site.write("/api/webhooks", &super::recipient(), "webhook.set", payload).await;
        assert_eq!(set.status, 200, "{}", set.text());
        assert_eq!(message(&site, &Wallet::new(sender + 10), "rotated").await.status, 201);
        let delivery = endpoint.delivery().await;
        assert_eq!(
            (&delivery["verified"], &delivery["body"]["data"]["body"]),
            (&expected, &json!("rotated")),
            "{delivery}"
        );
        // The next secret has an endpoint of its own, and this one no more deliveries.
        let payload = json!({ "url": endpoint.url, "secret": secret, "events": ["bounty.claimed"] });
        assert_eq!(site.write("/api/webhooks", &super::recipient(), "webhook.set", payload).await.status, 200);
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_crate_accepts_deliveries(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let gateway = setup(engine).await.start().await.unwrap();
    let site = Site::of(&gateway);
    let endpoint = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(204)).mount(&endpoint).await;
    register(&site, &format!("{}/hook", endpoint.uri()), SECRETS[0]).await;
    assert_eq!(message(&site, &Wallet::new(2), TEXT).await.status, 201);
    let calls = async || endpoint.received_requests().await.unwrap();
    plugin_testing::TestGateway::eventually(LIMIT, "the delivery arrives", async || !calls().await.is_empty()).await;
    let call = calls().await.remove(0);
    let verifier = Webhook::new(SECRETS[0]).unwrap();
    verifier.verify(&call.body, &call.headers).unwrap();
    assert!(verifier.verify(&[&call.body[..], b" "].concat(), &call.headers).is_err());
    let other = Webhook::new("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX").unwrap();
    assert!(other.verify(&call.body, &call.headers).is_err());
}
