//! Chains, the gateway's keys, and transactions that the gateway sends.
//!
//! A context has the handles: `cx.chain(name)` reads a chain's state, `cx.signer(role)` signs, and a [`TransactionRequest`] is
//! recorded with the rows of a write. The [`Grants`](crate::Grants) name the chains and roles. For the events of contracts see
//! [`crate::contracts`].
//!
//! ```
//! use plugin_api::{Address, HostError, PluginContext, Wei};
//! use plugin_api::chain::{BlockInfo, Chain, ContractCall, IntentStatus, Lane, LogInfo, MAIN, ReceiptInfo, TransactionRequest, TxState};
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
//!         let Lane { queued, .. } = cx.nonce_queue("payin", MAIN).await?;
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

pub use crate::manifest::{BlockInfo, IntentStatus, Lane, LogInfo, ReceiptInfo, SignResult, TxState};
pub use crate::sdk::{Chain, ContractCall, MAIN, Signer, TransactionRequest};
