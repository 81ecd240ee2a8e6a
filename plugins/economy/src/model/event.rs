//! Events of the activity log that say more than the arguments of a contract's event; the others are in `contracts`.

use super::contracts::CaseOpened;
use plugin_api::{Address, AgentId, Event, Wei};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("stream.cancelled", subject = "stream", id = stream_id, actor = by)]
pub struct StreamCancellation {
    pub stream_id: i64,
    /// `None` when the stream is not indexed.
    pub payer: Option<Address>,
    pub payee: Option<Address>,
    pub to_payee: Wei,
    pub to_payer: Wei,
    pub fee: Wei,
    #[serde(skip)]
    pub by: Address,
}

#[derive(Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("sub.created", subject = "sub", id = sub_id, actor = payer)]
pub struct SubscriptionEvent {
    pub sub_id: i64,
    pub plan_id: i64,
    pub payer: Address,
    /// `None` when the plan is not indexed.
    pub payee: Option<Address>,
    pub periods: u32,
    pub paid_through: i64,
}

#[derive(Serialize, Event)]
#[event("case.opened", subject = "case", id = case.case_id, actor = case.opener)]
pub struct CaseEvent<'a> {
    #[serde(flatten)]
    pub case: &'a CaseOpened,
    #[serde(flatten)]
    pub job: JobParties,
}

/// Agent and client of a job; `None` where they are not indexed.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobParties {
    pub agent_id: Option<AgentId>,
    pub agent_name: Option<String>,
    pub client: Option<Address>,
}

#[derive(Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("token.launched", subject = "token", id = token, actor = owner)]
pub struct LaunchEvent<'a> {
    pub token: Address,
    pub agent_id: AgentId,
    pub agent_name: Option<String>,
    pub symbol: &'a str,
    /// Of the agent.
    #[serde(skip)]
    pub owner: Option<Address>,
}

#[derive(Serialize, Event)]
#[event("account.created", subject = "account", id = account, actor = owner)]
pub struct AccountEvent {
    pub owner: Address,
    pub account: Address,
}
