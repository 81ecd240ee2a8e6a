//! The chain on which deposits are made: blocks come with what buyers send, leave again with it or without, and its two servers lag, fail and,
//! one of them, lie.

use crate::{chain_actor::disturb_server, dice::Dice, machine, trace::Trace};
use plugin_testing::{Fault, ScriptedChain, ScriptedLog, json};
use std::{cell::RefCell, mem, rc::Rc, time::Duration};

/// Name of the chain in the configuration.
pub const NAME: &str = "dev";
/// Name of the contract of the token.
pub const TOKEN: &str = "usdx";
pub const DECIMALS: u8 = 6;
/// Blocks from that of a deposit on, its own included, until it counts: more than leave the chain at once.
pub const CONFIRMATIONS: u64 = 4;
pub const CHAIN_ID: u64 = 31_337;
const TRANSFER: &str = "Transfer(address indexed from, address indexed to, uint256 value)";
const BLOCK: Duration = Duration::from_secs(5);
const REORG_DEPTH_MAX: u64 = 3;
/// What the one server says that lies: nothing counts that two do not say.
const LIES: [Fault; 2] = [Fault::LiesAhead(5), Fault::HidesLogs];
const FAILURES: [Fault; 4] = [Fault::Status(503), Fault::Garbage, Fault::Silence, Fault::NoBatches];

#[derive(Clone)]
pub struct DepositChain {
    chain: ScriptedChain,
    second: ScriptedChain,
    /// What the next block will have.
    waiting: Rc<RefCell<Vec<ScriptedLog>>>,
    trace: Trace,
}

impl DepositChain {
    pub async fn start(trace: Trace) -> Self {
        let chain = ScriptedChain::with_id(CHAIN_ID).await;
        chain.follow_clock(machine::now_s);
        let token = ScriptedChain::address_of(TOKEN);
        chain.set_token(token, 0);
        chain.mock_call(token, "decimals() returns (uint256)", &[json!(DECIMALS)]);
        chain.mine_empty(10);
        let second = chain.another_server().await;
        Self { chain, second, waiting: Rc::default(), trace }
    }

    pub fn urls(&self) -> Vec<String> {
        vec![self.chain.url(), self.second.url()]
    }

    pub fn id(&self) -> u64 {
        self.chain.id()
    }

    /// Sends units of the token; returns the hash of the transaction, which is that of its name.
    pub fn send(&self, (from, to): (&str, &str), units: &str, name: &str) -> String {
        let log = ScriptedLog::new(TOKEN, TRANSFER, &[json!(from), json!(to), json!(units)]).in_transaction(name);
        let hash = log.tx.to_string();
        self.waiting.borrow_mut().push(log);
        hash
    }

    /// Goes on for ever: its task is dropped.
    pub async fn run(self, mut dice: Dice) {
        loop {
            tokio::time::sleep(BLOCK).await;
            self.disturb(&mut dice);
            if dice.one_in(8) {
                self.reorganise(&mut dice);
            }
            let block = self.mine();
            self.trace.record("deposits", &format!("block {block}"));
        }
    }

    fn mine(&self) -> u64 {
        self.chain.mine(mem::take(&mut *self.waiting.borrow_mut()))
    }

    /// Replaces the newest blocks by a longer branch. What was in them is sent again, now or never.
    fn reorganise(&self, dice: &mut Dice) {
        let depth = 1 + dice.below(REORG_DEPTH_MAX);
        let removed = self.chain.reorg(depth);
        let (count, is_kept) = (removed.len(), dice.one_in(2));
        if is_kept {
            self.waiting.borrow_mut().extend(removed);
        }
        self.chain.mine_empty(depth);
        self.trace.record("deposits", &format!("reorganised {depth} with {count}, kept {is_kept}"));
    }

    fn disturb(&self, dice: &mut Dice) {
        let lies = dice.one_in(2);
        let (server, faults) = if lies { (&self.chain, &LIES[..]) } else { (&self.second, &FAILURES[..]) };
        if let Some(fault) = disturb_server(server, faults, dice) {
            self.trace.record("deposits", &fault);
        }
    }

    /// No faults any more, and a block.
    pub fn heal(&self) {
        for server in [&self.chain, &self.second] {
            server.set_lag(0);
            server.forget_faults();
        }
        self.mine();
    }

    /// Blocks from that of the transaction on; none while it is in no block.
    pub fn confirmations(&self, hash: &str) -> Option<u64> {
        let logs = self.chain.logs();
        let (block, _) = logs.iter().find(|(_, log)| log.tx.to_string() == hash)?;
        Some(self.chain.head() - block + 1)
    }
}
