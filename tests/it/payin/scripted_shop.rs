//! A gateway that sells coins on chains which this process plays: one plugin, and one chain of deposits behind two servers.

use crate::{
    crash::query,
    e2e::{Site, setup_with_all_plugins_on},
    storage::Engine,
};
use gateway_tests::process::{GatewayProcess, LIMIT, Setup};
use plugin_api::Address;
use plugin_testing::{Fault, ScriptedChain, ScriptedLog, ScriptedTx, TestGateway, Wallet, json};

/// Name of the contract of the token, which has 6 decimals.
const TOKEN: &str = "usdc";
const TRANSFER: &str = "Transfer(address indexed from, address indexed to, uint256 value)";
const CHAIN_ID: u64 = 31337;
/// How often a gateway asks each server for its head.
const POLL_MS: u64 = 250;
/// Numbers of wallets: with the key that pays, of deposits, and who sends them.
const PAYER: u64 = 902;
const DEPOSITS: u64 = 950;
const BUYER: u64 = 11;
const RICH: &str = "1000000000000000000000000";

/// The chain "dev", with USDC.
pub struct ScriptedDeposits {
    pub chain: ScriptedChain,
    second: ScriptedChain,
}

pub struct ScriptedShop {
    pub setup: Setup,
    pub gateway: GatewayProcess,
    pub site: Site,
    pub main: ScriptedChain,
    pub deposits: ScriptedDeposits,
}

impl ScriptedDeposits {
    /// Blocks until a deposit counts.
    pub const CONFIRMATIONS: u64 = 3;

    pub async fn start() -> Self {
        let chain = ScriptedChain::with_id(CHAIN_ID).await;
        chain.set_token(ScriptedChain::address_of(TOKEN), 0);
        chain.mock_call(ScriptedChain::address_of(TOKEN), "decimals() returns (uint256)", &[json!(6)]);
        chain.mine_empty(10);
        Self { second: chain.another_server().await, chain }
    }

    pub fn configured(&self, setup: Setup) -> Setup {
        let taken = |key: &str| format!("plugins.payin.chains.dev.{key}");
        setup
            .set("chains.dev.rpc", [&self.chain, &self.second].map(ScriptedChain::url).join(","))
            .set("chains.dev.chain_id", CHAIN_ID)
            .set("chains.dev.poll_ms", POLL_MS)
            .set(&taken("deposit"), address(DEPOSITS))
            .set(&taken("chain_id"), CHAIN_ID)
            .set(&taken("confirmations"), Self::CONFIRMATIONS)
            .set(&taken("tokens.usdc.address"), ScriptedChain::address_of(TOKEN))
            .set(&taken("tokens.usdc.decimals"), 6)
    }

    /// A transfer of so many units to the address of deposits.
    pub fn transfer(units: &str) -> ScriptedLog {
        ScriptedLog::new(TOKEN, TRANSFER, &[json!(address(BUYER)), json!(address(DEPOSITS)), json!(units)])
    }
}

impl ScriptedShop {
    /// Blocks of the main chain after which a payout is final.
    pub const FINAL_DEPTH: u64 = 6;

    pub async fn open(engine: Engine) -> Self {
        let (main, deposits) = (ScriptedChain::start().await, ScriptedDeposits::start().await);
        main.set_balance(address(PAYER), RICH);
        main.mine_empty(3);
        let setup = deposits.configured(setup(engine, &main).await);
        let gateway = setup.start().await.unwrap();
        let shop = Self { site: Site::of(&gateway), setup, gateway, main, deposits };
        TestGateway::eventually(LIMIT, "the chain is scanned", async || {
            let assets = shop.site.get("/api/payin/assets").await.json();
            assets["availableChains"] == json!(["dev"])
        })
        .await;
        shop
    }

    /// After it was killed.
    pub async fn start(&mut self) {
        self.gateway = self.setup.start().await.unwrap();
        self.site = Site::of(&self.gateway);
    }

    /// This server, or both of the chain of deposits, answer so many requests more, and then none.
    pub fn fall_silent(&self, server: &ScriptedChain, after: u64) {
        let second = Some(&self.deposits.second).filter(|_| server.id() == CHAIN_ID);
        [server].into_iter().chain(second).for_each(|server| server.fail_after(after, Fault::Silence));
    }

    pub fn answer_again(&self) {
        let servers = [&self.main, &self.deposits.chain, &self.deposits.second];
        servers.into_iter().for_each(|server| server.fail_always(None));
    }

    /// Transactions of the key that pays, in blocks.
    pub fn sent(&self) -> Vec<ScriptedTx> {
        self.main.mined().into_iter().filter(|tx| tx.from == address(PAYER)).collect()
    }

    /// Another program sends a transaction with the key that pays; returns its hash.
    pub fn send_elsewhere(&self) -> String {
        let tx = ScriptedTx::foreign(address(PAYER), self.sent().len() as u64);
        let hash = format!("0x{}", hex::encode(tx.hash));
        self.main.push_pending(tx);
        hash
    }

    /// Quotes and deposits, for people.
    pub async fn rows(&self) -> Vec<Vec<String>> {
        let quotes = "SELECT id, status, coalesce(error, '') FROM payin_quotes WHERE status <> 'paid'";
        let deposits = "SELECT units, state, coalesce(reason, '') FROM payin_deposits";
        [query(&self.setup, quotes).await, query(&self.setup, deposits).await].concat()
    }
}

fn address(wallet: u64) -> Address {
    Wallet::new(wallet).address().parse().unwrap()
}

async fn setup(engine: Engine, main: &ScriptedChain) -> Setup {
    // Settings of plugins that are not there would be reported.
    let setup =
        setup_with_all_plugins_on(engine).await.unset("plugins.hello.enabled").unset("plugins.kb.network_pages");
    setup
        .with_only(&["payin"])
        .unwrap()
        .set("chain_id", main.id())
        .set("chains.main.rpc", main.url())
        .set("chains.main.chain_id", main.id())
        .set("chains.main.poll_ms", POLL_MS)
        .set("chains.main.confirmations", 2)
        .set("chains.main.reorg_depth", ScriptedShop::FINAL_DEPTH)
        .set("signers.payin.key", Wallet::new(PAYER).key_text())
        .set("tx.resend_ms", 300)
        .set("plugins.payin.enabled", true)
        .set("plugins.payin.price_usd", "\"0.05\"")
        .set("plugins.payin.payout_max_wei", RICH)
        .set("plugins.payin.hour_max_wei", RICH)
        .set("plugins.payin.day_max_wei", RICH)
        .set("plugins.payin.open_per_network", 100_000)
}
