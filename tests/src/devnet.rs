//! The dev network for tests: a real node with the reference contracts behind the proxy that misbehaves on demand.
//!
//! The rule: whatever a test does goes to the node itself, and only the gateway talks to the proxy.

use crate::process::LIMIT;
use alloy::dyn_abi::{DynSolValue, Specifier as _};
use alloy::{dyn_abi::JsonAbiExt as _, json_abi::Function};
use alloy_primitives::U256;
use anyhow::{Context as _, Result, bail};
use plugin_api::Address;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

const POLL: Duration = Duration::from_millis(5);
/// How often a node is asked that says its chain has just changed.
const ASKED_MAX: u32 = 20;
/// Enough for any call of the contracts, so that no estimate is needed.
const GAS: &str = "0x2dc6c0";

/// The same for every transaction, so that one that is sent again has the same hash: 100 gwei.
const GAS_PRICE: &str = "0x174876e800";

/// Of an account that is played: a million coins.
const PURSE: &str = "0xd3c21bcecceda1000000";

pub struct Devnet {
    /// The program ends when this is dropped, and anvil with it.
    _program: Child,
    folder: TempDir,
    http: reqwest::Client,
    pub facts: DevnetFacts,
}

/// `devnet.json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DevnetFacts {
    /// The proxy's.
    pub rpc_url: String,
    pub ws_url: String,
    pub control_url: String,
    /// The node itself.
    pub anvil_url: String,
    pub chain_id: u64,
    pub contracts: BTreeMap<String, Address>,
    pub keys: Vec<Key>,
    /// The chains of deposits, with the option `--payin`.
    #[serde(default)]
    pub payin: Option<Vec<DepositChain>>,
    #[serde(default)]
    pub load_test: Option<LoadTestFacts>,
}

/// A chain on which people pay for coins.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DepositChain {
    pub name: String,
    pub chain_id: u64,
    /// Of the token.
    pub decimals: u8,
    /// Two proxies in front of the node.
    pub rpc_urls: Vec<String>,
    pub anvil_url: String,
    pub confirmations: u64,
    /// The test dollar, which every test key `user…` has.
    pub token: String,
    /// Another token of the same name.
    pub look_alike: String,
    /// Moves dollars for others.
    pub router: String,
    /// What only the named chains have, with the option `--payin-named`.
    #[serde(flatten)]
    pub named: Option<NamedChainContracts>,
}

/// Contracts of a chain whose facts a gateway knows.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedChainContracts {
    pub usdt: String,
    /// A token that has more kinds of transfers than a token should have.
    pub odd: String,
    /// Sends coins as no transaction shows it.
    pub coin_sender: String,
    /// The price of a coin of the chain: 2,500 USD.
    pub feed: String,
}

/// What runs a load test, with the option `--load-test`.
#[derive(Clone, Debug, Deserialize)]
pub struct LoadTestFacts {
    pub seed: String,
    pub xpub: String,
    pub float: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    pub role: String,
    pub address: String,
    /// Everybody knows it.
    pub private_key: String,
}

#[derive(Deserialize)]
struct Reply<'a> {
    error: Option<Value>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// A reorganisation by another task removed the newest block while the node read it.
fn is_of_moved_chain(error: &Value) -> bool {
    error["message"].as_str().is_some_and(|message| message.contains("BlockOutOfRangeError"))
}

impl Devnet {
    /// A fresh chain that mines a block for each transaction. `cargo xtask test` has installed what it needs.
    pub async fn start() -> Result<Self> {
        Self::start_with(&[]).await
    }

    /// Whether its packages are there.
    pub fn is_installed() -> bool {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("devnet/node_modules/viem").is_dir()
    }

