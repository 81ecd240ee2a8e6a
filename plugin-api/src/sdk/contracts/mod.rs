//! Events of the network's contracts that several plugins read, defined once: one module per contract.
//!
//! A plugin defines events that only it reads, with the same derive: see [`ContractEvent`].

pub mod account_factory;
mod agent_name;
pub mod escrow;
pub mod registry;
pub mod x402_vault;

pub use escrow::JobId;
pub use registry::AgentId;

use serde::de::DeserializeOwned;

/// The arguments of a contract's event, by name. Derive it.
///
/// `#[contract_event(contract, signature)]` takes the contract's key in `[chains.main.contracts]` and the event as in
/// Solidity, each argument with its name. Members are arguments; a struct may leave out those that the plugin does not need.
/// The derive refuses a member that the event does not have. For the types see [`crate::contracts::ChainEvent::args`].
///
/// ```
/// use plugin_api::{Address, Definition, HostError, Plugin, PluginContext, Tx, Wei, sql, contracts::{ChainEvent, ContractEvent}};
/// use serde::Deserialize;
///
/// #[derive(Deserialize, ContractEvent)]
/// #[serde(rename_all = "camelCase")]
/// #[contract_event("token", "Transfer(address indexed from, address indexed to, uint256 amount)")]
/// struct Transfer {
///     to: Address,
///     amount: Wei,
/// }
///
/// /// The handler's parameter says which event it is for.
/// fn subscribe<P: Plugin>(definition: Definition<P>) -> Definition<P> {
///     definition.on_contract_event(&["notes_transfers"], transferred)
/// }
///
/// async fn transferred<P: Plugin>(_: PluginContext<P>, tx: Tx, event: ChainEvent<Transfer>) -> Result<(), HostError> {
///     let Transfer { to, amount } = event.args;
///     tx.defer(sql("INSERT INTO notes_transfers (recipient, amount) VALUES ($1, $2)").bind(to).bind(amount))
/// }
/// ```
///
/// ```compile_fail
/// # use plugin_api::{Address, contracts::ContractEvent};
/// #[derive(serde::Deserialize, ContractEvent)]
/// #[contract_event("token", "Transfer(address indexed from, address indexed to, uint256 amount)")]
/// struct Transfer {
///     recipient: Address, // the event has no argument `recipient`, it has from, to, amount
/// }
/// ```
pub trait ContractEvent: DeserializeOwned + Send + 'static {
    /// The contract's key in the gateway's configuration, for example `escrow`.
    const CONTRACT: &'static str;

    /// The event as in Solidity, for example `JobDisputed(uint256 indexed jobId)`.
    const SIGNATURE: &'static str;
}
