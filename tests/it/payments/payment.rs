//! Vouchers, signed by the node's own wallets as the gateway says that they are signed.

use super::{Market, PRICE, Till, market::OWNER};
use gateway_clock::Clock;
use plugin_testing::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const ZERO: &str = "0x0000000000000000000000000000000000000000000000000000000000000000";
/// The longest life that a voucher may have, and some time for the way.
const LIFE_S: i64 = 3890;

/// Nonces count up, so that no two vouchers of a test have one by chance.
static NONCES: AtomicU64 = AtomicU64::new(1);

#[derive(Clone, Debug)]
pub struct Voucher {
    pub payer: String,
    pub payee: String,
    pub amount: u128,
    pub nonce: u64,
    pub expiry_s: i64,
}

/// A voucher with its signature.
#[derive(Clone, Debug)]
pub struct Payment {
    pub voucher: Voucher,
    signature: String,
}

impl Voucher {
    /// For one call of an agent, by this test key.
    pub fn new(market: &Market, payer: &str) -> Self {
        Self {
            payer: market.account(payer).to_owned(),
            payee: market.account(OWNER).to_owned(),
            amount: PRICE,
            nonce: NONCES.fetch_add(1, Relaxed),
            expiry_s: Clock::System.now_s() + LIFE_S,
        }
    }

    fn message(&self) -> Value {
        let Self { payer, payee, amount, nonce, expiry_s } = self;
        let (amount, nonce, expiry) = (amount.to_string(), nonce.to_string(), expiry_s.to_string());
        json!({ "payer": payer, "payee": payee, "amount": amount, "nonce": nonce, "expiry": expiry, "ref": ZERO })
    }

    /// Of a contract, which decides itself what a signature is.
    pub fn with_signature(self, signature: &str) -> Payment {
        Payment { voucher: self, signature: signature.to_owned() }
    }

    /// By the wallet of the payer, with what the gateway publishes about vouchers.
    pub async fn sign(self, market: &Market, till: &Till) -> Payment {
        let supported = till.get("/api/x402/supported").await;
        let (domain, types, message) = (&supported["domain"], &supported["types"], self.message());
        let typed = json!({ "domain": domain, "types": types, "primaryType": "Voucher", "message": message });
        let signed = market.devnet.call("eth_signTypedData_v4", json!([self.payer, typed])).await.unwrap();
        Payment { voucher: self, signature: signed.as_str().unwrap().to_owned() }
    }
}

impl Payment {
    /// For one call of an agent.
    pub async fn by(market: &Market, till: &Till, payer: &str) -> Self {
        Voucher::new(market, payer).sign(market, till).await
    }

    /// The value of a payment header.
    pub fn header(&self) -> String {
        json!({ "voucher": self.voucher.message(), "signature": self.signature }).to_string()
    }

    /// Anybody may present it to the vault: here the payer does, and it must be paid.
    pub async fn settle(&self, market: &Market, role: &str) {
        let Voucher { payer, payee, amount, nonce, expiry_s } = &self.voucher;
        let voucher = format!("({payer},{payee},{amount},{nonce},{expiry_s},{ZERO})");
        let function = "settle((address,address,uint256,uint256,uint64,bytes32),bytes)";
        market.send(role, "x402Vault", function, &[&voucher, &self.signature], 0).await;
    }
}
