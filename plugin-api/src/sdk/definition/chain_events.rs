//! Handlers of chain events, which derive rows.

use super::{ChainEventFuture, Definition};
use crate::{
    abi::{EventSource, HostError, SubscribedEvent},
    manifest::{ChainEvent, SubscriptionSpec},
    sdk::{ContractEvent, Plugin, PluginContext, Sql, Tx, contracts::registry, write_scope},
};
use serde::de::DeserializeOwned;
use std::future::{Future, ready};

impl<P: Plugin> Definition<P> {
    /// Derives rows from chain events, inside the index's transaction. `Args` are the arguments, by name.
    ///
    /// The gateway calls the handlers of a plugin in chain order, once per event. A handler writes `derived_tables` only,
    /// and only handlers write these, so that the gateway can undo the rows of blocks that a reorganisation removes. Their
    /// rows have a primary key that follows from the events (no `{{id}}`) and no foreign keys. Events that a handler
    /// publishes become public when its block is `confirmations` deep. The gateway retries a handler that fails, and the
    /// index waits for it. It may run again, so it reaches nothing but its `Tx`, like the closure of a [write](crate::HostHandle::write). Many events share one call of the gateway; [`crate::Tx::defer`] lets them share the calls of the
    /// database, too.
    pub fn on_chain_event<Args, F, Fut>(
        self,
        contract: &'static str,
        event: &str,
        derived_tables: &[&str],
        handle: F,
    ) -> Self
    where
        Args: DeserializeOwned + Send + 'static,
        F: Fn(PluginContext<P>, Tx, ChainEvent<Args>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        self.on_subscription(SubscriptionSpec::new(contract, event).deriving(derived_tables), handle)
    }

    /// The same for events of another chain than the main one, or with certain values of indexed arguments only. Each chain has
    /// an index of its own: handlers of different chains run at the same time, and a derived table belongs to one chain.
    ///
    /// ```
    /// # use plugin_api::{Definition, Plugin, PluginContext, Tx, abi::HostError, manifest::{ChainEvent, SubscriptionSpec}};
    /// #[derive(serde::Deserialize)]
    /// struct Transfer {
    ///     from: plugin_api::Address,
    ///     value: String,
    /// }
    ///
    /// fn with_transfers<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     let received = SubscriptionSpec::new("usdc", "Transfer(address indexed from, address indexed to, uint256 value)")
    ///         .on_chain("base")
    ///         .any_contract_of("to", &["treasury"])
    ///         .deriving(&["shop_transfers"]);
    ///     definition.on_subscription(received, store_transfer)
    /// }
    ///
    /// async fn store_transfer<P>(_: PluginContext<P>, tx: Tx, event: ChainEvent<Transfer>) -> Result<(), HostError> {
    ///     # let _ = (tx, event.args.from, event.args.value);
    ///     Ok(())
    /// }
    /// ```
    pub fn on_subscription<Args, F, Fut>(mut self, subscription: SubscriptionSpec, handle: F) -> Self
    where
        Args: DeserializeOwned + Send + 'static,
        F: Fn(PluginContext<P>, Tx, ChainEvent<Args>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        let handler = move |cx: &PluginContext<P>, tx: Tx, source: &EventSource, event: &SubscribedEvent| {
            let future: ChainEventFuture = match ChainEvent::decode(source, event) {
                Ok(event) => Box::pin(write_scope::in_write(handle(cx.clone(), tx, event))),
                Err(error) => Box::pin(ready(Err(error))),
            };
            future
        };
        self.subscriptions.push((subscription, Box::new(handler)));
        self
    }

    /// Derives rows from a contract's event by the rules of [`Self::on_chain_event`]. The handler's parameter says which event:
    /// see [`ContractEvent`].
    pub fn on_contract_event<E, F, Fut>(self, derived_tables: &[&str], handle: F) -> Self
    where
        E: ContractEvent,
        F: Fn(PluginContext<P>, Tx, ChainEvent<E>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        self.on_chain_event(E::CONTRACT, E::SIGNATURE, derived_tables, handle)
    }

    /// The same for an event that is one statement, which waits for no other: see [`crate::Tx::defer`].
    ///
    /// ```
    /// use plugin_api::{Definition, Plugin, Sql, contracts::{ChainEvent, registry::OwnershipTransferred}, sql};
    ///
    /// fn set_owner(event: &ChainEvent<OwnershipTransferred>) -> Sql {
    ///     sql("UPDATE notes_agents SET owner = $2 WHERE id = $1").bind((event.args.id, event.args.to))
    /// }
    ///
    /// fn subscribe<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.derive_row("notes_agents", set_owner)
    /// }
    /// ```
    pub fn derive_row<E: ContractEvent>(
        self,
        table: &str,
        statement: impl Fn(&ChainEvent<E>) -> Sql + Send + Sync + 'static,
    ) -> Self {
        self.on_contract_event(&[table], move |_, tx, event| ready(tx.defer(statement(&event))))
    }

    /// Derives which agents there are, and who owns them when an event comes: rows of a table with the columns `id`, `owner` and `name`.
    /// The views of other plugins do not say it, because each plugin's index is as far as it is.
    pub fn derive_agents(self, table: &'static str) -> Self {
        self.derive_row(table, move |event| registry::insert_agent(table, event))
            .derive_row(table, move |event| registry::set_owner(table, event))
    }

    /// Raise it when the handlers of chain events derive other rows than before: the gateway then empties the derived
    /// tables and indexes the chain again. A migration that names a derived table has the same effect.
    pub fn index_version(mut self, version: u32) -> Self {
        self.manifest.index_version = version;
        self
    }
}
