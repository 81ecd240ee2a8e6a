//! An account on the chain of a run, whose owner signs calls that others send.

use crate::typed_data::{self, Domain, word};
use alloy::{
    dyn_abi::{DynSolValue, FunctionExt as _, JsonAbiExt as _},
    json_abi::{Event, Function},
};
use alloy_primitives::{B256, U256, keccak256};
use plugin_api::Address;
use plugin_testing::{ScriptedChain, ScriptedContract, ScriptedLog, ScriptedTx, json};

/// Keys of contracts in the configuration.
pub const FACTORY: &str = "accountFactory";
pub const IMPLEMENTATION: &str = "accountImpl";
const EXECUTE_WITH_SIG: &str = "executeWithSig(address,uint256,bytes,uint64,bytes)";
const NONCE: &str = "nonce() returns (uint256)";
const EXECUTED: &str = "Executed(uint256 nonce, bytes32 dataHash, uint256 time)";
const KIND: &str = "Execute(address to,uint256 value,bytes32 dataHash,uint256 nonce,uint64 deadline)";
const DOMAIN_NAME: &str = "ServiceAgentAccount";

/// A call, as its owner signs it. It moves no coins.
#[derive(Clone, Debug)]
pub struct SignedCall {
    pub account: Address,
    pub to: Address,
    pub data: Vec<u8>,
    pub nonce: u64,
    pub deadline_s: u64,
}

impl SignedCall {
    /// What the owner signs, by EIP-712.
    pub fn digest(&self, chain_id: u64) -> [u8; 32] {
        let number = |number: u64| U256::from(number).to_be_bytes::<32>();
        let domain = Domain { name: DOMAIN_NAME, chain_id, contract: self.account };
        let (data, nonce) = (keccak256(&self.data).0, number(self.nonce));
        domain.digest(KIND, &[word(self.to), number(0), data, nonce, number(self.deadline_s)])
    }
}

/// A call that an account has carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutedCall {
    pub account: String,
    pub data_hash: B256,
    pub at_s: i64,
}

pub struct AccountContract {
    pub chain_id: u64,
    pub address: Address,
    pub owner: Address,
}

/// Where the account with this number is.
pub fn address_of(number: u64) -> Address {
    ScriptedChain::address_of(&format!("account {number}"))
}

/// What accounts have carried out, by these events.
pub fn executed<'l>(logs: impl Iterator<Item = &'l ScriptedLog>) -> Vec<ExecutedCall> {
    let event = selector();
    let executed = logs.filter(|log| log.topics.first().copied() == event && log.data.len() == 96);
    executed
        .map(|log| ExecutedCall {
            account: log.address.to_string(),
            data_hash: B256::from_slice(&log.data[32..64]),
            at_s: U256::from_be_slice(&log.data[64..]).try_into().unwrap_or_default(),
        })
        .collect()
}

impl ScriptedContract for AccountContract {
    fn execute(&self, earlier: &[&ScriptedLog], tx: &ScriptedTx, time_s: u64) -> Result<Vec<ScriptedLog>, String> {
        let (to, data, deadline_s, signature) = decode(&tx.data).ok_or("no call")?;
        if deadline_s < time_s {
            return Err("expired".to_owned());
        }
        let call = SignedCall { account: self.address, to, data, nonce: earlier.len() as u64, deadline_s };
        if typed_data::signer(call.digest(self.chain_id), &signature) != Some(self.owner) {
            return Err("bad signature".to_owned());
        }
        let arguments = [json!(call.nonce), json!(keccak256(&call.data)), json!(time_s)];
        Ok(vec![ScriptedLog { address: self.address, ..ScriptedLog::new(FACTORY, EXECUTED, &arguments) }])
    }

    fn call(&self, earlier: &[&ScriptedLog], data: &[u8]) -> Option<Vec<u8>> {
        let function =
            Function::parse(NONCE).ok().filter(|function| data.starts_with(function.selector().as_slice()))?;
        function.abi_encode_output(&[DynSolValue::from(U256::from(earlier.len()))]).ok()
    }
}

fn selector() -> Option<B256> {
    Event::parse(EXECUTED).map(|event| event.selector()).ok()
}

/// Target, data, deadline and signature.
fn decode(data: &[u8]) -> Option<(Address, Vec<u8>, u64, Vec<u8>)> {
    let function = Function::parse(EXECUTE_WITH_SIG).ok()?;
    let (selector, arguments) = data.split_first_chunk::<4>()?;
    if function.selector() != *selector {
        return None;
    }
    let decoded = function.abi_decode_input(arguments).ok()?;
    let [to, _, data, deadline, signature] = <[DynSolValue; 5]>::try_from(decoded).ok()?;
    let deadline_s = deadline.as_uint()?.0.try_into().ok()?;
    Some((
        Address(to.as_address()?.into_array()),
        data.as_bytes()?.to_vec(),
        deadline_s,
        signature.as_bytes()?.to_vec(),
    ))
}
