//! Looks at the payouts of payin as they come: what is paid for a deposit must not come before its confirmations.

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
            let payouts = self.chain.payouts_on_their_way();
            let mut ledger = self.ledger.borrow_mut();
            let before = ledger.purchases.payout_count();
            let found = ledger.purchases.see(&payouts, &self.deposits, machine::now_s());
            let new = (ledger.purchases.payout_count() - before) as u64;
            ledger.violations.extend(found);
            drop(ledger);
            if new > 0 {
                self.trace.record("payouts", &format!("{new} new"));
                // Gateways are killed soon after.
                self.site.granted.send_modify(|granted| *granted += new);
            }
        }
    }
}
