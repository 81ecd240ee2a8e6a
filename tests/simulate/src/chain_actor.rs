//! The chain of a run: it mines, reorganises and forgets what waits, and its servers lag, lie and fail.

use crate::{
    account::{self, AccountContract, ExecutedCall},
    configuration::{FACILITATOR, GROWTH, PAYIN, RELAYER, REORG_DEPTH},
    dice::Dice,
    ledger::Ledger,
    machine,
    trace::Trace,
    vault::{self, Settlement, VAULT, Vault},
};
use plugin_api::Address;
use plugin_testing::{ScriptedChain, ScriptedLog, ScriptedTx, Wallet, json};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    mem,
    rc::Rc,
    time::Duration,
};

const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)";
const REQUESTED: &str = "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, bytes32 inputHash, string inputURI)";
const DELIVERED: &str = "JobDelivered(uint256 indexed jobId, bytes32 outputHash, string outputURI)";
const COMPLETED: &str = "JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)";
const JOB_WEI: &str = "5000000000000000000";
/// Of jobs; nobody else has this address.
const JOB_CLIENT: &str = "0x0000000000000000000000000000000000000099";
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
/// Wallets that own the first agents of the chain, in their order.
pub const REFERRERS: u64 = 2;
pub const FIRST_REFERRER: u64 = 990;
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
    /// What the next block will have.
    wanted: Rc<RefCell<Wanted>>,
}

