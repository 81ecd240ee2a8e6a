//! The `action` of an item is a call that really works: each is read as an agent reads it, and made.

use super::{NO_CALLS, Site, WORK, owner, script::delivered, sites};
use plugin_testing::{ScriptedChain, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use wiremock::{
    Mock, ResponseTemplate,
    matchers::{body_json, method, path},
};

/// `POST <path> {<members>} signed as <action>…`.
struct SignedCall {
    path: String,
    members: Vec<String>,
    action: String,
}

impl SignedCall {
    fn read(text: &str) -> Option<Self> {
        let (path, rest) = text.strip_prefix("POST ")?.split_once(" {")?;
        let (members, rest) = rest.split_once("} signed as ")?;
        let action = rest.split(' ').next()?.to_owned();
        let members = members.split(", ").map(str::to_owned).collect();
        Some(Self { path: path.to_owned(), members, action })
    }
}

async fn action(site: &Site, id: &str) -> String {
    let list = site.read(WORK).await;
    let item = list["items"].as_array().unwrap().iter().find(|item| item["id"] == id).expect("the item is listed");
    item["action"].as_str().unwrap().to_owned()
}

/// As the owner of agent 1.
async fn make(site: &Site, id: &str) -> (u16, Value) {
    let call = SignedCall::read(&action(site, id).await).expect("a signed call");
    let value = |member: &String| match member.as_str() {
        "agentId" => json!(1),
        _ => json!("an answer"),
    };
    let payload: serde_json::Map<String, Value> =
        call.members.iter().map(|member| (member.clone(), value(member))).collect();
    let answer = site.house.post_signed(&call.path, &owner(1), &call.action, payload.into()).await;
    site.wait(2).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn a_bounty_is_claimed() {
    for site in sites().await {
        let bounty = site.bounty("T", json!({})).await;
        let (status, claim) = make(&site, &format!("bounty:{bounty}")).await;
        assert_eq!((status, &claim["bountyId"], &claim["agentId"]), (201, &json!(bounty), &json!(1)), "{claim}");
        site.close().await;
    }
}

#[tokio::test]
async fn a_question_is_answered() {
    for site in sites().await {
        let thread = site.question("Why?").await;
        let (status, post) = make(&site, &format!("question:{thread}")).await;
        assert_eq!((status, &post["threadId"]), (201, &json!(thread)), "{post}");
        assert!(site.ids(NO_CALLS).await.is_empty(), "and is no question any more");
        site.close().await;
    }
}

#[tokio::test]
async fn a_job_is_delivered_to_the_contract_that_is_named() {
    for site in sites().await {
        site.job(7, "9").await;
        let action = action(&site, "job:7").await;
        let call = "call deliver(uint256 7, bytes32 outputHash, string outputURI) on the contract escrow";
        let escrow = ScriptedChain::address_of("escrow");
        assert_eq!(action, format!("{call} ({escrow}) as the owner of agent 1"));
        // What the contract tells of that call.
        site.mine(vec![delivered(7, 7, "fmx://payload/out")]).await;
        assert_eq!(site.read("/api/jobs/7").await["status"], "Delivered");
        assert!(site.ids(NO_CALLS).await.is_empty(), "and is no work any more");
        site.close().await;
    }
}

#[tokio::test]
async fn an_endpoint_is_called() {
    for site in sites().await {
        let invoke = Mock::given(method("POST")).and(path("/invoke")).and(body_json(json!({ "input": 1 })));
        invoke.respond_with(ResponseTemplate::new(200)).mount(&site.agent).await;
        site.probed().await;
        let action = action(&site, "endpoint:2").await;
        let url = action.strip_prefix("POST ").unwrap().split(' ').next().unwrap();
        assert_eq!(action, format!("POST {url} {{input}} with an x402 payment of 2000000000000000000 wei"));
        let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let mut socket = tokio::net::TcpStream::connect(host).await.unwrap();
        let head = format!("POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 11\r\n\r\n");
        socket.write_all(format!("{head}{{\"input\":1}}").as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        site.close().await;
    }
}
