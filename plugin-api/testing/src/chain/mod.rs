//! A simulated chain that a test mines block by block, behind a JSON-RPC server on this machine.
//!
//! It also behaves like real servers where that is inconvenient: `eth_getLogs` returns fewer events, without an error, when
//! the server does not have the blocks.

mod accounts;
mod block;
mod blocks;
mod contracts;
mod log;
mod mempool;
mod rpc;
mod server;

pub use contracts::ScriptedContract;
pub use log::ScriptedLog;
pub use mempool::ScriptedTx;
pub use server::{Fault, ScriptedCall};

use alloy_primitives::U256;
use block::Block;
use blocks::Blocks;
use plugin_api::Address;
use serde_json::Value;
use server::{RpcServer, TransactionRefusal};
use std::sync::{Arc, Mutex, MutexGuard};

/// A simulated chain. Clones share the chain and the server.
#[derive(Clone)]
pub struct ScriptedChain {
    blocks: Arc<Mutex<Blocks>>,
    server: Arc<RpcServer>,
}

impl ScriptedChain {
    /// A chain with its first block, number 0.
    pub async fn start() -> Self {
        Self::with_id(3961).await
    }

    pub async fn with_id(chain_id: u64) -> Self {
        let blocks = Arc::new(Mutex::new(Blocks::new(chain_id)));
        Self { server: Arc::new(RpcServer::start(blocks.clone()).await), blocks }
    }

