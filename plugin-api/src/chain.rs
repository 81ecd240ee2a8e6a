//! Chains, the gateway's keys, and transactions that the gateway sends.
//!
//! A context has the handles: `cx.chain(name)` reads a chain's state, `cx.signer(role)` signs, and a [`TransactionRequest`] is
//! recorded with the rows of a write. The [`Grants`](crate::Grants) name the chains and roles. For the events of contracts see
//! [`crate::contracts`].
//!
//! ```
//! use plugin_api::{Address, HostError, PluginContext, Wei};
//! use plugin_api::chain::{BlockInfo, Chain, ContractCall, IntentStatus, NonceQueueStatus, LogInfo, MAIN, ReceiptInfo, TransactionRequest, TxState};
//! use plugin_api::chain::{SignResult, Signer};
//!
//! /// Pays what a contract owes an account.
//! async fn pay<P>(cx: PluginContext<P>, bank: Address, account: Address) -> Result<i64, HostError> {
//!     let chain: Chain<'_> = cx.chain(MAIN);
//!     let call = ContractCall::new(bank, "owedTo(address) returns (uint256)").arg(account)?;
//!     let owed: Wei = chain.call(call).await?;
//!     cx.write(async move |tx| TransactionRequest::new("payin", "debt-7", account).value(owed).record(tx).await).await
//! }
//!
//! async fn report<P>(cx: PluginContext<P>, intent: i64) -> Result<Option<Vec<LogInfo>>, HostError> {
//!     let Some(IntentStatus { state: TxState::Final, hash: Some(hash), .. }) = cx.intent_status(intent).await? else {
//!         let NonceQueueStatus { queued, .. } = cx.nonce_queue("payin", MAIN).await?;
//!         cx.info(&format!("{queued} transactions wait"));
//!         return Ok(None);
//!     };
//!     let BlockInfo { number, .. } = cx.chain(MAIN).finalized().await?;
//!     let key: Signer<'_> = cx.signer("gateway");
//!     let SignResult { signature, .. } = key.sign_text(&format!("paid before {number}")).await?;
//!     cx.info(&signature);
//!     let receipt: Option<ReceiptInfo> = cx.chain(MAIN).receipt(hash).await?;
//!     Ok(receipt.map(|receipt| receipt.logs))
//! }
//! ```
//!
//! Blocks, transactions and events of any chain of the configuration that the grants name:
//!
//! ```
//! use plugin_api::{Address, HostError, PluginContext, Wei};
//! use plugin_api::chain::{BlockTransactions, EventFilter, TransactionInfo};
//!
//! /// What came to these addresses in a block, in coins and in a token.
//! async fn incoming<P>(cx: PluginContext<P>, token: Address, ours: &[Address], block: u64) -> Result<(Vec<Wei>, usize), HostError> {
//!     let chain = cx.chain("base").quorum();
//!     let Some(BlockTransactions { transactions, .. }) = chain.transactions(block).await? else { return Ok((Vec::new(), 0)) };
//!     let is_ours = |sent: &&TransactionInfo| sent.to.is_some_and(|to| ours.contains(&to));
//!     let coins = transactions.iter().filter(is_ours).map(|sent| sent.value).collect();
//!     let transfers = EventFilter::new(token, "Transfer(address indexed from, address indexed to, uint256 value)");
//!     let tokens = chain.logs::<serde_json::Value>(transfers.any_of("to", ours)?, block, block).await?;
//!     Ok((coins, tokens.len()))
//! }
//! ```
//!
//! How far the rows are that the plugin derives from events, for what must not rely on old ones:
//!
//! ```
//! use plugin_api::{HostError, PluginContext, chain::{IndexPosition, MAIN}};
//!
//! /// The last block that rows of deposits may be of, unless they are too old.
//! async fn deposits_until<P>(cx: PluginContext<P>) -> Result<Option<u64>, HostError> {
//!     let position: Option<IndexPosition> = cx.chain(MAIN).indexed().await?;
//!     Ok(position.filter(|position| position.lag_blocks() <= 3).map(|position| position.confirmed_block()))
//! }
//! ```
//!
//! What a transaction would do, before anything is spent; and its hash, which a request can wait for:
//!
//! ```
//! use plugin_api::{Address, HostError, PluginContext, Wei};
//! use plugin_api::chain::{GasEstimate, MAIN, TransactionRequest};
//! use std::time::Duration;
//!
//! async fn give<P>(cx: PluginContext<P>, from: Address, to: Address) -> Result<Option<String>, HostError> {
//!     let gift = TransactionRequest::new("relayer", format!("gift-{to}"), to).value(Wei::from(1_000_u64)).gas(60_000);
//!     if let GasEstimate::Fails(reason) = cx.chain(MAIN).estimate(from, &gift).await? {
//!         cx.info(&format!("{to} cannot be given anything: {reason}"));
//!         return Ok(None);
//!     }
//!     let sent_before = cx.chain(MAIN).transaction_count(to).await?;
//!     cx.debug(&format!("{to} has sent {sent_before} transactions"));
//!     let intent = gift.send(&cx).await?;
//!     let signed = cx.wait_until_signed(intent, Duration::from_secs(5)).await?;
//!     Ok(signed.and_then(|status| status.hash).map(|hash| hash.to_string()))
//! }
//! ```
//!
//! A call that somebody else wrote, passed on to the chain's servers apart from the gateway's own requests:
//!
//! ```
//! use plugin_api::{HostError, PluginContext};
//! use plugin_api::chain::{MAIN, RawAnswer, RawCall, RawCallError};
//! use std::time::Duration;
//!
//! async fn gas_price<P>(cx: PluginContext<P>) -> Result<String, HostError> {
//!     let call = RawCall::new("eth_gasPrice", "[]").timeout(Duration::from_secs(2)).result_bytes_max(1024);
//!     let RawAnswer { result, final_block } = cx.chain(MAIN).raw_call(call).await?;
//!     cx.debug(&format!("final up to block {final_block:?}"));
//!     Ok(match result {
//!         Ok(json) => String::from_utf8_lossy(&json).into_owned(),
//!         Err(RawCallError::Response { message, .. }) => message,
//!         Err(failure) => format!("{failure:?}"),
//!     })
//! }
//! ```
//!
//! Many accounts of one seed, whose transactions the plugin stores, sends and follows itself. Only the role `loadtest` has one:
//!
//! ```
//! use plugin_api::{Address, HostError, PluginContext, Wei};
//! use plugin_api::chain::{SignedTransaction, WalletTransaction, Wallets};
//!
//! async fn transfer<P>(cx: PluginContext<P>, to: Address, nonce: u64) -> Result<Option<String>, HostError> {
//!     let wallets: Wallets<'_> = cx.wallets("loadtest");
//!     if wallets.xpub().await?.is_none() || wallets.waiting().await? > 0 {
//!         return Ok(None);
//!     }
//!     let (value, gas_price) = (Wei::from(1_u64), Wei::from(2_000_000_000_u64));
//!     let transfer = WalletTransaction { wallet: 7, nonce, to, value, data: "0x".to_owned(), gas: 21_000, gas_price };
//!     let signed: Vec<SignedTransaction> = wallets.sign(vec![transfer]).await?;
//!     Ok(signed.into_iter().next().map(|signed| signed.raw))
//! }
//! ```

pub use crate::manifest::{
    BlockInfo, BlockTransactions, EventFilter, GasEstimate, IndexPosition, IntentStatus, LogInfo, MAIN,
    NonceQueueStatus, RawCallError, ReceiptInfo, SignResult, SignedTransaction, TransactionInfo, TxState,
    WalletTransaction,
};
pub use crate::sdk::{Chain, ContractCall, IntentEnd, RawAnswer, RawCall, Signer, TransactionRequest, Wallets};
