//! Events of AgentAccountFactory: accounts.

use super::publish;
use crate::{Economy, deployment::ACCOUNT_FACTORY, store::accounts};
use plugin_api::{Address, ChainEvent, Definition, HostError, PluginContext, Tx};
use serde::Deserialize;
use serde_json::json;

pub const CREATED_TYPE: &str = "account.created";

const CREATED: &str = "AccountCreated(address indexed owner, address indexed account)";

pub fn subscribe(definition: Definition<Economy>) -> Definition<Economy> {
    definition.on_chain_event(ACCOUNT_FACTORY, CREATED, &[accounts::TABLE], created)
}

#[derive(Deserialize)]
struct Created {
    owner: Address,
    account: Address,
}

async fn created(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Created>) -> Result<(), HostError> {
    let Created { owner, account } = event.args;
    accounts::insert(&tx, account, owner, event.time_s, event.tx)?;
    let data = json!({ "owner": owner, "account": account });
    publish(&tx, &event, CREATED_TYPE, Some(owner), ("account", account.to_string()), data)
}