#[derive(Default)]
struct Wanted {
    /// Names and owners.
    agents: BTreeMap<String, String>,
    /// Jobs, and the agents that do them.
    jobs: BTreeMap<u64, u64>,
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
        for account in [RELAYER, PAYIN, FACILITATOR, GROWTH] {
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
        let second = chain.another_server().await;
        let actor = Self { chain, second, trace, registrations: Rc::default(), wanted: Rc::default() };
        for number in 0..REFERRERS {
            actor.enrol(&format!("referrer {number}"), Wallet::new(FIRST_REFERRER + number).address());
        }
        actor.chain.mine(actor.wanted_logs());
        actor.chain.mine_empty(3);
        Ok(actor)
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
            if dice.one_in(2) {
                self.register_another();
            }
            let logs = self.wanted_logs();
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

    /// One that nobody has to do with.
    fn register_another(&self) {
        let mut registrations = self.registrations.borrow_mut();
        registrations.count += 1;
        let count = registrations.count;
        self.enrol(&format!("agent {count}"), &format!("0x{:040}", 100 + count % 7));
    }

    /// An agent of this name, which no other one has, in the next block. A reorganisation may take it away.
    pub fn enrol(&self, name: &str, owner: &str) {
        self.wanted.borrow_mut().agents.insert(name.to_owned(), owner.to_owned());
    }

    /// This job, from request to release, in the next block. A reorganisation may take it away.
    pub fn complete_job(&self, job: u64, agent: u64) {
        self.wanted.borrow_mut().jobs.insert(job, agent);
    }

    fn wanted_logs(&self) -> Vec<ScriptedLog> {
        let Wanted { agents, jobs } = mem::take(&mut *self.wanted.borrow_mut());
        // Ids have no gaps, as the registry gives them.
        let first = self.registered().len() as u64 + 1;
        let registrations = agents.iter().zip(first..).map(|((name, owner), id)| self.registration(id, name, owner));
        registrations.chain(jobs.into_iter().flat_map(|(job, agent)| job_logs(job, agent))).collect()
    }

    fn registration(&self, id: u64, name: &str, owner: &str) -> ScriptedLog {
        let arguments = [json!(id), json!(owner), json!(name), json!(""), json!("ipfs://m"), json!("5"), json!("100")];
        let log = ScriptedLog::new("registry", REGISTERED, &arguments).in_transaction(name);
        let agent = (format!("{id} {name}"), owner.to_owned());
        self.registrations.borrow_mut().agents.insert(log.tx.to_string(), agent);
        log
    }

    /// Transactions of the registrations, in the order of their ids.
    fn registered(&self) -> Vec<String> {
        self.txs_at("registry").into_iter().map(|(_, tx)| tx).collect()
    }

    /// Blocks and transactions of the events of a contract.
    fn txs_at(&self, contract: &str) -> Vec<(u64, String)> {
        let address = ScriptedChain::address_of(contract);
        let logs = self.chain.logs();
        let of_contract = logs.iter().filter(|(_, log)| log.address == address);
        of_contract.map(|(block, log)| (*block, log.tx.to_string())).collect()
    }

    /// None while it is in no block.
    pub fn agent_id(&self, name: &str) -> Option<u64> {
        let registrations = self.registrations.borrow();
        let ids = self.registered().into_iter().zip(1..);
        let is_named = |tx: &String| {
            let (agent, _) = &registrations.agents[tx];
            agent.split_once(' ').is_some_and(|(_, of_agent)| of_agent == name)
        };
        ids.filter(|(tx, _)| is_named(tx)).map(|(_, id)| id).next()
    }

    /// Jobs, with the blocks in which they were completed.
    pub fn completed_jobs(&self) -> BTreeMap<u64, u64> {
        let escrow = ScriptedChain::address_of("escrow");
        let logs = self.chain.logs();
        let of_escrow = logs.iter().filter(|(_, log)| log.address == escrow);
        of_escrow.filter_map(|(block, log)| Some((job_of(log)?, *block))).collect()
    }

    /// Jobs whose completion no reorganisation takes away any more, as the gateway is told.
    pub fn final_jobs(&self) -> BTreeSet<u64> {
        let head = self.chain.head();
        let jobs = self.completed_jobs().into_iter();
        jobs.filter(|(_, block)| block + REORG_DEPTH <= head).map(|(job, _)| job).collect()
    }

    /// Whether each job that was completed is final.
    pub fn are_jobs_final(&self) -> bool {
        self.wanted.borrow().jobs.is_empty() && self.final_jobs().len() == self.completed_jobs().len()
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

    /// Rewards of referrals in blocks.
    pub fn rewards(&self) -> Vec<CoinTransfer> {
        Self::payments_of(GROWTH, &self.chain.mined())
    }

    /// Rewards of referrals in blocks, and those that wait.
    pub fn rewards_on_their_way(&self) -> Vec<CoinTransfer> {
        Self::payments_of(GROWTH, &[self.chain.mined(), self.chain.waiting()].concat())
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

fn job_logs(job: u64, agent: u64) -> [ScriptedLog; 3] {
    let hash = format!("0x{job:064x}");
    let requested = [json!(job), json!(agent), json!(JOB_CLIENT), json!(JOB_WEI), json!(hash), json!("")];
    let completed = [json!(job), json!(JOB_WEI), json!("0"), json!(5)];
    let logs = [
        ScriptedLog::new("escrow", REQUESTED, &requested),
        ScriptedLog::new("escrow", DELIVERED, &[json!(job), json!(hash), json!("")]),
        ScriptedLog::new("escrow", COMPLETED, &completed),
    ];
    logs.map(|log| log.in_transaction(&format!("job {job}")))
}

/// The number of the job that was completed; none of another event.
fn job_of(log: &ScriptedLog) -> Option<u64> {
    let completed = ScriptedLog::new("escrow", COMPLETED, &[json!(0), json!("0"), json!("0"), json!(0)]);
    let (topic, job) = (log.topics.first()?, log.topics.get(1)?);
    (completed.topics.first() == Some(topic))
        .then(|| job.0[24..].iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

impl Ledger {
    fn acknowledged_payees(&self) -> Vec<&str> {
        let is_acknowledged = |drip: &&crate::ledger::Drip| drip.outcome == crate::ledger::Outcome::Acknowledged;
        self.drips.iter().filter(is_acknowledged).map(|drip| drip.address.as_str()).collect()
    }
}
