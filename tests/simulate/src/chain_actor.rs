//! The chain of a run: it mines, reorganises and forgets what waits, and its servers lag, lie and fail.

use crate::{dice::Dice, ledger::Ledger, replica::RELAYER, trace::Trace};
use plugin_testing::{ScriptedChain, ScriptedLog, ScriptedTx, Wallet, json};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::Duration};

const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)";
const BLOCK: Duration = Duration::from_secs(7);
const REORG_DEPTH_MAX: u64 = 2;
const LAG_MAX: u64 = 3;
/// What the paying account begins with.
const BALANCE_WEI: &str = "1000000000000000000000";

#[derive(Clone)]
pub struct ChainActor {
    chain: ScriptedChain,
    /// The same chain behind another server.
    second: ScriptedChain,
    trace: Trace,
    registrations: Rc<RefCell<Registrations>>,
}

/// What the registry was told, by transaction.
#[derive(Default)]
struct Registrations {
    count: u64,
    agents: BTreeMap<String, (String, String)>,
}

impl ChainActor {
    pub async fn start(trace: Trace) -> Result<Self, String> {
        let chain = ScriptedChain::start().await;
        let relayer =
            Wallet::new(RELAYER).address().parse::<plugin_api::Address>().map_err(|error| format!("{error:?}"))?;
        chain.set_balance(relayer, BALANCE_WEI);
        chain.keep_accounts();
        chain.mine_empty(3);
        let second = chain.another_server().await;
        Ok(Self { chain, second, trace, registrations: Rc::default() })
    }

    pub fn urls(&self) -> Vec<String> {
        vec![self.chain.url(), self.second.url()]
    }

    pub fn id(&self) -> u64 {
        self.chain.id()
    }

    /// Goes on for ever: its task is dropped.
    pub async fn run(self, mut dice: Dice) {
        loop {
            tokio::time::sleep(BLOCK).await;
            self.disturb(&mut dice);
            if dice.one_in(8) {
                self.reorganise(&mut dice);
            }
            let logs = if dice.one_in(2) { vec![self.register()] } else { Vec::new() };
            let block = self.chain.mine(logs);
            self.trace.record("chain", &format!("block {block}"));
        }
    }

    /// Replaces the newest blocks by a longer branch, with what was in them or without.
    fn reorganise(&self, dice: &mut Dice) {
        let depth = 1 + dice.below(REORG_DEPTH_MAX);
        let mut logs = self.chain.reorg(depth);
        if dice.one_in(2) {
            logs.clear();
        }
        self.chain.mine(logs);
        self.chain.mine_empty(depth);
        self.trace.record("chain", &format!("reorganised {depth}"));
    }

    /// The next agent: ids have no gaps, as the registry gives them.
    fn register(&self) -> ScriptedLog {
        let mut registrations = self.registrations.borrow_mut();
        registrations.count += 1;
        let (id, count) = (self.chain.logs().len() + 1, registrations.count);
        let (name, owner) = (format!("agent {count}"), format!("0x{:040}", 100 + count % 7));
        let arguments = [json!(id), json!(owner), json!(name), json!(""), json!("ipfs://m"), json!("5"), json!("100")];
        let log = ScriptedLog::new("registry", REGISTERED, &arguments).in_transaction(&name);
        registrations.agents.insert(log.tx.to_string(), (format!("{id} {name}"), owner));
        log
    }

    /// The agents of the chain, as the table of the index names them.
    pub fn agents(&self) -> Vec<(String, String)> {
        let registrations = self.registrations.borrow();
        let logs = self.chain.logs();
        logs.iter().filter_map(|(_, log)| registrations.agents.get(&log.tx.to_string()).cloned()).collect()
    }

    fn disturb(&self, dice: &mut Dice) {
        use plugin_testing::Fault::{DropsAnswer, Garbage, LiesAhead, NoBatches, Silence, SilentSuccess, Status};
        let server = if dice.one_in(2) { &self.chain } else { &self.second };
        server.set_lag(if dice.one_in(4) { dice.below(LAG_MAX) } else { 0 });
        let faults = [Status(503), Garbage, Silence, SilentSuccess, DropsAnswer, NoBatches, LiesAhead(5)];
        if dice.one_in(3) {
            let fault = faults[dice.index(faults.len())];
            let times = 1 + dice.index(4);
            server.fail_next(times, fault);
            self.trace.record("chain", &format!("{fault:?} {times} times"));
        }
        if dice.one_in(5) {
            // Servers that restart have no mempool.
            self.chain.lose(false);
            self.trace.record("chain", "forgets what waits");
        }
    }

    /// No faults any more, and a block.
    pub fn heal(&self) -> u64 {
        for server in [&self.chain, &self.second] {
            server.set_lag(0);
            server.fail_always(None);
        }
        self.chain.mine(Vec::new())
    }

    pub fn is_idle(&self) -> bool {
        self.chain.waiting().is_empty()
    }

    /// Payments by payee.
    fn payments(&self) -> BTreeMap<String, Vec<ScriptedTx>> {
        let mut payments: BTreeMap<String, Vec<ScriptedTx>> = BTreeMap::new();
        let relayer = Wallet::new(RELAYER).address().to_owned();
        // What the account sends to itself cancels a transaction that could not be sent.
        for tx in self.chain.mined().into_iter().filter(|tx| tx.to.to_string() != relayer) {
            payments.entry(tx.to.to_string()).or_default().push(tx);
        }
        payments
    }

    /// Whether every acknowledged drip is in a block.
    pub fn has_paid(&self, ledger: &Rc<RefCell<Ledger>>) -> bool {
        let payments = self.payments();
        ledger.borrow().acknowledged_payees().iter().all(|address| payments.contains_key(*address))
    }

    /// No payment twice, to nobody else, of another amount; with `is_settled` none that is missing.
    pub fn check(&self, ledger: &Ledger, drip_wei: u128, is_settled: bool) -> Vec<String> {
        let payments = self.payments();
        let mut found = Vec::new();
        for (payee, txs) in &payments {
            if txs.len() > 1 {
                found.push(format!("{payee} was paid {} times", txs.len()));
            }
            if !ledger.drips.iter().any(|drip| drip.address == *payee) && is_settled {
                found.push(format!("{payee} was paid and never answered"));
            }
            if let Some(tx) = txs.iter().find(|tx| tx.value.0.to_string() != drip_wei.to_string()) {
                found.push(format!("{payee} was paid {} wei", tx.value.0));
            }
        }
        if is_settled {
            let missing = ledger.acknowledged_payees().into_iter().filter(|address| !payments.contains_key(*address));
            found.extend(missing.map(|address| format!("the drip to {address} was acknowledged and never paid")));
        }
        found
    }
}

impl Ledger {
    fn acknowledged_payees(&self) -> Vec<&str> {
        let is_acknowledged = |drip: &&crate::ledger::Drip| drip.outcome == crate::ledger::Outcome::Acknowledged;
        self.drips.iter().filter(is_acknowledged).map(|drip| drip.address.as_str()).collect()
    }
}
