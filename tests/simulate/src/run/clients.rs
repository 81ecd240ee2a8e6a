//! Who takes part in a day.

use super::Run;
use crate::{
    buyer::Buyer,
    caller::Caller,
    chain_actor::{CALLERS, FIRST_OWNER, FIRST_PAYER, PAYERS},
    drip_client::DripClient,
    thread_reader::ThreadReader,
    voucher_client::VoucherClient,
    writer::Writer,
};
use plugin_testing::Wallet;
use tokio::task::JoinSet;

const WRITERS: u64 = 4;
const WRITES: u64 = 6;
const READERS: u64 = 2;
const READS: u64 = 12;
const DRIP_CLIENTS: u64 = 4;
/// What one of them asks for, which is more than a client gets, and what the others do.
const DRIPS_MANY: u64 = 8;
const DRIPS_FEW: u64 = 2;
const BUYERS: u64 = 4;
const VOUCHERS: u64 = 3;
/// More than the relay sends for an account in a day.
const CALLS: u64 = 4;
/// Number of the wallet of the first recipient of coins.
const RECIPIENTS: u64 = 1_000_000;

impl Run {
    pub(super) fn start_society(&self, clients: &mut JoinSet<()>, day: u64) {
        for number in 0..WRITERS {
            let writer = Writer {
                site: self.site.clone(),
                ledger: self.ledger.clone(),
                threads: self.threads.clone(),
                trace: self.trace.clone(),
                name: format!("writer{number}"),
                wallet: Wallet::new(number),
                dice: self.dice.fork(1000 + day * 100 + number),
                count: WRITES,
            };
            clients.spawn_local(writer.run());
        }
        for number in 0..READERS {
            let reader = ThreadReader {
                site: self.site.clone(),
                ledger: self.ledger.clone(),
                threads: self.threads.clone(),
                trace: self.trace.clone(),
                name: format!("threads{number}"),
                dice: self.dice.fork(20_000_000 + day * 100 + number),
                count: READS,
            };
            clients.spawn_local(reader.run());
        }
        for number in 0..DRIP_CLIENTS {
            let drip_client = DripClient {
                site: self.site.clone(),
                ledger: self.ledger.clone(),
                trace: self.trace.clone(),
                name: format!("drips{number}"),
                first: 1000 + (day * DRIP_CLIENTS + number) * DRIPS_MANY,
                ip: u8::try_from(number + 1).unwrap_or(u8::MAX),
                dice: self.dice.fork(1050 + day * 100 + number),
                count: if number == 0 { DRIPS_MANY } else { DRIPS_FEW },
            };
            clients.spawn_local(drip_client.run());
        }
    }

    pub(super) fn start_buyers(&self, clients: &mut JoinSet<()>, day: u64) {
        for number in 0..BUYERS {
            let buyer = Buyer {
                site: self.site.clone(),
                deposits: self.deposits.clone(),
                ledger: self.ledger.clone(),
                trace: self.trace.clone(),
                name: format!("buyer{number}"),
                recipient: Wallet::new(RECIPIENTS + day * BUYERS + number),
                ip: u8::try_from(number + 1).unwrap_or(u8::MAX),
                dice: self.dice.fork(50_000_000 + day * 100 + number),
            };
            clients.spawn_local(buyer.run());
        }
    }

    pub(super) fn start_payers(&self, clients: &mut JoinSet<()>, day: u64) {
        for number in 0..PAYERS {
            let client = VoucherClient {
                site: self.site.clone(),
                ledger: self.ledger.clone(),
                trace: self.trace.clone(),
                name: format!("payer{number}"),
                wallet: Wallet::new(FIRST_PAYER + number),
                chain_id: self.chain.id(),
                first_nonce: 1 + day * VOUCHERS,
                dice: self.dice.fork(60_000_000 + day * 100 + number),
                count: VOUCHERS,
            };
            clients.spawn_local(client.run());
        }
    }

    pub(super) fn start_callers(&self, clients: &mut JoinSet<()>, day: u64) {
        for number in 0..CALLERS {
            let caller = Caller {
                site: self.site.clone(),
                chain: self.chain.clone(),
                ledger: self.ledger.clone(),
                trace: self.trace.clone(),
                name: format!("caller{number}"),
                number,
                owner: Wallet::new(FIRST_OWNER + number),
                day,
                dice: self.dice.fork(70_000_000 + day * 100 + number),
                count: CALLS,
            };
            clients.spawn_local(caller.run());
        }
    }
}
