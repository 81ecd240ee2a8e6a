//! Ends vouchers as the vault's logs say, once no reorganisation can take these back. Until then their state is computed.

use crate::{
    X402,
    model::{State, is_payers_doing},
    store::{payers, vouchers},
};
use plugin_api::{HostError, HostErrorCode, Job, PluginContext, chain::MAIN};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(20);
const VOUCHERS_MAX: u32 = 200;
/// Longer than a balance that was read before is relied on: it does not know of the settlement.
const AGE_MIN_S: i64 = 120;

/// Of a chain that is not configured, or that no server tells about.
const UNREADABLE: [HostErrorCode; 3] = [HostErrorCode::Disabled, HostErrorCode::Unavailable, HostErrorCode::Timeout];

pub fn job() -> Job<X402> {
    Job::every("close", INTERVAL, close)
}

async fn close(cx: PluginContext<X402>) -> Result<(), HostError> {
    let finalized = match cx.chain(MAIN).finalized().await {
        Ok(block) => i64::try_from(block.number).unwrap_or(i64::MAX),
        // Nothing is final that cannot be read.
        Err(error) if UNREADABLE.iter().any(|code| error.is(*code)) => return Ok(()),
        Err(error) => return Err(error),
    };
    let refused_s = cx.plugin().config.refused_s();
    loop {
        let now_s = cx.now_s();
        let decided = vouchers::decided(&cx.db(), (finalized, now_s - AGE_MIN_S), VOUCHERS_MAX).await?;
        let is_last = decided.len() < VOUCHERS_MAX as usize;
        let skipped = cx
            .write(async move |tx| {
                let mut skipped = 0;
                for row in &decided {
                    let outcome = row.outcome(now_s);
                    if !vouchers::close(tx, row, &outcome).await? || outcome.state != State::Skipped {
                        continue;
                    }
                    skipped += 1;
                    if outcome.reason.as_deref().is_some_and(is_payers_doing) {
                        payers::refuse(tx, row.payer, now_s + refused_s).await?;
                    }
                }
                Ok(skipped)
            })
            .await?;
        if skipped > 0 {
            cx.warn(&format!("the vault skipped {skipped} accepted vouchers"));
        }
        if is_last {
            return Ok(());
        }
    }
}
