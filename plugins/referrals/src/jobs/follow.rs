//! Follows the transfers on their way. A referral is paid when both are final; one that failed for good stays so until an operator
//! repeats it, and the other one stands.

use crate::{
    Referrals,
    model::{ReferralPaid, Side},
    store::{
        claims,
        transfers::{self, Payout, Transfer},
    },
};
use plugin_api::{
    AgentId, Event, Hash256, HostError, Job, PluginContext, Tx,
    chain::{IntentStatus, TxState},
};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(10);
const TRANSFERS_MAX: u32 = 500;

pub fn job() -> Job<Referrals> {
    Job::every("follow", INTERVAL, follow)
}

async fn follow(cx: PluginContext<Referrals>) -> Result<(), HostError> {
    for transfer in transfers::sent(&cx.db(), TRANSFERS_MAX).await? {
        let Some(status) = cx.intent_status(transfer.intent).await? else {
            let Transfer { new_agent, intent, .. } = transfer;
            cx.error(&format!("the journal does not know intent {intent} of the referral of agent {new_agent}"));
            continue;
        };
        let IntentStatus { state, reason, hash, block, .. } = status;
        let progress = (hash, block.is_some());
        match state {
            TxState::Final => finish(&cx, transfer, hash).await?,
            TxState::Failed => fail(&cx, transfer, hash, reason.unwrap_or_default()).await?,
            _ if progress != (transfer.tx, transfer.is_mined) => {
                cx.write(async move |tx| transfers::note_progress(tx, &transfer, progress).await).await?;
            }
            _ => {}
        }
    }
    Ok(())
}

async fn finish(cx: &PluginContext<Referrals>, transfer: Transfer, hash: Option<Hash256>) -> Result<(), HostError> {
    cx.write(async move |tx| {
        if transfers::end(tx, &transfer, "done", hash, None).await? {
            conclude(tx, transfer.new_agent).await?;
        }
        Ok(())
    })
    .await
}

/// When both transfers are final the referral is paid, and that becomes public.
async fn conclude(tx: &Tx, new_agent: AgentId) -> Result<(), HostError> {
    let Some(payout) = transfers::finished(tx, new_agent).await? else { return Ok(()) };
    if !claims::set_paid(tx, new_agent).await? {
        return Ok(());
    }
    let Payout { ref_agent, new_owner, ref_owner, reward, job_id, tx_new, tx_ref } = payout;
    let paid = ReferralPaid {
        new_agent_id: new_agent,
        ref_agent_id: ref_agent,
        new_owner,
        ref_owner,
        reward_wei: reward,
        job_id,
        tx_new,
        tx_ref,
    };
    paid.publish(tx)
}

async fn fail(
    cx: &PluginContext<Referrals>,
    transfer: Transfer,
    hash: Option<Hash256>,
    reason: String,
) -> Result<(), HostError> {
    let (agent, member) = (transfer.new_agent, Side::member(transfer.side));
    cx.warn(&format!("the transfer to {member} of the referral of agent {agent} failed for good: {reason}"));
    cx.write(async move |tx| transfers::end(tx, &transfer, "failed", hash, Some(&reason)).await).await.map(drop)
}
