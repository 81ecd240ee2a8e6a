//! A chain with a vault and agents, a database with their rows, and the agents' servers.

use super::voucher::{AMOUNT, PAYEE, VAULT, vault};
use crate::{
    bench::{Bench, FORUM, Synchronous, peer_on_copy, wait_until_indexed},
    jobs::{WITHOUT_LIMITS, webhooks::wait_for},
    peers::plain,
    server::{Server, Site},
    signing,
};
use alloy_primitives::Address;
use anyhow::Result;
use plugin_testing::{ScriptedChain, ScriptedLog, Wallet, json};
use rusqlite::Connection;
use std::{fs, ops::Range, path::PathBuf};
use tokio::runtime::Runtime;

const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, \
     string metadataURI, uint256 pricePerJob, uint256 bond)";
const DEPOSITED: &str = "Deposited(address indexed payer, uint256 amount)";
/// Deposits in one block.
const BLOCK: u64 = 200;
/// Blocks on top of them.
const DEEP: u64 = 10;
const PAYERS_MAX: u64 = 20_000;
/// The number of the wallet with the facilitator's key.
const FACILITATOR: u64 = 900;

/// Bytes of the agents' answers. Calls of the first one have a price.
pub const ANSWERS: [usize; 4] = [1024, 1024, 1024, 256 * 1024];

pub struct Market {
    chain: ScriptedChain,
    /// A database with the rows of all that happened.
    file: PathBuf,
    /// The agents with the ids from 1.
    pub agents: Vec<Server>,
    /// Numbers of wallets with a deposit.
    pub payers: Range<u64>,
}

impl Market {
    pub fn open(bench: &Bench, runtime: &Runtime) -> Result<Self> {
        let chain = runtime.block_on(ScriptedChain::start());
        let facilitator = Wallet::new(FACILITATOR).address().parse().map_err(anyhow::Error::msg)?;
        chain.set_balance(facilitator, "1000000000000000000000");
        for (function, result) in [
            ("balance(address) returns (uint256)", json!("1000000000000000000")),
            ("unlockAt(address) returns (uint256)", json!("0")),
            ("used(address,uint256) returns (bool)", json!(false)),
        ] {
            chain.mock_call(ScriptedChain::address_of(VAULT), function, &[result]);
        }
        let payers = signing::new_wallets(bench.scale.threads.min(PAYERS_MAX));
        for first in payers.clone().step_by(usize::try_from(BLOCK)?) {
            let deposits = (first..payers.end.min(first + BLOCK)).map(deposited);
            chain.mine(deposits.collect::<Result<_>>()?);
        }
        let agents = ANSWERS.map(|bytes| plain::start(plain::HYPER, &vec![b'x'; bytes]));
        let agents = agents.into_iter().collect::<Result<Vec<_>>>()?;
        chain.mine((1..).zip(&agents).map(|(id, server)| registered(id, server)).collect());
        chain.mine_empty(DEEP);
        let market = Self { chain, file: bench.folder().join("market.db"), agents, payers };
        market.make(bench)?;
        Ok(market)
    }

    /// A gateway that has indexed the chain.
    fn make(&self, bench: &Bench) -> Result<()> {
        let gateway = self.start(bench, None)?;
        wait_until_indexed(&gateway, self.chain.head())?;
        // The index of the vault is another one, and a peer that gets the rows does not go on with it.
        wait_for(&gateway, "SELECT count(*) FROM x402_accounts", self.payers.end - self.payers.start)?;
        let folder = gateway.stop()?;
        let database = Connection::open(folder.path().join(FORUM))?;
        // The last probe is in the future, so that no probe runs during the measurement.
        let card = "INSERT OR REPLACE INTO agents_cards (agent_id, endpoint, checked_at, online, card, description, capabilities, \
             price_per_call, last_seen_ms, kept) \
             SELECT id, endpoint, unixepoch() + 86400, 1, '{}', 'An agent', '[]', CASE WHEN id = 1 THEN ?1 END, 0, '{}' \
             FROM agents_agents";
        database.execute(card, [AMOUNT.to_string()])?;
        database.execute("VACUUM INTO ?1", [self.file.display().to_string()])?;
        Ok(())
    }

    pub fn gateway(&self, bench: &Bench) -> Result<Server> {
        self.start(bench, Some("SELECT 1"))
    }

    /// A peer on Node that checks vouchers with the rows that the gateway has; nothing on a machine without it.
    pub fn node(&self, bench: &Bench) -> Result<Option<Server>> {
        let Some(mut node) = bench.fastify("vouchers.mjs") else { return Ok(None) };
        node.env("BENCH_VAULT", vault().to_checksum(None));
        peer_on_copy(node, &self.file, Synchronous::Full, "/ready").map(Some)
    }

    /// One whose rows of the vault's events end so far before the head that the vault is asked.
    pub fn gateway_behind(&self, bench: &Bench) -> Result<Server> {
        let stop =
            "UPDATE host_chain_index SET stopped = 'measured', next_block = next_block - 5 WHERE plugin = 'x402'";
        self.start(bench, Some(stop))
    }

    /// On a copy of the database, after this statement; or on a new one.
    fn start(&self, bench: &Bench, statement: Option<&str>) -> Result<Server> {
        let site = Site::new()?;
        if let Some(statement) = statement {
            let copy = site.folder.path().join(FORUM);
            fs::copy(&self.file, &copy)?;
            Connection::open(copy)?.execute_batch(statement)?;
        }
        let (registry, vault) = (ScriptedChain::address_of("registry").to_string(), vault().to_checksum(None));
        let key = Wallet::new(FACILITATOR).key_text();
        let settings = [
            ("chains.main.rpc", self.chain.url()),
            ("chains.main.deploy_block", "1".to_owned()),
            ("chains.main.contracts.registry", registry),
            ("chains.main.contracts.x402Vault", vault),
            ("signers.facilitator.key", format!("0x{}", key.trim_start_matches("0x"))),
            ("egress.allow_hosts", "127.0.0.1".to_owned()),
            ("egress.per_plugin_concurrency", "10000".to_owned()),
            ("plugins.a2a.calls_max", "10000".to_owned()),
            ("plugins.a2a.calls_per_agent_max", "10000".to_owned()),
        ];
        let settings: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
        bench.gateway_in(site, &[settings.as_slice(), &[WITHOUT_LIMITS, Synchronous::Full.setting()]].concat())
    }
}

fn deposited(wallet: u64) -> Result<ScriptedLog> {
    let payer = signing::address(&signing::key(wallet)?);
    let arguments = [json!(payer.to_checksum(None)), json!("1000000000000000000")];
    Ok(ScriptedLog::new(VAULT, DEPOSITED, &arguments).in_transaction(&format!("deposit {wallet}")))
}

fn registered(id: u64, server: &Server) -> ScriptedLog {
    let owner: Address = PAYEE;
    let arguments = [
        json!(id),
        json!(owner.to_checksum(None)),
        json!(format!("Agent {id}")),
        json!(format!("http://{}", server.address())),
        json!(""),
        json!("1"),
        json!("100000000000000000000"),
    ];
    ScriptedLog::new("registry", REGISTERED, &arguments).in_transaction(&format!("registration {id}"))
}
