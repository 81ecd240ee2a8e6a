//! The chain of a run: it mines, reorganises and forgets what waits, and its servers lag, lie and fail.

use crate::{
    account::{self, AccountContract, ExecutedCall},
    configuration::{FACILITATOR, PAYIN, RELAYER},
    dice::Dice,
    ledger::Ledger,
    machine,
    trace::Trace,
    vault::{self, Settlement, VAULT, Vault},
};
use plugin_api::Address;
use plugin_testing::{ScriptedChain, ScriptedLog, ScriptedTx, Wallet, json};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::Duration};

const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)";
const BLOCK: Duration = Duration::from_secs(7);
const REORG_DEPTH_MAX: u64 = 2;
const LAG_MAX: u64 = 3;
/// What the paying accounts begin with.
const BALANCE_WEI: &str = "1000000000000000000000000";

/// The server is some blocks behind, or not, and perhaps fails in one of these ways; returns which.
pub fn disturb_server(server: &ScriptedChain, faults: &[plugin_testing::Fault], dice: &mut Dice) -> Option<String> {
    server.set_lag(if dice.one_in(4) { dice.below(LAG_MAX) } else { 0 });
    if !dice.one_in(3) {
        return None;
    }
    let fault = faults[dice.index(faults.len())];
    let times = 1 + dice.index(4);
    server.fail_next(times, fault);
    Some(format!("{fault:?} {times} times"))
}

/// Wallets that have paid into the vault.
pub const PAYERS: u64 = 2;
pub const FIRST_PAYER: u64 = 960;
/// Wallets that have paid into the vault, too, and buy orders.
pub const CUSTOMERS: u64 = 2;
pub const FIRST_CUSTOMER: u64 = 980;
/// Accounts whose calls are sponsored, and the wallet that owns the first one.
pub const CALLERS: u64 = 2;
pub const FIRST_OWNER: u64 = 970;
/// Number of the account that has paid into the vault, too.
pub const PAYING_ACCOUNT: u64 = 0;
const DEPOSIT_WEI: &str = "1000000000000000000000";

#[derive(Clone)]
pub struct ChainActor {
    chain: ScriptedChain,
    /// The same chain behind another server.
    second: ScriptedChain,
    trace: Trace,
    registrations: Rc<RefCell<Registrations>>,
}

/// A transfer of coins to somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoinTransfer {
    pub payee: String,
    pub wei: String,
}

/// What the registry was told, by transaction.
#[derive(Default)]
struct Registrations {
    count: u64,
    agents: BTreeMap<String, (String, String)>,
}

impl ChainActor {
    /// `accepts_all`: see [`Vault`].
    pub async fn start(trace: Trace, accepts_all: bool) -> Result<Self, String> {
        let chain = ScriptedChain::start().await;
        for account in [RELAYER, PAYIN, FACILITATOR] {
            let address = Wallet::new(account).address().parse::<Address>().map_err(|error| format!("{error:?}"))?;
            chain.set_balance(address, BALANCE_WEI);
        }
        chain.keep_accounts();
        chain.follow_clock(machine::now_s);
        let factory = ScriptedChain::address_of(account::FACTORY);
        chain.mock_call(factory, "isAccount(address) returns (bool)", &[json!(true)]);
        let mut owners = BTreeMap::new();
        for number in 0..CALLERS {
            let address = account::address_of(number);
            let owner = Wallet::new(FIRST_OWNER + number);
            let owner = owner.address().parse::<Address>().map_err(|error| format!("{error:?}"))?;
            chain.deploy(address, AccountContract { chain_id: chain.id(), address, owner });
            owners.insert(address, owner);
        }
        chain.deploy(ScriptedChain::address_of(VAULT), Vault { chain_id: chain.id(), owners, accepts_all });
        let payers = (FIRST_PAYER..FIRST_PAYER + PAYERS).chain(FIRST_CUSTOMER..FIRST_CUSTOMER + CUSTOMERS);
        let payers = payers.map(|payer| Wallet::new(payer).address().to_owned());
        let payers = payers.chain([account::address_of(PAYING_ACCOUNT).to_string()]);
        chain.mine(payers.map(|payer| vault::deposited(&payer, DEPOSIT_WEI)).collect());
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
        let registry = ScriptedChain::address_of("registry");
        let before = self.chain.logs().iter().filter(|(_, log)| log.address == registry).count();
        let (id, count) = (before + 1, registrations.count);
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
        let faults = [Status(503), Garbage, Silence, SilentSuccess, DropsAnswer, NoBatches, LiesAhead(5)];
        if let Some(fault) = disturb_server(server, &faults, dice) {
            self.trace.record("chain", &fault);
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
            server.forget_faults();
        }
        self.chain.mine(Vec::new())
    }

