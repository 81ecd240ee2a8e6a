//! A chain that a test writes block by block, behind a JSON-RPC server on this machine.
//!
//! It behaves as servers do, also where that is unkind: questions for events are answered with fewer events and no error
//! when the blocks are not there.

mod accounts;
mod answers;
mod blocks;
mod server;

pub use accounts::ScriptedTx;
pub use blocks::ScriptedLog;
pub use server::Fault;

use blocks::{Block, Blocks};
use plugin_api::Address;
use serde_json::Value;
use server::{Door, Refused};
use std::sync::{Arc, Mutex, MutexGuard};

/// Lives as long as the test; clones are the same chain.
#[derive(Clone)]
pub struct ScriptedChain {
    blocks: Arc<Mutex<Blocks>>,
    door: Arc<Door>,
}

impl ScriptedChain {
    /// A chain with its first block, number 0.
    pub async fn start() -> Self {
        Self::with_id(3961).await
    }

    pub async fn with_id(chain_id: u64) -> Self {
        let blocks = Arc::new(Mutex::new(Blocks::new(chain_id)));
        Self { door: Arc::new(Door::open(blocks.clone()).await), blocks }
    }

    /// The same chain through another server, with a place in time and faults of its own.
    pub async fn another_door(&self) -> Self {
        Self { blocks: self.blocks.clone(), door: Arc::new(Door::open(self.blocks.clone()).await) }
    }

    pub fn url(&self) -> String {
        self.door.url()
    }

    /// Where the contract of this key is; the same on every chain.
    pub fn address_of(contract: &str) -> Address {
        blocks::address_of(contract)
    }

    /// Adds a block with these events; answers its number.
    pub fn mine(&self, logs: Vec<ScriptedLog>) -> u64 {
        self.lock().mine(logs)
    }

    /// Adds blocks without events; answers the number of the last.
    pub fn mine_empty(&self, count: u64) -> u64 {
        let mut blocks = self.lock();
        (0..count).for_each(|_| {
            blocks.mine(Vec::new());
        });
        blocks.head().number
    }

    /// Takes the newest blocks away. What is mined then has other names. Answers the events that were in them.
    pub fn take_back(&self, depth: u64) -> Vec<ScriptedLog> {
        self.lock().take_back(depth)
    }

    pub fn head(&self) -> u64 {
        self.lock().head().number
    }

    /// Name of the newest block.
    pub fn head_name(&self) -> Option<[u8; 32]> {
        Some(self.lock().head().hash.0)
    }

    /// All events in their order, with the number of their block.
    pub fn logs(&self) -> Vec<(u64, ScriptedLog)> {
        let blocks = self.lock();
        let of_block = |block: &Block| block.logs.iter().map(|log| (block.number, log.clone())).collect::<Vec<_>>();
        blocks.all().iter().flat_map(of_block).collect()
    }

    /// What a call of this function at this contract gives from now on, whatever its arguments.
    pub fn answer_call(&self, to: Address, function: &str, results: &[Value]) {
        let (selector, output) = answers::prepared(function, results);
        self.lock().calls.insert((to, selector), output);
    }

    pub fn set_balance(&self, address: Address, wei: &str) {
        self.lock().balances.insert(address, wei.to_owned());
    }

    /// What nodes answer to `clique_status`.
    pub fn tell_clique_status(&self, status: Value) {
        self.lock().clique_status = status;
    }

    /// Transactions that were mined, in their order.
    pub fn mined(&self) -> Vec<ScriptedTx> {
        self.lock().all().iter().flat_map(|block| block.txs.clone()).collect()
    }

    /// Transactions that wait to be mined.
    pub fn waiting(&self) -> Vec<ScriptedTx> {
        self.lock().pool.waiting().to_vec()
    }

    /// Puts a transaction into the pool, as if it had come another way.
    pub fn push_waiting(&self, tx: ScriptedTx) {
        self.lock().pool.put_back(vec![tx]);
    }

    /// While held, blocks come without transactions.
    pub fn hold(&self, is_held: bool) {
        self.want_tip_in_blocks(if is_held { u128::MAX } else { 0 });
    }

    /// Loses what waits, and from now on what comes, though it says that it took it.
    pub fn lose(&self, is_lossy: bool) {
        let mut blocks = self.lock();
        blocks.pool.is_lossy = is_lossy;
        blocks.pool.forget();
    }

    /// Takes nothing that tips less, in wei.
    pub fn want_tip(&self, wei: u128) {
        self.lock().pool.tip_min = Some(wei);
    }

    /// Takes what tips less, in wei, and leaves it and what comes after it out of blocks.
    pub fn want_tip_in_blocks(&self, wei: u128) {
        self.lock().pool.block_tip_min = wei;
    }

    /// Calls of this contract revert, and estimates say so.
    pub fn refuse_calls(&self, to: Address, refuses: bool) {
        let mut blocks = self.lock();
        if refuses {
            blocks.pool.refusing.insert(to)
        } else {
            blocks.pool.refusing.remove(&to)
        };
    }

    /// This door does not take these transactions and says so in these words, until told otherwise.
    pub fn refuse_transactions(&self, words: &str, which: impl Fn(&ScriptedTx) -> bool + Send + Sync + 'static) {
        self.door.refuse_transactions(Some(Refused { words: words.to_owned(), which: Arc::new(which) }));
    }

    /// This door takes every transaction again.
    pub fn refuse_no_transactions(&self) {
        self.door.refuse_transactions(None);
    }

    /// Calls of this contract revert in their block, which no estimate foresees.
    pub fn fail_calls(&self, to: Address) {
        self.lock().pool.failing.insert(to);
    }

    /// Receipts are told or not.
    pub fn hide_receipts(&self, are_hidden: bool) {
        self.lock().pool.are_receipts_hidden = are_hidden;
    }

    /// Somebody else sends with the key of this account, with its next nonce or a later one.
    pub fn send_elsewhere(&self, from: Address, nonce: u64) {
        self.lock().pool.put_back(vec![ScriptedTx::foreign(from, nonce)]);
    }

    /// The next `times` requests at this door go wrong.
    pub fn fail_next(&self, times: usize, fault: Fault) {
        self.door.fail_next(times, fault);
    }

    /// Every request at this door but the next `count` goes wrong until told otherwise.
    pub fn fail_after(&self, count: u64, fault: Fault) {
        self.door.fail_after(count, fault);
    }

    /// Every request at this door goes wrong until told otherwise.
    pub fn fail_always(&self, fault: Option<Fault>) {
        self.door.fail_always(fault);
    }

    /// This door knows the blocks up to so many behind the head.
    pub fn set_lag(&self, blocks: u64) {
        self.door.set_lag(blocks);
    }

    /// Requests that came through this door.
    pub fn requests(&self) -> u64 {
        self.door.requests()
    }

    /// Questions for events that came through this door in a request of their own, without the block that proves that
    /// the server knows these events.
    pub fn lonely_logs(&self) -> u64 {
        self.door.lonely_logs()
    }

    fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
