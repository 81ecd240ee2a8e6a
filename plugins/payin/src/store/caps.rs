//! What the payouts of an hour and of a day of UTC are together, counted with the payout, in millionths of a coin, rounded up.

use crate::{config::Caps, model::in_micro};
use plugin_api::{
    HostError, HostErrorCode, Tx, Wei,
    counter::{Count, Counter},
};

const HOUR_S: i64 = 3600;
const DAY_S: i64 = 86_400;
const HOUR: Counter = Counter::new("payin_counters", "hour", HOUR_S);
const DAY: Counter = Counter::new("payin_counters", "day", DAY_S);
/// Their only key.
const ALL: &str = "";

/// Why a payout does not fit now, and in how many seconds it is to be tried again. Counts nothing.
pub async fn full(tx: &Tx, caps: Caps, payout: Wei) -> Result<Option<(&'static str, i64)>, HostError> {
    let (now_s, micro) = (tx.now_s(), in_micro(payout));
    if payout > caps.payout {
        return Ok(Some(("it is more than one payout may be: the operator has to raise payout_max_wei", HOUR_S)));
    }
    let until = |period_s: i64| period_s - now_s.rem_euclid(period_s);
    if HOUR.used(tx, ALL, now_s).await?.saturating_add(micro) > in_micro(caps.hour) {
        return Ok(Some(("all payouts of this hour are made", until(HOUR_S))));
    }
    if DAY.used(tx, ALL, now_s).await?.saturating_add(micro) > in_micro(caps.day) {
        return Ok(Some(("all payouts of this day are made", until(DAY_S))));
    }
    Ok(None)
}

/// Gives back what was counted at this time for a payout that was never carried out: a recipient that makes his own fail takes nothing from
/// others.
pub async fn give_back(tx: &Tx, payout: Wei, counted_at: i64) -> Result<(), HostError> {
    HOUR.give_back(tx, ALL, in_micro(payout), counted_at).await?;
    DAY.give_back(tx, ALL, in_micro(payout), counted_at).await
}

/// Counts a payout that fits.
pub async fn count(tx: &Tx, caps: Caps, payout: Wei) -> Result<(), HostError> {
    for (counter, cap) in [(HOUR, caps.hour), (DAY, caps.day)] {
        tx.defer(counter.delete_before(tx.now_s() - 2 * DAY_S))?;
        let counted = counter.take(tx, ALL, in_micro(payout), in_micro(cap)).await?;
        if !matches!(counted, Count::Counted { .. }) {
            // `full` has read the same rows in this transaction.
            return Err(HostError::new(HostErrorCode::Conflict, "the caps changed at this moment"));
        }
    }
    Ok(())
}
