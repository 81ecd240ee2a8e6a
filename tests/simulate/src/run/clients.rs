//! Who takes part in a day.

use super::Run;
use crate::{
    account,
    buyer::Buyer,
    caller::Caller,
    chain_actor::{CALLERS, CUSTOMERS, FIRST_CUSTOMER, FIRST_OWNER, FIRST_PAYER, PAYERS, PAYING_ACCOUNT},
    client::Client,
    drip_client::DripClient,
    newcomer::Newcomer,
    order_client::OrderClient,
    thread_reader::ThreadReader,
    voucher_client::VoucherClient,
    writer::Writer,
};
use plugin_api::Address;
use plugin_testing::Wallet;
use std::net::{IpAddr, Ipv4Addr};
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
const ORDERS: u64 = 3;
/// More than the relay sends for an account in a day.
const CALLS: u64 = 4;
const NEWCOMERS: u64 = 2;
/// Number of the wallet of the first owner of a new agent.
const FIRST_NEWCOMER: u64 = 2_000_000;
/// Number of the wallet of the first recipient of coins.
const RECIPIENTS: u64 = 1_000_000;

/// In one network of clients with limits, the address of the one with this number.
fn ip_in(network: u8, number: u64) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, network, u8::try_from(number + 1).unwrap_or(u8::MAX)))
}

impl Run {
    /// Requests come from this machine, which has no limits. No two clients have the same `sequence` of random numbers.
    pub(super) fn client(&self, name: String, sequence: u64) -> Client {
        Client {
            site: self.site.clone(),
            ledger: self.ledger.clone(),
            trace: self.trace.clone(),
            name,
            ip: Ipv4Addr::LOCALHOST.into(),
            dice: self.dice.fork(sequence),
        }
    }

    pub(super) fn start_forum_clients(&self, clients: &mut JoinSet<()>, day: u64) {
        for number in 0..WRITERS {
            let writer = Writer {
                client: self.client(format!("writer{number}"), 1000 + day * 100 + number),
                threads: self.threads.clone(),
                wallet: Wallet::new(number),
                count: WRITES,
            };
            clients.spawn_local(writer.run());
        }
        for number in 0..READERS {
            let reader = ThreadReader {
                client: self.client(format!("threads{number}"), 20_000_000 + day * 100 + number),
                threads: self.threads.clone(),
                count: READS,
            };
            clients.spawn_local(reader.run());
        }
        for number in 0..DRIP_CLIENTS {
            let client = self.client(format!("drips{number}"), 1050 + day * 100 + number);
            let drip_client = DripClient {
                client: Client { ip: ip_in(0, number), ..client },
                first: 1000 + (day * DRIP_CLIENTS + number) * DRIPS_MANY,
                count: if number == 0 { DRIPS_MANY } else { DRIPS_FEW },
            };
            clients.spawn_local(drip_client.run());
        }
    }

    pub(super) fn start_buyers(&self, clients: &mut JoinSet<()>, day: u64) {
        for number in 0..BUYERS {
            let client = self.client(format!("buyer{number}"), 50_000_000 + day * 100 + number);
            let buyer = Buyer {
                client: Client { ip: ip_in(1, number), ..client },
                deposits: self.deposits.clone(),
                recipient: Wallet::new(RECIPIENTS + day * BUYERS + number),
            };
            clients.spawn_local(buyer.run());
        }
    }

    pub(super) fn start_payers(&self, clients: &mut JoinSet<()>, day: u64) {
        for number in 0..PAYERS {
            let wallet = Wallet::new(FIRST_PAYER + number);
            let payer = wallet.address().parse().unwrap_or_default();
            clients.spawn_local(self.voucher_client(number, day, payer, wallet).run());
        }
        let account = account::address_of(PAYING_ACCOUNT);
        let owner = Wallet::new(FIRST_OWNER + PAYING_ACCOUNT);
        clients.spawn_local(self.voucher_client(PAYERS, day, account, owner).run());
    }

    fn voucher_client(&self, number: u64, day: u64, payer: Address, wallet: Wallet) -> VoucherClient {
        VoucherClient {
            client: self.client(format!("payer{number}"), 60_000_000 + day * 100 + number),
            payer,
            wallet,
            chain_id: self.chain.id(),
            first_nonce: 1 + day * VOUCHERS,
            count: VOUCHERS,
        }
    }

    pub(super) fn start_customers(&self, clients: &mut JoinSet<()>, day: u64) {
        for number in 0..CUSTOMERS {
            let customer = OrderClient {
                client: self.client(format!("customer{number}"), 80_000_000 + day * 100 + number),
                wallet: Wallet::new(FIRST_CUSTOMER + number),
                chain_id: self.chain.id(),
                count: ORDERS,
            };
            clients.spawn_local(customer.run());
        }
    }

    pub(super) fn start_newcomers(&self, clients: &mut JoinSet<()>, day: u64) {
        for number in 0..NEWCOMERS {
            let place = day * NEWCOMERS + number;
            let newcomer = Newcomer {
                client: self.client(format!("newcomer{number}"), 90_000_000 + day * 100 + number),
                chain: self.chain.clone(),
                wallet: Wallet::new(FIRST_NEWCOMER + place),
                agent_name: format!("newcomer {place}"),
                job: 1 + place,
            };
            clients.spawn_local(newcomer.run());
        }
    }

    pub(super) fn start_callers(&self, clients: &mut JoinSet<()>, day: u64) {
        for number in 0..CALLERS {
            let caller = Caller {
                client: self.client(format!("caller{number}"), 70_000_000 + day * 100 + number),
                chain: self.chain.clone(),
                number,
                owner: Wallet::new(FIRST_OWNER + number),
                day,
                count: CALLS,
            };
            clients.spawn_local(caller.run());
        }
    }
}
