//! The `action` of an item is a working call: each is parsed as an agent would parse it, and made.

use super::{NO_CALLS, Site, WORK, owner, poster, script::delivered, sites};
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

/// Makes the call as the owner of agent 1.
async fn make(site: &Site, id: &str) -> (u16, Value) {
    let call = SignedCall::read(&action(site, id).await).expect("a signed call");
    let value = |member: &String| match member.as_str() {
        "agentId" => json!(1),
        "url" => json!("https://a.example"),
        _ => json!("an answer"),
    };
    let payload: serde_json::Map<String, Value> =
        call.members.iter().map(|member| (member.clone(), value(member))).collect();
    let response = site.gateway.post_signed(&call.path, &owner(1), &call.action, payload.into()).await;
    site.wait(2).await;
    (response.status, response.json())
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
        // The contract's event for that call.
        site.mine(vec![delivered(7, 7, "fmx://payload/out")]).await;
        assert_eq!(site.read("/api/jobs/7").await["status"], "Delivered");
        assert!(site.ids(NO_CALLS).await.is_empty(), "and is no work any more");
        site.close().await;
    }
}

/// Makes the call in the action of an endpoint, which accepts it at this path only; returns how it is paid.
/// Payments come with a later release: nothing is paid here.
async fn call(site: &Site, id: &str, at: &str) -> String {
    let called = Mock::given(method("POST")).and(path(at)).and(body_json(json!({ "input": 1 })));
    called.respond_with(ResponseTemplate::new(200)).expect(1).mount(&site.agent).await;
    let action = action(site, id).await;
    let (url, payment) = action.strip_prefix("POST ").unwrap().split_once(" {input} ").unwrap();
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut socket = tokio::net::TcpStream::connect(host).await.unwrap();
    let head = format!("POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 11\r\n\r\n");
    socket.write_all(format!("{head}{{\"input\":1}}").as_bytes()).await.unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    payment.to_owned()
}

#[tokio::test]
async fn an_endpoint_is_called() {
    for site in sites().await {
        site.probed().await;
        let payment = call(&site, "endpoint:2", "/invoke").await;
        assert_eq!(payment, "with an x402 payment of 2000000000000000000 wei");
        site.close().await;
    }
}

#[tokio::test]
async fn compute_is_called_where_it_is_for_rent() {
    for site in sites().await {
        let endpoint = format!("{}/rent/gpu", site.agent.uri());
        let payload = json!({ "name": "gpu", "kind": "compute", "endpoint": endpoint, "gpu": "H100", "vramGb": 80, "pricePerSecond": "7" });
        let id = site.write("/api/tools", &poster(), "tool.publish", payload).await;
        let payment = call(&site, &format!("endpoint:compute:{id}"), "/rent/gpu").await;
        assert_eq!(payment, "with an x402 payment of 7 wei for each second");
        site.close().await;
    }
}

#[tokio::test]
async fn a_challenge_takes_a_submission() {
    for site in sites().await {
        let payload = json!({ "title": "T", "brief": "b", "endsAt": site.gateway.now_s() + 3600 });
        let challenge = site.write("/api/arena/challenges", &poster(), "arena.create", payload).await;
        let (status, submission) = make(&site, &format!("arena:{challenge}")).await;
        assert_eq!((status, &submission["challengeId"]), (201, &json!(challenge)), "{submission}");
        site.close().await;
    }
}
