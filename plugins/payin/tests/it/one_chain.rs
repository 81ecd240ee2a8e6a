//! The addresses of an extended public key are the same on every chain: each is given to one quote, on one chain, and what comes to it on another
//! chain is the operator's. None is an address of which the gateway has the key, or the load test's.

use crate::{
    CONFIRMATIONS, Chains, Site, TOKEN, assert_refused, buyer, deposit_address, each,
    list_addresses::{FIRST, SECOND, XPUB, addresses, own, reason, transfer_from, with_own_addresses},
    operator, selling, set_decimals, transfer,
};
use plugin_testing::{Builder, ScriptedChain, TestGateway, TestResponse, Value, Wallet, json};

const OTHER_ID: u64 = 31338;
/// The key of [`XPUB`] in a text that names no parent.
const SAME_KEY: &str =
    "xpub6BemYiVNp19ZzRGxRE45uPQTyk7YxYd6YwJ14Lva2CYpKkxkeHrg8vG3mtMJeaHHd5zi3HYMsESi5rFrd2sTXCVgGMGDwJpxYE7WvvW4ZvA";
/// m/44'/60'/7' of the same seed in a text that calls it account 3, and its child 0: the branch of a load test.
const NOT_ACCOUNT_3: &str =
    "xpub6C9j5N4Uw7GqqmGVkGFp9B3hWVD2Zf5Vghjtmy7HCTw69yvuGUY3xgVAknLLSdnpKRcSJgZwoftvFb8vWSGH2f5DXApQZrrmYZ7MoZrVd1r";
const BRANCH_OF_LOADTEST: &str =
    "xpub6Dom4bNvHgeKTBr1kNeTbfKWLVT6aKFmwj419xXdbnNyFUrXuv5gi14gFfX7wBS2NBga96qAwtFwx2hiNqhaQQRoSXyAX32ww4KnaD6cZpz";
/// The private key of the address `0/100` of [`XPUB`].
const KEY_OF_100: &str = "0x561b93f0226f5edf1abd77907c179e3f0240756ccb637c89ae533b10583fe97e";

/// A second chain of deposits, and both of its servers.
struct OtherChain {
    first: ScriptedChain,
    second: ScriptedChain,
}

impl OtherChain {
    async fn start() -> Self {
        let first = ScriptedChain::with_id(OTHER_ID).await;
        first.set_token(ScriptedChain::address_of(TOKEN), 0);
        set_decimals(&first, ScriptedChain::address_of(TOKEN), 6);
        first.mine_empty(10);
        let second = first.another_server().await;
        Self { first, second }
    }

    fn added_to(&self, builder: Builder) -> Builder {
        let second = self.second.url();
        builder.chain_named("other", &self.first, &[]).configure(move |config| {
            config.chains.get_mut("other").unwrap().rpc.push(second.into());
        })
    }
}

/// With own addresses on `dev`, and by amount on `other`.
fn on_two_chains() -> Value {
    let mut config = with_own_addresses();
    let mut other = selling()["chains"]["dev"].clone();
    other["chain_id"] = json!(OTHER_ID);
    config["chains"]["other"] = other;
    config
}

/// Restarts with the key on `other` in this text, and waits until both chains are scanned.
async fn restart_with_key_on_other(site: Site, xpub: &str) -> Site {
    let site = site.restart_with(|config| {
        drop(config["chains"]["dev"].as_object_mut().unwrap().remove("xpub"));
        config["chains"]["other"]["xpub"] = json!(xpub);
    });
    let site = site.await;
    site.after_run("scan").await;
    site
}

