//! Makes batches of the vouchers that wait: when enough wait, when the oldest has waited long enough, when one is about to expire, or when
//! a payer has used up his credit.

use super::batch::Sender;
use crate::{
    X402,
    contributions::vault_address,
    model::{EXPIRED, OVERDUE},
    store::{
        batches::{self, SETTLE_JOB, VoucherKey, Waiting},
        payers, vouchers,
    },
};
use plugin_api::{Address, HostError, Job, PluginContext};
use std::{collections::BTreeMap, time::Duration};

/// How often it looks, whether it is time for a batch; `batch_s` says when it is.
const INTERVAL: Duration = Duration::from_secs(5);
/// A voucher with less time left until it expires, or its payer may take his deposit, is sent at once.
const TIME_LEFT_S: i64 = 60;
/// Vouchers of one run. The next one follows at once.
const WAITING_MAX: u32 = 2000;
/// Vouchers of a contract in one batch: each may use all of its gas.
const CONTRACT_BATCH_MAX: usize = 10;

pub fn job() -> Job<X402> {
    Job::every(SETTLE_JOB, INTERVAL, settle)
}

async fn settle(cx: PluginContext<X402>) -> Result<(), HostError> {
    cx.plugin().settle_wake.begun();
    let Some(vault) = vault_address(&cx) else { return Ok(()) };
    end_waiting(&cx, vault).await?;
    let config = &cx.plugin().config;
    let (batch_s, now_s) = (i64::from(config.batch_s), cx.now_s());
    let is_wanted = payers::wants_batch(&cx.db()).await?;
    if is_wanted {
        // Before the queue is read: who is refused later asks for another one.
        cx.write(payers::forget_wants).await?;
    }
    let mut waiting = batches::waiting(&cx.db(), vault, WAITING_MAX).await?;
    waiting.retain(|one| !is_paused(one, batch_s, now_s));
    if !is_wanted && !is_time(&waiting, config.batch_size, batch_s, now_s) {
        return Ok(());
    }
    let is_full = waiting.len() >= WAITING_MAX as usize;
    let sender = Sender { vault, contract_gas: config.contract_gas };
    for keys in in_batches(waiting, config.batch_size as usize) {
        cx.write(async move |tx| sender.send(tx, None, &keys).await).await?;
    }
    if is_full { cx.wake(SETTLE_JOB).await } else { Ok(()) }
}

/// Reservations and vouchers whose time is over, and those of another vault.
async fn end_waiting(cx: &PluginContext<X402>, vault: Address) -> Result<(), HostError> {
    // Nothing is written while there is nothing to end.
    if !vouchers::must_end_some(&cx.db(), vault, cx.now_s()).await? {
        return Ok(());
    }
    let (voided, expired, other) = cx
        .write(async move |tx| {
            let voided = vouchers::void_overdue(tx, OVERDUE).await?;
            let expired = vouchers::skip_expired(tx, EXPIRED).await?;
            Ok((voided, expired, vouchers::drop_other_vaults(tx, vault).await?))
        })
        .await?;
    report_lost(cx, expired, "expired");
    report_lost(cx, other, "other_vault");
    if voided > 0 {
        cx.info(&format!("voided {voided} reservations whose work did not end in time"));
    }
    Ok(())
}

/// Accepted vouchers that nobody will be paid for.
pub fn report_lost(cx: &PluginContext<X402>, count: u64, why: &str) {
    if count > 0 {
        cx.warn(&format!("{count} accepted vouchers cannot be settled: {why}"));
        cx.count("vouchers_lost", &BTreeMap::from([("why", why)]), count);
    }
}

/// After an attempt that failed: what made it fail may be over a little later, and three attempts at once would not see that.
fn is_paused(one: &Waiting, batch_s: i64, now_s: i64) -> bool {
    now_s - one.queued_at < one.attempts * batch_s && one.expiry_s - now_s >= TIME_LEFT_S
}

fn is_time(waiting: &[Waiting], batch_size: u32, batch_s: i64, now_s: i64) -> bool {
    waiting.len() >= batch_size as usize
        || waiting.iter().any(|one| now_s - one.queued_at >= batch_s || deadline_s(one) - now_s < TIME_LEFT_S)
}

/// After that the vault may skip it.
fn deadline_s(one: &Waiting) -> i64 {
    if one.unlock_at == 0 { one.expiry_s } else { one.expiry_s.min(one.unlock_at) }
}

