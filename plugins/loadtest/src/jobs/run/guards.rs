//! What the runner looks at before it does anything. The rule: what cannot be read is a reason to wait, except the servers' pools, which not
//! all servers tell of.

use super::passing_error::is_passing;
use crate::{
    Loadtest,
    model::{FLOAT, ROLE},
    store::{
        blocks,
        runner::{Mode, Runner},
        transactions, wallets,
    },
};
use alloy_primitives::U256;
use plugin_api::{
    HostError, HostErrorCode, PluginContext, Wei,
    chain::{MAIN, RawCall},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// Blocks that the follower may be behind.
const LAG_MAX: i64 = 3;
/// Transactions in no block, of which more are not signed for now.
const PENDING_MAX: i64 = 2000;
/// In place of a block's number.
const NOTHING: i64 = -1;
const TIMEOUT: Duration = Duration::from_secs(5);

pub struct Situation {
    pub view: GuardsRow,
    /// The last block that was followed, or [`NOTHING`].
    pub followed: i64,
    /// After that block.
    pub float_balance: Option<Wei>,
    /// What a transaction may pay per gas now.
    pub gas_price: Wei,
    /// With less it gets into no block now.
    pub gas_price_min: Wei,
    /// Whether new waves may begin: there is room among what is in no block.
    pub has_room: bool,
}

/// As it is stored, and as `guards` of the counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardsRow {
    pub reasons: Vec<String>,
    pub head: i64,
    pub head_age_s: i64,
    pub pool: Option<i64>,
    /// Unix seconds.
    pub at: i64,
}

impl Situation {
    pub fn reason(&self) -> Option<String> {
        (!self.view.reasons.is_empty()).then(|| self.view.reasons.join("; "))
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.view).unwrap_or_default()
    }
}

pub async fn look(cx: &PluginContext<Loadtest>, runner: &Runner) -> Result<Situation, HostError> {
    let config = &cx.plugin().config;
    let mut situation = Situation {
        view: GuardsRow { at: cx.now_s(), ..GuardsRow::default() },
        followed: blocks::last(&cx.db()).await?.map_or(NOTHING, |block| block.number),
        float_balance: None,
        gas_price: Wei::ZERO,
        gas_price_min: Wei::ZERO,
        has_room: transactions::pending(&cx.db()).await? < PENDING_MAX,
    };
    if runner.mode == Mode::Paused {
        situation.view.reasons.push("an operator paused it".to_owned());
        return Ok(situation);
    }
    let reasons = match read(cx, &mut situation).await {
        Err(error) if is_passing(&error) => vec![format!("the chain cannot be read: {}", error.message)],
        other => other?,
    };
    situation.view.reasons.extend(reasons);
    if situation.followed == NOTHING {
        // What is sent before would never be seen.
        situation.view.reasons.push("no block is followed yet".to_owned());
    }
    let first = match cx.wallets(ROLE).waiting().await {
        Ok(0) => None,
        Ok(waiting) => Some(format!("{waiting} transactions of the gateway wait, and go first")),
        Err(error) if is_passing(&error) => Some(error.message.to_string()),
        Err(error) => return Err(error),
    };
    situation.view.reasons.extend(
        [
            (situation.view.head_age_s > config.head_age_max_s)
                .then(|| format!("the newest block is {} s old", situation.view.head_age_s)),
            (situation.view.head - situation.followed > LAG_MAX).then(|| {
                format!("the chain is followed up to block {} of {}", situation.followed, situation.view.head)
            }),
            situation
                .view
                .pool
                .filter(|pool| *pool > config.pool_max)
                .map(|pool| format!("{pool} transactions wait in the pool")),
            first,
            (situation.gas_price > config.gas_price_max_wei)
                .then(|| format!("a price of {} wei per gas is above gas_price_max_wei", situation.gas_price)),
        ]
        .into_iter()
        .flatten(),
    );
    Ok(situation)
}

/// Reads the chain; returns what is wrong with the configuration.
async fn read(cx: &PluginContext<Loadtest>, situation: &mut Situation) -> Result<Vec<String>, HostError> {
    let chain = cx.chain(MAIN);
    let head = chain.head().await?;
    situation.view.head = i64::try_from(head.number).unwrap_or(i64::MAX);
    situation.view.head_age_s = (cx.now_s() - head.time_s).max(0);
    situation.view.pool = pool(cx).await;
    let base_fee = base_fee(cx).await?;
    situation.gas_price_min = base_fee.saturating_add(cx.plugin().config.tip_wei);
    situation.gas_price = base_fee.saturating_add(situation.gas_price_min);
    let block = u64::try_from(situation.followed).ok();
    if let Some(float) = wallets::address(&cx.db(), FLOAT).await? {
        situation.float_balance = Some(chain.balance(float, block).await?);
    }
    membership(cx).await
}

/// Coins of wallets that the seed does not have could never be moved again.
async fn membership(cx: &PluginContext<Loadtest>) -> Result<Vec<String>, HostError> {
    let Some(stored) = wallets::branch(&cx.db()).await? else {
        return Ok(vec!["no wallet is derived yet".to_owned()]);
    };
    let configured = cx.plugin().branch.as_ref().map(|branch| branch.text());
    let seed = cx.wallets(ROLE).xpub().await?;
    let reason = if configured.is_some_and(|xpub| xpub != stored.xpub) {
        Some(
            "xpub is not that of the stored wallets, which may have coins: configure theirs, and the seed of it"
                .to_owned(),
        )
    } else if let Some(problem) = stored.problem {
        Some(format!("the stored wallets cannot be believed: {problem}"))
    } else {
        match seed {
            None => Some("the role loadtest has no seed".to_owned()),
            Some(seed) if seed != stored.xpub => Some("the seed of the role loadtest is not that of xpub".to_owned()),
            Some(_) => None,
        }
    };
    Ok(reason.into_iter().collect())
}

async fn base_fee(cx: &PluginContext<Loadtest>) -> Result<Wei, HostError> {
    let call = RawCall::new("eth_getBlockByNumber", r#"["latest", false]"#).timeout(TIMEOUT);
    let answer = cx.chain(MAIN).raw_call(call).await?;
    let unavailable = || HostError::new(HostErrorCode::Unavailable, "no server tells the base fee");
    let block: Value =
        answer.result.ok().and_then(|json| serde_json::from_slice(&json).ok()).ok_or_else(unavailable)?;
    let fee = block.get("baseFeePerGas").and_then(Value::as_str).and_then(|fee| fee.parse::<U256>().ok());
    fee.map(Wei).ok_or_else(unavailable)
}

/// Transactions that wait in a server's pool; `None` where it does not tell.
async fn pool(cx: &PluginContext<Loadtest>) -> Option<i64> {
    let call = RawCall::new("txpool_status", "[]").timeout(TIMEOUT).result_bytes_max(4096);
    let status: Value = serde_json::from_slice(&cx.chain(MAIN).raw_call(call).await.ok()?.result.ok()?).ok()?;
    i64::from_str_radix(status.get("pending")?.as_str()?.strip_prefix("0x")?, 16).ok()
}
