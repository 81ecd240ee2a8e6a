//! The end of a day: no faults any more, and everything is compared.

use super::{CAPS, Run, reading};
use crate::{machine, order_book::StoredVoucher, stored::StoredRows, voucher_book::differs};
use std::time::Duration;

/// How long what was acknowledged may take until it is in blocks, once nothing fails any more.
const PAID_WITHIN: Duration = Duration::from_secs(400);
/// How often four blocks are waited for until the index has the agents of the chain.
const INDEX_TURNS: usize = 10;
/// How long events may take to reach a reader.
const READ_WITHIN: Duration = Duration::from_secs(120);

impl Run {
    /// Ends the faults of the chain, waits for what has to come, then compares everything.
    pub(super) async fn settle(&mut self) -> Result<Vec<String>, String> {
        let paid = async {
            loop {
                self.chain.heal();
                self.deposits.heal();
                if self.chain.is_idle()
                    && self.chain.has_paid(&self.ledger)
                    && self.has_taken_payments()
                    && self.has_rewarded()
                {
                    break;
                }
                tokio::time::sleep(Duration::from_secs(7)).await;
            }
        };
        // If they are not paid by then, the comparison says which.
        let _ = tokio::time::timeout(PAID_WITHIN, paid).await;
        let mut stored = self.after_blocks().await?;
        for _ in 0..INDEX_TURNS {
            let is_open = self.is_vault_unread(&stored) || stored.vouchers.iter().any(StoredVoucher::is_reserved);
            if stored.waiting == 0 && self.check_agents(&stored).is_none() && !is_open {
                break;
            }
            stored = self.after_blocks().await?;
        }
        let last = stored.event_ids.last().copied();
        let read = async {
            while self.ledger.borrow().read_by_all() < last {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        let is_read = tokio::time::timeout(READ_WITHIN, read).await.is_ok();
        let misread = if self.settings.all_plugins { reading::read_everything(&self.site).await } else { Vec::new() };
        let ledger = self.ledger.borrow();
        let mut violations = ledger.violations.clone();
        violations.extend(misread);
        violations.extend(stored.check(&ledger, true));
        violations.extend(self.check_agents(&stored));
        violations.extend(ledger.check_caps(&CAPS));
        violations.extend(ledger.check_streams(&stored.event_ids));
        violations.extend(self.chain.check(&ledger, CAPS.drip_wei, true));
        let (payouts, now_s) = (self.chain.payouts(), machine::now_s());
        violations.extend(ledger.purchases.check(&payouts, &self.deposits, &stored.payouts, now_s));
        let (settlements, skipped) = self.chain.vouchers();
        violations.extend(ledger.vouchers.check(&settlements, skipped, &stored.settlements));
        violations.extend(ledger.orders.check(&stored.orders, &stored.vouchers));
        violations.extend(ledger.referrals.check(&self.chain.rewards(), &self.chain.final_jobs(), now_s));
        violations.extend(ledger.sponsored.check(&self.chain.executed(), &self.chain.sent_calls()));
        if !is_read && violations.is_empty() {
            violations.push(format!("the stream did not send event {last:?}"));
        }
        if let Some((trace, counts)) = self.site.database.trace() {
            self.trace.record("database", &format!("{trace:016x} {counts:?}"));
            // Nothing that is found would prove anything.
            if counts.unexpected > 0 {
                return Err("the simulated PostgreSQL is wrong".to_owned());
            }
        }
        for violation in &violations {
            self.trace.record("violation", violation);
        }
        let (writes, drips) = (stored.write_count(), ledger.drips.len());
        self.trace.record("stored", &format!("{writes} writes, {drips} drips, events up to {last:?}"));
        Ok(violations)
    }

    fn check_agents(&self, stored: &StoredRows) -> Option<String> {
        self.workload.has_forum().then(|| stored.check_agents(&self.chain.agents())).flatten()
    }

    /// Whether the index has not yet what the vault has settled.
    fn is_vault_unread(&self, stored: &StoredRows) -> bool {
        self.workload.has_vouchers() && differs(&self.chain.vouchers().0, &stored.settlements)
    }

    /// Whether deposits are paid, vouchers settled and calls carried out.
    fn has_taken_payments(&self) -> bool {
        let ledger = self.ledger.borrow();
        let unpaid = ledger.purchases.unpaid(&self.chain.payouts(), &self.deposits, machine::now_s());
        unpaid.is_empty()
            && ledger.vouchers.are_settled(&self.chain.vouchers().0)
            && ledger.sponsored.are_executed(&self.chain.executed())
    }

    /// Whether the rewards are paid for every job that was completed.
    fn has_rewarded(&self) -> bool {
        let ledger = self.ledger.borrow();
        self.chain.are_jobs_final()
            && ledger.referrals.unpaid(&self.chain.final_jobs(), machine::now_s()).next().is_none()
    }

    /// What is stored when the newest blocks so far are confirmed.
    async fn after_blocks(&self) -> Result<StoredRows, String> {
        for _ in 0..4 {
            self.chain.heal();
            tokio::time::sleep(Duration::from_secs(7)).await;
        }
        self.site.stored()
    }
}