async fn ask(site: &Site, chain: &str, amount: &str) -> TestResponse {
    site.ask(json!({ "chain": chain, "asset": "USDX", "amount": amount, "to": Wallet::new(12).address() })).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_is_given_on_one_chain_and_buys_nothing_on_another() {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    for builder in builders {
        let other = OtherChain::start().await;
        let site = Chains::start().await.site(other.added_to(builder), &on_two_chains()).await;
        buys_on_its_own_chain_only(site, &other).await.close().await;
    }
}

async fn buys_on_its_own_chain_only(site: Site, other: &OtherChain) -> Site {
    let quote = site.quote("10").await;
    assert_eq!(quote["depositAddress"], FIRST);
    site.until("both are scanned", async || site.assets().await["availableChains"] == json!(["dev", "other"])).await;
    let by_amount = ask(&site, "other", "20").await.json();
    assert_eq!(by_amount["depositAddress"], json!(deposit_address()), "{by_amount}");

    // Sent on the wrong chain; and swept there, to the shared address.
    other.first.mine(vec![transfer(&buyer(), own(&quote), "10000000")]);
    let wrong_chain = reason(&site, "10000000").await;
    assert!(wrong_chain.contains("which is for dev"), "{wrong_chain}");
    other.first.mine(vec![transfer_from(own(&quote), deposit_address(), "20000000")]);
    assert!(reason(&site, "20000000").await.contains("another deposit address"));
    for quote in [&quote, &by_amount] {
        assert_eq!(site.state(quote).await["status"], "quoted");
    }
    let listed = addresses(&site, &operator()).await.json();
    let row = &listed["items"][0];
    assert_eq!(
        (&row["index"], &row["chain"], &row["address"]),
        (&json!(0), &json!("other"), &json!(FIRST)),
        "{listed}"
    );
    site.dev.mine(vec![transfer(&buyer(), own(&quote), "10000000")]);
    site.pays(&quote).await;
    site.paid(&quote).await;

    // The operator moves the key to the other chain.
    let site = restart_with_key_on_other(site, XPUB).await;
    let moved = site.assets().await["chains"][1].clone();
    assert_eq!(moved["unavailableReason"], "its xpub was that of another chain", "{moved}");
    assert_eq!(site.service().await["unavailableChains"], json!(["other"]));
    assert_refused(&ask(&site, "other", "10").await, 503, "chain_unavailable");
    let site = restart_with_key_on_other(site, SAME_KEY).await;
    let refused = ask(&site, "other", "10").await;
    assert_refused(&refused, 503, "chain_unavailable");
    assert!(refused.text().contains("was given to another quote"), "{}", refused.text());
    let given = "SELECT address, chain FROM payin_addresses";
    assert_eq!(site.gateway.rows(given).await, [format!("Text(\"{FIRST}\") Text(\"dev\")")]);
    site
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_of_which_the_gateway_has_the_key_is_given_to_nobody() {
    let chains = Chains::start().await;
    let mut config = selling();
    config["chains"]["dev"]["deposit"] = json!(Wallet::new(crate::PAYIN).address());
    let gateway = chains.prepared(TestGateway::builder(), &config).open().await;
    let reports = gateway.reports().await;
    assert!(reports[0].reason.contains("chains.dev.deposit: the gateway has the key of"), "{}", reports[0].reason);
    gateway.stop().await;

    let builder = TestGateway::builder().configure(|config| {
        config.signers.entry("relayer".to_owned()).or_default().key = Some(KEY_OF_100.to_owned().into());
    });
    let site = chains.site(builder, &with_own_addresses()).await;
    site.quote("10").await;
    site.gateway.execute("UPDATE payin_accounts SET next_index = 100").await;
    let refused = ask(&site, "dev", "10").await;
    assert_refused(&refused, 503, "chain_unavailable");
    assert!(refused.text().contains("an address of the gateway's own"), "{}", refused.text());
    assert_eq!(site.gateway.rows("SELECT next_index FROM payin_accounts").await, ["Int(100)"]);
    site.gateway.execute("UPDATE payin_accounts SET next_index = 1").await;
    assert_eq!(ask(&site, "dev", "10").await.json()["depositAddress"], SECOND);
    site.close().await;
}

/// Its key is public, so what comes there is the operator's own, as the disclosure says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_of_the_load_test_is_given_to_nobody() {
    let loadtest = json!({ "xpub": BRANCH_OF_LOADTEST, "wallets": 1 });
    let builder = TestGateway::builder().plugin(loadtest::plugin_module()).config("loadtest", loadtest);
    let site = Chains::start().await.site(builder, &selling()).await;
    let site = site.restart_with(|config| config["chains"]["dev"]["xpub"] = json!(NOT_ACCOUNT_3)).await;
    let is_known = async || {
        let reason = site.assets().await["chains"][0]["unavailableReason"].clone();
        reason.as_str().is_some_and(|reason| reason.contains("the wallets of the load test"))
    };
    site.until("it is known", is_known).await;
    assert_refused(&ask(&site, "dev", "10").await, 503, "chain_unavailable");
    let site = site.restart_with(|config| config["chains"]["dev"]["xpub"] = json!(XPUB)).await;
    site.until("another is taken", async || site.assets().await["chains"][0]["available"] == true).await;
    assert_eq!(ask(&site, "dev", "10").await.json()["depositAddress"], FIRST);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_shared_address_is_shown_where_quotes_have_their_own() {
    let mut config = with_own_addresses();
    let feed = json!({ "address": Wallet::new(80).address() });
    config["chains"]["dev"]["native"] = json!({ "symbol": "ETH", "feed": feed });
    each(config, async |site| {
        let chain = site.assets().await["chains"][0].clone();
        assert_eq!(chain["depositAddress"], Value::Null, "{chain}");
        let per_quote: Vec<&Value> =
            chain["assets"].as_array().unwrap().iter().map(|asset| &asset["addressPerQuote"]).collect();
        assert_eq!(per_quote, [&json!(true), &json!(false)], "{chain}");
        site.dev.mine_empty(CONFIRMATIONS);
        site
    })
    .await;
}
