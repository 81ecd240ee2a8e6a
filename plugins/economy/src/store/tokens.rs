//! The table of tokens.

use super::{Conditions, List, PageRequest};
use crate::model::TokenView;
use plugin_api::{Address, Hash256, HostError, Query, Tx, Wei, sql};
use serde::Deserialize;

pub const TABLE: &str = "economy_tokens";

pub fn insert(
    tx: &Tx,
    token: Address,
    agent_id: i64,
    symbol: &str,
    launched_at: i64,
    tx_launched: Hash256,
) -> Result<(), HostError> {
    let insert =
        sql("INSERT INTO economy_tokens (token, nth, agent_id, symbol, launched_at, buys, sells, fmx_in, fmx_out, \
         distributed, tx_launched) \
         SELECT $1, coalesce(max(nth), 0) + 1, $2, $3, $4, 0, 0, '0', '0', '0', $5 FROM economy_tokens \
         WHERE true ON CONFLICT (token) DO NOTHING")
        .bind(token)
        .bind(agent_id)
        .bind(symbol)
        .bind(launched_at)
        .bind(tx_launched);
    tx.defer(insert)
}

/// Totals of a token's trades.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Trade {
    pub buys: i64,
    pub sells: i64,
    pub fmx_in: Wei,
    pub fmx_out: Wei,
    pub distributed: Wei,
}

/// Changes the totals of a token, if it is indexed.
pub async fn change(tx: &Tx, token: Address, change: impl FnOnce(&mut Trade)) -> Result<(), HostError> {
    let known = sql("SELECT buys, sells, fmx_in, fmx_out, distributed FROM economy_tokens WHERE token = $1");
    let Some(mut trade) = tx.row::<Trade>(known.bind(token)).await? else { return Ok(()) };
    change(&mut trade);
    let update = sql("UPDATE economy_tokens SET buys = $2, sells = $3, fmx_in = $4, fmx_out = $5, distributed = $6 \
         WHERE token = $1")
    .bind(token)
    .bind(trade.buys)
    .bind(trade.sells)
    .bind(trade.fmx_in)
    .bind(trade.fmx_out)
    .bind(trade.distributed);
    tx.defer(update)
}

const LIST: List = List {
    columns: "t.token, t.agent_id AS \"agentId\", t.symbol, t.launched_at AS \"launchedAt\", t.buys, t.sells, \
         t.fmx_in AS \"fmxIn\", t.fmx_out AS \"fmxOut\", t.distributed, t.tx_launched AS \"txLaunched\", \
         a.name AS \"agentName\", a.owner",
    from: "economy_tokens t LEFT JOIN economy_agents a ON a.id = t.agent_id",
    table: "economy_tokens t",
    // Chain order is also the order of the times.
    order: "t.nth DESC",
};

pub async fn list(
    db: &impl Query,
    agent_id: Option<i64>,
    window: PageRequest,
) -> Result<(Vec<TokenView>, i64), HostError> {
    LIST.read(db, &Conditions::default().and_if("t.agent_id = {}", agent_id), window).await
}

pub async fn count(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM economy_tokens")).await
}
