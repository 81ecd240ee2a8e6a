//! A gateway that gives away coins, accounts and gas, as its clients and its chain see it.

use super::sender::Sender;
use crate::{
    crash::{expire_leases, query},
    e2e::{Site, setup_on_devnet},
    storage::Engine,
};
use alloy_primitives::{U256, keccak256};
use gateway_clock::Clock;
use gateway_tests::{
    devnet::{Devnet, encoded},
    process::{GatewayProcess, Setup},
};
use plugin_testing::{Value, json};
use reqwest::{Method, RequestBuilder};

/// In wei.
const FMX: u128 = 1_000_000_000_000_000_000;
/// Of what a payment stream holds, in wei.
const STREAM: u128 = FMX / 1000;
/// In wei a second.
const RATE: &str = "1000000000000";

pub struct Lobby<'n> {
    pub devnet: &'n Devnet,
    pub setup: Setup,
    pub gateway: GatewayProcess,
    site: Site,
    /// With the key that it sends with.
    pub sender: Sender<'n>,
    /// The test key that owns the account whose calls are relayed.
    owner: &'static str,
    pub account: String,
}

impl<'n> Lobby<'n> {
    pub async fn open(devnet: &'n Devnet, engine: Engine, adjust: impl Fn(Setup) -> Setup) -> Self {
        let (relayer, owner) = match engine {
            Engine::Sqlite => ("relayer", "user2"),
            Engine::Postgres => ("facilitator", "user3"),
        };
        let setup = adjust(setup_on_devnet(devnet, engine, &super::PLUGINS, ("relayer", relayer)).await);
        let account = create_account(devnet, owner).await;
        let gateway = setup.start().await.unwrap();
        Self { devnet, site: Site::of(&gateway), setup, gateway, sender: Sender::new(devnet, relayer), owner, account }
    }

    /// Starts it again after its end, without waiting for what the dead process held.
    pub async fn start_again(&mut self) {
        expire_leases(&self.setup).await;
        self.gateway = self.setup.start().await.unwrap();
        self.site = Site::of(&self.gateway);
    }

    fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.site.request(Method::POST, path).header("content-type", "application/json").body(body.to_string())
    }

    pub fn ask_for_coins(&self, address: &str) -> RequestBuilder {
        self.post("/api/faucet", &json!({ "address": address }))
    }

    pub fn ask_for_account(&self, owner: &str) -> RequestBuilder {
        self.post("/api/accounts/create", &json!({ "owner": owner }))
    }

    /// A call of the account, signed by its owner's wallet: it opens a payment stream to this address.
    pub async fn ask_for_call(&self, payee: &str) -> RequestBuilder {
        let data = encoded("openStream(address payee, uint256 ratePerSec)", &[payee, RATE]).unwrap();
        let bytes = hex::decode(data.trim_start_matches("0x")).unwrap();
        let deadline = Clock::System.now_s() + 3600;
        let to = &self.devnet.facts.contracts["streamPay"];
        let message = json!({
            "to": to, "value": STREAM.to_string(), "dataHash": keccak256(bytes), "nonce": self.account_nonce().await.to_string(),
            "deadline": deadline.to_string(),
        });
        let field = |(name, kind): (&str, &str)| json!({ "name": name, "type": kind });
        let domain_fields =
            [("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address")];
        let fields = [
            ("to", "address"),
            ("value", "uint256"),
            ("dataHash", "bytes32"),
            ("nonce", "uint256"),
            ("deadline", "uint64"),
        ];
        let typed = json!({
            "domain": {
                "name": "ServiceAgentAccount", "version": "1", "chainId": self.devnet.facts.chain_id,
                "verifyingContract": self.account,
            },
            "types": { "EIP712Domain": domain_fields.map(field), "Execute": fields.map(field) },
            "primaryType": "Execute",
            "message": message,
        });
        let owner = self.devnet.account(self.owner).unwrap();
        let signed = self.devnet.call("eth_signTypedData_v4", json!([owner, typed])).await.unwrap();
        let call = json!({
            "account": self.account, "to": to, "value": STREAM.to_string(), "data": data, "deadline": deadline, "sig": signed,
        });
        self.post("/api/relay", &call)
    }

    async fn account_nonce(&self) -> U256 {
        let call = json!({ "to": self.account, "data": encoded("nonce()", &[]).unwrap() });
        self.devnet.number("eth_call", json!([call, "latest"])).await.unwrap()
    }

    /// Rows of its database, as texts.
    pub async fn rows(&self, sql: &'static str) -> Vec<Vec<String>> {
        query(&self.setup, sql).await
    }

    pub async fn balance(&self, address: &str) -> U256 {
        self.devnet.number("eth_getBalance", json!([address, "latest"])).await.unwrap()
    }

    /// How many payment streams the account opened to this address.
    pub async fn streams_to(&self, payee: &str) -> usize {
        let topic = keccak256("StreamOpened(uint256,address,address,uint256,uint256,uint64,uint64)");
        let padded = format!("0x{:0>64}", payee.trim_start_matches("0x").to_lowercase());
        let filter = json!({
            "fromBlock": "0x0", "address": self.devnet.facts.contracts["streamPay"],
            "topics": [topic, null, null, padded],
        });
        self.devnet.call("eth_getLogs", json!([filter])).await.unwrap().as_array().unwrap().len()
    }

    /// Whether the address that the factory gives the owner has code.
    pub async fn has_account(&self, owner: &str) -> bool {
        let account = predicted(self.devnet, owner).await;
        self.devnet.call("eth_getCode", json!([account, "latest"])).await.unwrap() != "0x"
    }
}

const NO_SALT: &str = "0x0000000000000000000000000000000000000000000000000000000000000000";

async fn predicted(devnet: &Devnet, owner: &str) -> String {
    let call = json!({
        "to": devnet.facts.contracts["accountFactory"], "data": encoded("predict(address,bytes32)", &[owner, NO_SALT]).unwrap(),
    });
    let word = devnet.call("eth_call", json!([call, "latest"])).await.unwrap();
    format!("0x{}", &word.as_str().unwrap()[26..])
}

/// One that has coins.
async fn create_account(devnet: &Devnet, owner: &str) -> String {
    let address = devnet.account(owner).unwrap();
    let hash = devnet.send(owner, "accountFactory", "create(address,bytes32)", &[address, NO_SALT], 0).await.unwrap();
    devnet.included(&hash).await.unwrap();
    let account = predicted(devnet, address).await;
    devnet.call("anvil_setBalance", json!([account, format!("{:#x}", 1000 * FMX)])).await.unwrap();
    account
}
