//! Looks at payouts as they come: what is paid for a deposit must not come before its confirmations, and no reward before its job is final.

use crate::{chain_actor::ChainActor, deposit_chain::DepositChain, ledger::Ledger, machine, site::Site, trace::Trace};
use std::{cell::RefCell, rc::Rc, time::Duration};

const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

pub struct PayoutWatcher {
    pub site: Rc<Site>,
    pub chain: ChainActor,
    pub deposits: DepositChain,
    pub ledger: Rc<RefCell<Ledger>>,
    pub trace: Trace,
}

impl PayoutWatcher {
    /// Looks for ever: its task is dropped.
    pub async fn run(self) {
        loop {
            tokio::time::sleep(BETWEEN_LOOKS).await;
            let new = self.look() as u64;
            if new > 0 {
                self.trace.record("payouts", &format!("{new} new"));
                // Gateways are killed soon after.
                self.site.granted.send_modify(|granted| *granted += new);
            }
        }
    }

    /// How many there are that it has not seen before.
    fn look(&self) -> usize {
        let (now_s, mut ledger) = (machine::now_s(), self.ledger.borrow_mut());
        let count = |ledger: &Ledger| ledger.purchases.payout_count() + ledger.referrals.paid_count();
        let before = count(&ledger);
        let mut found = ledger.purchases.see(&self.chain.payouts_on_their_way(), &self.deposits, now_s);
        found.extend(ledger.referrals.see(&self.chain.rewards_on_their_way(), &self.chain.final_jobs(), now_s));
        ledger.violations.extend(found);
        count(&ledger) - before
    }
}
