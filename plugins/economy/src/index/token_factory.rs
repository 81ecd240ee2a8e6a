//! Events of AgentTokenFactory: tokens, and their trades.

use super::publish;
use crate::{
    Economy,
    deployment::TOKEN_FACTORY,
    store::{directory, tokens},
};
use plugin_api::{Address, ChainEvent, Definition, HostError, PluginContext, Tx, Wei, chain_int};
use serde::Deserialize;
use serde_json::json;

pub const LAUNCHED_TYPE: &str = "token.launched";

const LAUNCHED: &str = "Launched(uint256 indexed agentId, address indexed token, string symbol)";
/// In this event the fee comes before the amount.
const BOUGHT: &str =
    "Bought(address indexed token, address indexed buyer, uint256 fmxIn, uint256 fee, uint256 amountOut)";
const SOLD: &str = "Sold(address indexed token, address indexed seller, uint256 amountIn, uint256 fmxOut)";
const DISTRIBUTED: &str = "Distributed(address indexed token, address indexed from, uint256 amount)";

pub fn subscribe(definition: Definition<Economy>) -> Definition<Economy> {
    definition
        .on_chain_event(TOKEN_FACTORY, LAUNCHED, &[tokens::TABLE], launched)
        .on_chain_event(TOKEN_FACTORY, BOUGHT, &[tokens::TABLE], bought)
        .on_chain_event(TOKEN_FACTORY, SOLD, &[tokens::TABLE], sold)
        .on_chain_event(TOKEN_FACTORY, DISTRIBUTED, &[tokens::TABLE], distributed)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Launched {
    #[serde(deserialize_with = "chain_int")]
    agent_id: i64,
    token: Address,
    symbol: String,
}

async fn launched(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Launched>) -> Result<(), HostError> {
    let Launched { agent_id, token, symbol } = &event.args;
    tokens::insert(&tx, *token, *agent_id, symbol, event.time_s, event.tx)?;
    let agent = directory::agent(&tx, *agent_id).await?;
    let data = json!({ "token": token, "agentId": agent_id, "agentName": agent.name, "symbol": symbol });
    publish(&tx, &event, LAUNCHED_TYPE, agent.owner, ("token", token.to_string()), data)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bought {
    token: Address,
    fmx_in: Wei,
}

async fn bought(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Bought>) -> Result<(), HostError> {
    let Bought { token, fmx_in } = event.args;
    tokens::change(&tx, token, |trade| {
        trade.buys += 1;
        trade.fmx_in = trade.fmx_in.saturating_add(fmx_in);
    })
    .await
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sold {
    token: Address,
    fmx_out: Wei,
}

async fn sold(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Sold>) -> Result<(), HostError> {
    let Sold { token, fmx_out } = event.args;
    tokens::change(&tx, token, |trade| {
        trade.sells += 1;
        trade.fmx_out = trade.fmx_out.saturating_add(fmx_out);
    })
    .await
}

#[derive(Deserialize)]
struct Distributed {
    token: Address,
    amount: Wei,
}

async fn distributed(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Distributed>) -> Result<(), HostError> {
    let Distributed { token, amount } = event.args;
    tokens::change(&tx, token, |trade| trade.distributed = trade.distributed.saturating_add(amount)).await
}