/// Signatures of keys go together. What failed alone is sent alone again, and the vouchers of a payer that is a contract get batches of
/// their own, because his code can make a whole batch fail: the vouchers of others would wait while such a batch is halved.
fn in_batches(waiting: Vec<Waiting>, batch_size: usize) -> Vec<Vec<VoucherKey>> {
    let key = |one: &Waiting| VoucherKey { payer: one.payer, nonce: one.nonce };
    let (fresh, failed): (Vec<Waiting>, Vec<Waiting>) = waiting.into_iter().partition(|one| one.attempts == 0);
    let (by_contract, by_key): (Vec<Waiting>, Vec<Waiting>) = fresh.into_iter().partition(|one| one.by_contract);
    let mut batches: Vec<Vec<VoucherKey>> =
        by_key.chunks(batch_size).map(|chunk| chunk.iter().map(key).collect()).collect();
    let mut of_contracts: BTreeMap<Address, Vec<VoucherKey>> = BTreeMap::new();
    for one in &by_contract {
        of_contracts.entry(one.payer).or_default().push(key(one));
    }
    let sizes = of_contracts.values().flat_map(|keys| keys.chunks(CONTRACT_BATCH_MAX.min(batch_size)));
    batches.extend(sizes.map(<[VoucherKey]>::to_vec));
    batches.extend(failed.iter().map(|one| vec![key(one)]));
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::Wei;

    fn waiting(payer: u8, by_contract: bool, queued_at: i64, expiry_s: i64) -> Waiting {
        let (payer, nonce, unlock_at) = (Address([payer; 20]), Wei::ZERO, 0);
        Waiting { payer, nonce, by_contract, queued_at, expiry_s, unlock_at, attempts: 0 }
    }

    #[test]
    fn a_batch_is_sent_when_it_is_full_old_or_urgent() {
        let fresh = || waiting(1, false, 100, 1000);
        assert!(!is_time(&[], 2, 30, 100));
        assert!(!is_time(&[fresh()], 2, 30, 129));
        assert!(is_time(&[fresh()], 2, 30, 130), "it has waited long enough");
        assert!(is_time(&[fresh(), fresh()], 2, 30, 100), "the batch is full");
        assert!(is_time(&[waiting(1, false, 100, 159)], 2, 30, 100), "it is about to expire");
        assert!(!is_time(&[waiting(1, false, 100, 160)], 2, 30, 100));
        let unlocking = |unlock_at| Waiting { unlock_at, ..fresh() };
        assert!(is_time(&[unlocking(159)], 2, 30, 100), "the deposit may leave");
        assert!(!is_time(&[unlocking(160)], 2, 30, 100));
    }

    #[test]
    fn the_next_attempt_comes_after_a_pause_unless_it_would_come_too_late() {
        let after = |attempts, expiry_s| Waiting { attempts, ..waiting(1, false, 100, expiry_s) };
        assert!(!is_paused(&after(0, 1000), 30, 100));
        assert!(is_paused(&after(1, 1000), 30, 129) && !is_paused(&after(1, 1000), 30, 130));
        assert!(is_paused(&after(2, 1000), 30, 159) && !is_paused(&after(2, 1000), 30, 160));
        assert!(!is_paused(&after(2, 170), 30, 111), "it has less than a minute left");
        assert!(is_paused(&after(2, 171), 30, 111));
    }

    #[test]
    fn contracts_have_batches_of_their_own() {
        let mut all: Vec<Waiting> = (0..5).map(|_| waiting(1, false, 0, 0)).collect();
        all.extend((0..11).map(|_| waiting(2, true, 0, 0)));
        all.push(waiting(3, true, 0, 0));
        let sizes: Vec<(u8, usize)> = in_batches(all, 4).iter().map(|keys| (keys[0].payer.0[0], keys.len())).collect();
        assert_eq!(sizes, [(1, 4), (1, 1), (2, 4), (2, 4), (2, 3), (3, 1)]);
    }

    #[test]
    fn what_failed_alone_is_sent_alone_and_last() {
        let failed = |payer, by_contract| Waiting { attempts: 1, ..waiting(payer, by_contract, 0, 0) };
        let all =
            vec![failed(1, false), waiting(2, false, 0, 0), failed(3, true), failed(3, true), waiting(2, false, 0, 0)];
        let sizes: Vec<(u8, usize)> = in_batches(all, 4).iter().map(|keys| (keys[0].payer.0[0], keys.len())).collect();
        assert_eq!(sizes, [(2, 2), (1, 1), (3, 1), (3, 1)]);
    }
}