    /// What was played before the start, with the option `--agents`.
    pub fn economy(&self) -> Result<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("economy.json")).context("nothing was played")?;
        Ok(serde_json::from_str(&text)?)
    }

    /// With more options of `tests/devnet/devnet.mjs`.
    pub async fn start_with(options: &[&str]) -> Result<Self> {
        Self::start_within(8 * LIMIT, options).await
    }

    /// The same with more time: a large economy takes minutes to play.
    pub async fn start_within(limit: Duration, options: &[&str]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("gateway-devnet-").tempdir()?;
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("devnet/devnet.mjs");
        let mut node = Command::new("node");
        node.arg(program).args(["--port", "0", "--block-time", "0", "--out"]).arg(folder.path()).args(options);
        let mut program = node.stdout(Stdio::piped()).kill_on_drop(true).spawn().context("node is not installed")?;
        let mut lines = BufReader::new(program.stdout.take().context("it has an output")?).lines();
        let is_ready = async {
            while let Some(line) = lines.next_line().await? {
                if line.starts_with("chain ") {
                    return Ok(());
                }
            }
            bail!("the dev network ended before it was ready; `cargo xtask test` installs what it needs")
        };
        timeout(limit, is_ready).await??;
        let text = std::fs::read_to_string(folder.path().join("devnet.json"))?;
        // It may have been installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let facts = serde_json::from_str(&text)?;
        // Node closes idle connections; a pooled one could be closed while a request is sent on it.
        let http = reqwest::Client::builder().pool_max_idle_per_host(0).build()?;
        Ok(Self { _program: program, folder, http, facts })
    }

    /// Asks the node; an error object is an error.
    pub async fn call(&self, method: &str, params: Value) -> Result<Value> {
        self.ask(method, params).await
    }

    /// As [`Self::call`], for an answer of a known shape.
    pub async fn ask<T: DeserializeOwned>(&self, method: &str, params: Value) -> Result<T> {
        self.ask_at(&self.facts.anvil_url, method, params).await
    }

    /// As [`Self::ask`], of another node.
    pub async fn ask_at<T: DeserializeOwned>(&self, url: &str, method: &str, params: Value) -> Result<T> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut asked = 0;
        loop {
            asked += 1;
            let body = self.http.post(url).json(&request).send().await?.bytes().await?;
            match serde_json::from_slice(&body)? {
                Reply { error: Some(error), .. } if asked < ASKED_MAX && is_of_moved_chain(&error) => {
                    tokio::time::sleep(POLL).await;
                }
                Reply { error: Some(error), .. } => bail!("{method}: {error}"),
                Reply { result, .. } => return Ok(serde_json::from_str(result.map_or("null", RawValue::get))?),
            }
        }
    }

    /// As [`Self::call`], for an answer that is a number.
    pub async fn number(&self, method: &str, params: Value) -> Result<U256> {
        let answer = self.call(method, params).await?;
        answer.as_str().and_then(|hex| hex.parse().ok()).with_context(|| format!("{method}: {answer} is no number"))
    }

    /// The number of the newest block.
    pub async fn head(&self) -> Result<u64> {
        let head = self.call("eth_blockNumber", json!([])).await?;
        Ok(u64::from_str_radix(head.as_str().context("a number")?.trim_start_matches("0x"), 16)?)
    }

    /// Waits until a transaction is in a block: the node mines after it has answered.
    pub async fn included(&self, hash: &str) -> Result<()> {
        let is_there = async {
            while self.call("eth_getTransactionReceipt", json!([hash])).await?.is_null() {
                tokio::time::sleep(POLL).await;
            }
            Ok(())
        };
        timeout(LIMIT, is_there).await?
    }

    /// Replaces the newest blocks by as many empty ones, and mines a further one. No block is mined meanwhile: the node
    /// would lose one that comes in between, and answer null for its number for ever.
    pub async fn reorganise(&self, depth: u64) -> Result<()> {
        self.reorganise_at(&self.facts.anvil_url, depth).await
    }

    /// The same of another node.
    pub async fn reorganise_at(&self, anvil_url: &str, depth: u64) -> Result<()> {
        self.ask_at::<Value>(anvil_url, "evm_setAutomine", json!([false])).await?;
        let reorganised = self.ask_at::<Value>(anvil_url, "anvil_reorg", json!([depth, []])).await;
        self.ask_at::<Value>(anvil_url, "evm_setAutomine", json!([true])).await?;
        reorganised?;
        self.ask_at::<Value>(anvil_url, "anvil_mine", json!(["0x1"])).await.map(drop)
    }

    pub async fn mine(&self, blocks: u64) -> Result<()> {
        self.call("anvil_mine", json!([format!("{blocks:#x}")])).await.map(drop)
    }

    /// Changes rules of the proxy: `tests/devnet/README.md` lists them.
    pub async fn control(&self, rules: Value) -> Result<()> {
        self.control_at(&self.facts.rpc_url, rules).await
    }

    /// The same of another proxy.
    pub async fn control_at(&self, rpc_url: &str, rules: Value) -> Result<()> {
        let answer = self.http.post(format!("{rpc_url}/control")).json(&rules).send().await?;
        if answer.status().is_success() { Ok(()) } else { bail!("the proxy says {}", answer.text().await?) }
    }

    /// Makes the proxy honest again.
    pub async fn honest(&self) -> Result<()> {
        self.http.delete(&self.facts.control_url).send().await?.error_for_status().map(drop).map_err(Into::into)
    }

    /// The file `devnet.json`, for programs that use this network.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("devnet.json")
    }

    /// The key of a role, for example `user1`.
    pub fn key(&self, role: &str) -> Result<&Key> {
        let key = self.facts.keys.iter().find(|key| key.role == role);
        key.with_context(|| format!("there is no test key {role}"))
    }

    /// The account of a role.
    pub fn account(&self, role: &str) -> Result<&str> {
        Ok(&self.key(role)?.address)
    }

    /// Sends a transaction to a contract by its key; answers its hash. Does not check whether it reverts.
    pub async fn send(&self, role: &str, contract: &str, function: &str, args: &[&str], wei: u128) -> Result<String> {
        self.send_from(self.account(role)?, contract, function, args, wei).await
    }

    /// Lets [`Self::send_from`] send for an account whose key the node does not know, and gives it coins.
    pub async fn impersonate(&self, account: &str) -> Result<()> {
        self.call("anvil_setBalance", json!([account, PURSE])).await?;
        self.call("anvil_impersonateAccount", json!([account])).await.map(drop)
    }

    /// As [`Self::send`], from an account by its address.
    pub async fn send_from(
        &self,
        from: &str,
        contract: &str,
        function: &str,
        args: &[&str],
        wei: u128,
    ) -> Result<String> {
        let to = self.facts.contracts.get(contract).with_context(|| format!("there is no contract {contract}"))?;
        let transaction = json!({
            "from": from,
            "to": to,
            "data": encoded(function, args)?,
            "value": format!("{wei:#x}"),
            "gas": GAS,
            "gasPrice": GAS_PRICE,
        });
        let hash = self.call("eth_sendTransaction", json!([transaction])).await?;
        Ok(hash.as_str().context("a hash")?.to_owned())
    }
}

/// The input of a call: its signature, and its arguments as text.
pub fn encoded(function: &str, args: &[&str]) -> Result<String> {
    let function = Function::parse(function)?;
    let value = |(input, text): (&alloy::json_abi::Param, &&str)| -> Result<DynSolValue> {
        let kind = input.resolve()?;
        Ok(match kind {
            alloy::dyn_abi::DynSolType::String => DynSolValue::String((*text).to_owned()),
            kind => kind.coerce_str(text)?,
        })
    };
    let values = function.inputs.iter().zip(args).map(value).collect::<Result<Vec<_>>>()?;
    Ok(alloy_primitives::hex::encode_prefixed(function.abi_encode_input(&values)?))
}