    /// The same chain behind another server, which has its own lag and faults.
    pub async fn another_server(&self) -> Self {
        Self { blocks: self.blocks.clone(), server: Arc::new(RpcServer::start(self.blocks.clone()).await) }
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    pub fn id(&self) -> u64 {
        self.lock().chain_id
    }

    /// The address of the contract with this key; the same on every chain.
    pub fn address_of(contract: &str) -> Address {
        log::address_of(contract)
    }

    /// Mines a block with these events; returns its number.
    pub fn mine(&self, logs: Vec<ScriptedLog>) -> u64 {
        self.lock().mine(logs)
    }

    /// Mines blocks without events; returns the number of the last one.
    pub fn mine_empty(&self, count: u64) -> u64 {
        let mut blocks = self.lock();
        (0..count).for_each(|_| {
            blocks.mine(Vec::new());
        });
        blocks.head().number
    }

    /// Removes the newest blocks; blocks that are mined afterwards have other hashes. Returns the removed events.
    pub fn reorg(&self, depth: u64) -> Vec<ScriptedLog> {
        self.lock().reorg(depth)
    }

    /// From now on removed blocks are found by their hashes, as on servers that keep other branches.
    pub fn keep_removed(&self) {
        self.lock().keeps_removed = true;
    }

    pub fn head(&self) -> u64 {
        self.lock().head().number
    }

    /// Hash of the newest block.
    pub fn head_hash(&self) -> Option<[u8; 32]> {
        Some(self.lock().head().hash.0)
    }

    /// All events in chain order, with the number of their block.
    pub fn logs(&self) -> Vec<(u64, ScriptedLog)> {
        let blocks = self.lock();
        let of_block = |block: &Block| block.logs.iter().map(|log| (block.number, log.clone())).collect::<Vec<_>>();
        blocks.all().iter().flat_map(of_block).collect()
    }

    /// Sets the results of this function of this contract, for any arguments.
    pub fn mock_call(&self, to: Address, function: &str, results: &[Value]) {
        let (selector, output) = rpc::encode_call(function, results);
        self.lock().calls.insert((to, selector), output);
    }

    /// From now on transactions to this address do what this contract does, and calls of it are answered by it.
    pub fn deploy(&self, address: Address, contract: impl ScriptedContract + 'static) {
        self.lock().contracts.insert(address, Arc::new(contract));
    }

    pub fn set_balance(&self, address: Address, wei: &str) {
        self.lock().balances.insert(address, wei.to_owned());
    }

    /// From now on transactions change balances, those of [`Self::set_balance`] being the first, and one that its sender cannot pay is
    /// not mined.
    pub fn keep_accounts(&self) {
        self.lock().has_accounts = true;
    }

    /// A balance after the newest block, in wei.
    pub fn balance(&self, address: Address) -> plugin_api::Wei {
        let blocks = self.lock();
        plugin_api::Wei(blocks.accounts(blocks.all()).balance(address))
    }

    /// From now on blocks have the times of this clock, in unix seconds.
    pub fn follow_clock(&self, now_s: fn() -> i64) {
        self.lock().clock = Some(now_s);
    }

    /// Sets the balance that an address has after this block and later ones.
    pub fn set_balance_from(&self, block: u64, address: Address, wei: &str) {
        self.lock().later_balances.push((block, address, wei.to_owned()));
    }

    /// Mines a block whose transactions used so much gas at this base fee; returns its number.
    pub fn mine_fees(&self, gas_used: u64, base_fee_wei: u128) -> u64 {
        let mut blocks = self.lock();
        let number = blocks.mine(Vec::new());
        blocks.set_fees(gas_used, base_fee_wei);
        number
    }

    /// From now on `balanceOf` of this contract follows its `Transfer` events, in the state after each block. The token keeps `fee`
    /// units of each transfer, which its events do not say.
    pub fn set_token(&self, token: Address, fee: u64) {
        self.lock().tokens.insert(token, U256::from(fee));
    }

    /// Sets the result of `clique_status`.
    pub fn set_clique_status(&self, status: Value) {
        self.lock().clique_status = status;
    }

    /// Mined transactions, in chain order.
    pub fn mined(&self) -> Vec<ScriptedTx> {
        self.lock().all().iter().flat_map(|block| block.txs.clone()).collect()
    }

    /// Pending transactions.
    pub fn waiting(&self) -> Vec<ScriptedTx> {
        self.lock().mempool.pending().to_vec()
    }

    /// Adds a transaction to the mempool without checks.
    pub fn push_pending(&self, tx: ScriptedTx) {
        self.lock().mempool.push(vec![tx]);
    }

    /// While held, blocks contain no transactions.
    pub fn hold(&self, is_held: bool) {
        self.set_block_tip_min(if is_held { u128::MAX } else { 0 });
    }

    /// Drops the pending transactions and, while lossy, every accepted one.
    pub fn lose(&self, is_lossy: bool) {
        let mut blocks = self.lock();
        blocks.mempool.is_lossy = is_lossy;
        blocks.mempool.clear();
    }

    /// Refuses transactions with a lower tip, in wei.
    pub fn set_tip_min(&self, wei: u128) {
        self.lock().mempool.tip_min = Some(wei);
    }

    /// Accepts transactions with a lower tip, in wei, but mines neither them nor later ones of their sender.
    pub fn set_block_tip_min(&self, wei: u128) {
        self.lock().mempool.block_tip_min = wei;
    }

    /// Calls of this contract revert, also in gas estimates.
    pub fn refuse_calls(&self, to: Address, refuses: bool) {
        let mut blocks = self.lock();
        if refuses {
            blocks.mempool.refusing.insert(to)
        } else {
            blocks.mempool.refusing.remove(&to)
        };
    }

    /// Gas is not estimated: every request gets this error, which is no revert.
    pub fn refuse_estimates(&self, message: Option<&str>) {
        self.lock().mempool.estimate_error = message.map(str::to_owned);
    }

    /// Calls of this contract are estimated to use so much gas.
    pub fn set_estimate(&self, to: Address, gas: u64) {
        self.lock().mempool.estimates.insert(to, gas);
    }

    /// This server refuses matching transactions with this error message, until [`Self::accept_transactions`].
    pub fn refuse_transactions(&self, message: &str, matches: impl Fn(&ScriptedTx) -> bool + Send + Sync + 'static) {
        let refusal = TransactionRefusal { message: message.to_owned(), matches: Arc::new(matches) };
        self.server.refuse_transactions(Some(refusal));
    }

    /// This server accepts every transaction again.
    pub fn accept_transactions(&self) {
        self.server.refuse_transactions(None);
    }

    /// Calls of this contract revert in their block, but not in gas estimates.
    pub fn fail_calls(&self, to: Address) {
        self.lock().mempool.failing.insert(to);
    }

    /// Whether receipts are null.
    pub fn hide_receipts(&self, are_hidden: bool) {
        self.lock().mempool.are_receipts_hidden = are_hidden;
    }

    /// Another program sends a transaction with the key of this account, with its next nonce or a later one.
    pub fn send_foreign(&self, from: Address, nonce: u64) {
        self.lock().mempool.push(vec![ScriptedTx::foreign(from, nonce)]);
    }

    /// The next `times` requests to this server fail.
    pub fn fail_next(&self, times: usize, fault: Fault) {
        self.server.fail_next(times, fault);
    }

    /// After the next `count`, every request to this server fails.
    pub fn fail_after(&self, count: u64, fault: Fault) {
        self.server.fail_after(count, fault);
    }

    /// Every request to this server fails; `None` ends it.
    pub fn fail_always(&self, fault: Option<Fault>) {
        self.server.fail_always(fault);
    }

    /// Acts once, before this server answers the next call of this contract.
    pub fn before_call(&self, to: Address, act: impl FnOnce() + Send + 'static) {
        self.server.before_call(to, Box::new(act));
    }

    /// No request to this server fails any more.
    pub fn forget_faults(&self) {
        self.server.forget_faults();
    }

    /// This server is this many blocks behind the head.
    pub fn set_lag(&self, blocks: u64) {
        self.server.set_lag(blocks);
    }

    /// Number of requests to this server.
    pub fn requests(&self) -> u64 {
        self.server.requests()
    }

    /// The calls to this server, in their order.
    pub fn calls(&self) -> Vec<ScriptedCall> {
        self.server.calls()
    }

    /// Number of `eth_getLogs` calls outside a batch, that is without the block that proves that the server has the
    /// events.
    pub fn unbatched_log_requests(&self) -> u64 {
        self.server.unbatched_log_requests()
    }

    fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