    pub fn is_idle(&self) -> bool {
        self.chain.waiting().is_empty()
    }

    /// What this account pays. What an account sends to itself cancels a transaction that could not be sent.
    fn payments_of(account: u64, txs: &[ScriptedTx]) -> Vec<CoinTransfer> {
        let wallet = Wallet::new(account);
        let is_of =
            |tx: &&ScriptedTx| tx.from.to_string() == wallet.address() && tx.to != tx.from && tx.data.is_empty();
        let payment = |tx: &ScriptedTx| CoinTransfer { payee: tx.to.to_string(), wei: tx.value.0.to_string() };
        txs.iter().filter(is_of).map(payment).collect()
    }

    /// What the vault has settled, and how many vouchers it has skipped.
    pub fn vouchers(&self) -> (Vec<Settlement>, usize) {
        let vault = ScriptedChain::address_of(VAULT);
        let logs = self.chain.logs();
        vault::outcomes(logs.iter().map(|(_, log)| log).filter(|log| log.address == vault))
    }

    /// Calls that accounts have carried out.
    pub fn executed(&self) -> Vec<ExecutedCall> {
        let logs = self.chain.logs();
        account::executed(logs.iter().map(|(_, log)| log))
    }

    /// How often each call of an account is in a block.
    pub fn sent_calls(&self) -> BTreeMap<Vec<u8>, usize> {
        let accounts: Vec<Address> = (0..CALLERS).map(account::address_of).collect();
        let mut sent = BTreeMap::new();
        for tx in self.chain.mined().into_iter().filter(|tx| accounts.contains(&tx.to)) {
            *sent.entry([&tx.to.0[..], &tx.data].concat()).or_default() += 1;
        }
        sent
    }

    /// Payouts in blocks.
    pub fn payouts(&self) -> Vec<CoinTransfer> {
        Self::payments_of(PAYIN, &self.chain.mined())
    }

    /// Payouts in blocks, and those that wait.
    pub fn payouts_on_their_way(&self) -> Vec<CoinTransfer> {
        Self::payments_of(PAYIN, &[self.chain.mined(), self.chain.waiting()].concat())
    }

    /// What was paid for drips, by payee.
    fn drips(&self) -> BTreeMap<String, Vec<String>> {
        let mut payments: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for CoinTransfer { payee, wei } in Self::payments_of(RELAYER, &self.chain.mined()) {
            payments.entry(payee).or_default().push(wei);
        }
        payments
    }

    /// Whether every acknowledged drip is in a block.
    pub fn has_paid(&self, ledger: &Rc<RefCell<Ledger>>) -> bool {
        let payments = self.drips();
        ledger.borrow().acknowledged_payees().iter().all(|address| payments.contains_key(*address))
    }

    /// No payment twice, to nobody else, of another amount; with `is_settled` none that is missing.
    pub fn check(&self, ledger: &Ledger, drip_wei: u128, is_settled: bool) -> Vec<String> {
        let payments = self.drips();
        let mut found = Vec::new();
        for (payee, txs) in &payments {
            if txs.len() > 1 {
                found.push(format!("{payee} was paid {} times", txs.len()));
            }
            if !ledger.drips.iter().any(|drip| drip.address == *payee) && is_settled {
                found.push(format!("{payee} was paid and never answered"));
            }
            if let Some(wei) = txs.iter().find(|wei| **wei != drip_wei.to_string()) {
                found.push(format!("{payee} was paid {wei} wei"));
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
