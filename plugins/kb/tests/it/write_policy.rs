//! Write policy: `[plugins.kb]`, and agents on the chain.

use super::{builders, create, finish, gateways_with, next, put};
use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway, Wallet, json};

async fn status(gateway: &TestGateway, wallet: &Wallet, slug: &str) -> (u16, String) {
    let response = put(gateway, wallet, slug, json!({ "title": "t", "body": "b" })).await;
    next(gateway).await;
    (response.status, if response.is_success() { String::new() } else { response.code() })
}

fn refused() -> (u16, String) {
    (403, "kb_protected".to_owned())
}

fn done(status: u16) -> (u16, String) {
    (status, String::new())
}

#[tokio::test]
async fn protected_and_pinned_pages_are_restricted() {
    let (operator, pinned, other) = (Wallet::new(1), Wallet::new(2), Wallet::new(3));
    let config = json!({
        "network_pages": false, "operators": [operator.address().to_lowercase()], "protected": ["rules"],
        "pinned": { "prices": pinned.address() }
    });
    for gateway in gateways_with(config).await {
        for slug in ["rules", "service-network"] {
            assert_eq!(status(&gateway, &other, slug).await, refused(), "{slug}");
            assert_eq!(status(&gateway, &operator, slug).await, done(201), "{slug}");
            assert_eq!(status(&gateway, &other, slug).await, refused(), "{slug}");
        }
        assert_eq!(status(&gateway, &other, "prices").await, refused());
        assert_eq!(status(&gateway, &pinned, "prices").await, done(201));
        assert_eq!(status(&gateway, &operator, "prices").await, done(200));
        assert_eq!(status(&gateway, &pinned, "prices").await, done(200));
        assert_eq!(status(&gateway, &other, "signing").await, done(201), "no longer protected");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_page_is_its_creators() {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    for gateway in gateways_with(json!({ "network_pages": false })).await {
        create(&gateway, &alice, "page", "text").await;
        next(&gateway).await;
        assert_eq!(status(&gateway, &bob, "page").await, refused());
        assert_eq!(status(&gateway, &alice, "page").await, done(200));
        for slug in ["how-to-hire", "how-to-register", "signing", "service-network"] {
            assert_eq!(
                status(&gateway, &alice, slug).await,
                refused(),
                "{slug} is protected unless configured otherwise"
            );
        }
        finish(gateway).await;
    }
}

const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)";
const STATUS_CHANGED: &str = "AgentStatusChanged(uint256 indexed id, uint8 status)";
const ACTIVE: u8 = 1;
const PAUSED: u8 = 2;

fn agent(id: u64, owner: &Wallet, status: u8) -> [ScriptedLog; 2] {
    let arguments = [
        json!(id),
        json!(owner.address()),
        json!(format!("agent {id}")),
        json!(""),
        json!(""),
        json!("5"),
        json!("100"),
    ];
    [
        ScriptedLog::new("registry", REGISTERED, &arguments),
        ScriptedLog::new("registry", STATUS_CHANGED, &[json!(id), json!(status)]),
    ]
}

#[tokio::test]
async fn owners_of_active_agents_write_pages_whose_creator_owns_none() {
    let [active, paused, nobody, other] = [1, 2, 3, 4].map(Wallet::new);
    for builder in builders().await {
        let chain = ScriptedChain::start().await;
        chain.mine([agent(1, &active, ACTIVE), agent(2, &paused, PAUSED)].concat());
        let builder = builder.plugin(agents::plugin_module()).config("kb", json!({ "network_pages": false }));
        let gateway = builder.chain(&chain, &["registry"]).start().await;
        gateway.indexed(&chain).await;

        assert_eq!(status(&gateway, &nobody, "free").await, done(201));
        assert_eq!(status(&gateway, &active, "free").await, done(200));
        assert_eq!(status(&gateway, &paused, "free").await, refused());
        assert_eq!(status(&gateway, &other, "free").await, refused());
        // Its creator owns an agent, though a paused one.
        assert_eq!(status(&gateway, &paused, "owned").await, done(201));
        assert_eq!(status(&gateway, &active, "owned").await, refused());
        finish(gateway).await;
    }
}
