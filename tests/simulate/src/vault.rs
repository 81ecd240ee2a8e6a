//! The vault of x402 on the chain of a run: what was paid in, and what batches of vouchers settle.

use crate::{typed_data, voucher::Voucher};
use alloy::{
    dyn_abi::{DynSolValue, FunctionExt as _, JsonAbiExt as _},
    json_abi::Function,
};
use alloy_primitives::{B256, U256};
use plugin_api::Address;
use plugin_testing::{ScriptedContract, ScriptedLog, ScriptedTx, json};
use std::collections::{BTreeMap, BTreeSet};

/// Key of the contract in the configuration.
pub const VAULT: &str = "x402Vault";
const DEPOSITED: &str = "Deposited(address indexed payer, uint256 amount)";
const SETTLED: &str =
    "Settled(address indexed payer, address indexed payee, uint256 amount, uint256 fee, uint256 nonce, bytes32 ref)";
const SKIPPED: &str = "Skipped(address indexed payer, uint256 nonce, string reason)";
const SETTLE_BATCH: &str = "settleBatch((address,address,uint256,uint256,uint64,bytes32)[],bytes[])";
const BALANCE: &str = "balance(address) returns (uint256)";
const UNLOCK_AT: &str = "unlockAt(address) returns (uint256)";
const USED: &str = "used(address,uint256) returns (bool)";
const VERIFY: &str = "verify((address,address,uint256,uint256,uint64,bytes32),bytes) returns (bool,string)";
/// Words of the data of `Settled` before the nonce.
const NONCE_WORD: usize = 2;

/// A settlement of the chain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Settlement {
    pub payer: String,
    pub nonce: String,
    pub amount: String,
}

pub struct Vault {
    pub chain_id: u64,
    /// Payers that are contracts, with those whose signatures they accept (ERC-1271).
    pub owners: BTreeMap<Address, Address>,
    /// Of a planted fault: who asks is told that every signature is good.
    pub accepts_all: bool,
}

/// What a payer pays in.
pub fn deposited(payer: &str, amount: &str) -> ScriptedLog {
    ScriptedLog::new(VAULT, DEPOSITED, &[json!(payer), json!(amount)])
}

/// Settlements among these events, and how many vouchers the vault has skipped.
pub fn outcomes<'l>(logs: impl Iterator<Item = &'l ScriptedLog>) -> (Vec<Settlement>, usize) {
    let (mut settlements, mut skipped) = (Vec::new(), 0);
    for log in logs {
        if is(log, SKIPPED) {
            skipped += 1;
        } else if is(log, SETTLED) {
            let payer = payer_of(log).to_string();
            settlements.push(Settlement {
                payer,
                nonce: number(log, NONCE_WORD).to_string(),
                amount: number(log, 0).to_string(),
            });
        }
    }
    (settlements, skipped)
}

impl ScriptedContract for Vault {
    fn execute(&self, earlier: &[&ScriptedLog], tx: &ScriptedTx, time_s: u64) -> Result<Vec<ScriptedLog>, String> {
        let batch = decode_batch(&tx.data).ok_or("no batch")?;
        let mut balances = Balances::after(earlier);
        let settle = |(voucher, signature): (Voucher, Vec<u8>)| {
            let problem =
                if voucher.expiry_s < time_s { Some("expired") } else { self.problem(&balances, &voucher, &signature) };
            match problem {
                Some(problem) => skipped(&voucher, problem),
                None => balances.settle(&voucher),
            }
        };
        Ok(batch.into_iter().map(settle).collect())
    }

    fn call(&self, earlier: &[&ScriptedLog], data: &[u8]) -> Option<Vec<u8>> {
        let balances = Balances::after(earlier);
        let (selector, arguments) = data.split_first_chunk::<4>()?;
        let verify = Function::parse(VERIFY).ok()?;
        if verify.selector() == *selector {
            let decoded = verify.abi_decode_input(arguments).ok()?;
            let voucher = decode_voucher(decoded.first()?.as_tuple()?)?;
            let problem = self.problem(&balances, &voucher, decoded.get(1)?.as_bytes()?);
            let problem = problem.filter(|_| !self.accepts_all);
            let result =
                [DynSolValue::Bool(problem.is_none()), DynSolValue::from(problem.unwrap_or_default().to_owned())];
            return verify.abi_encode_output(&result).ok();
        }
        let words: Vec<B256> = arguments.chunks_exact(32).map(B256::from_slice).collect();
        let payer = address(words.first()?);
        let of = |text: &str| Function::parse(text).ok().filter(|function| function.selector() == *selector);
        if let Some(function) = of(BALANCE) {
            return function.abi_encode_output(&[DynSolValue::from(balances.balance(payer))]).ok();
        }
        if let Some(function) = of(UNLOCK_AT) {
            return function.abi_encode_output(&[DynSolValue::from(U256::ZERO)]).ok();
        }
        let nonce = U256::from_be_bytes(words.get(1)?.0);
        of(USED)?.abi_encode_output(&[DynSolValue::Bool(balances.used.contains(&(payer, nonce)))]).ok()
    }
}

impl Vault {
    /// Why the vault does not take the voucher, unless it has expired.
    fn problem(&self, balances: &Balances, voucher: &Voucher, signature: &[u8]) -> Option<&'static str> {
        let signer = self.owners.get(&voucher.payer).unwrap_or(&voucher.payer);
        if balances.used.contains(&(voucher.payer, voucher.nonce)) {
            Some("nonce used")
        } else if typed_data::signer(voucher.digest(self.chain_id), signature) != Some(*signer) {
            Some("bad signature")
        } else {
            (balances.balance(voucher.payer) < voucher.amount).then_some("insufficient balance")
        }
    }
}

/// What the events say that payers have.
struct Balances {
    movements: Vec<(Address, U256, bool)>,
    used: BTreeSet<(Address, U256)>,
}

impl Balances {
    fn after(events: &[&ScriptedLog]) -> Self {
        let mut balances = Self { movements: Vec::new(), used: BTreeSet::new() };
        for log in events {
            let is_settled = is(log, SETTLED);
            if is_settled || is(log, DEPOSITED) {
                balances.movements.push((payer_of(log), number(log, 0), is_settled));
            }
            if is_settled {
                balances.used.insert((payer_of(log), number(log, NONCE_WORD)));
            }
        }
        balances
    }

    fn balance(&self, payer: Address) -> U256 {
        let own = self.movements.iter().filter(|(of, ..)| *of == payer);
        own.fold(
            U256::ZERO,
            |sum, (_, amount, leaves)| if *leaves { sum.saturating_sub(*amount) } else { sum + *amount },
        )
    }

    fn settle(&mut self, voucher: &Voucher) -> ScriptedLog {
        let Voucher { payer, payee, amount, nonce, reference, .. } = voucher;
        self.used.insert((*payer, *nonce));
        self.movements.push((*payer, *amount, true));
        let fee = amount / U256::from(100);
        let numbers = [*amount, fee, *nonce].map(|number| json!(number.to_string()));
        let reference = json!(B256::from(*reference));
        ScriptedLog::new(VAULT, SETTLED, &[&[json!(payer), json!(payee)], &numbers[..], &[reference]].concat())
    }
}

fn skipped(voucher: &Voucher, problem: &str) -> ScriptedLog {
    ScriptedLog::new(VAULT, SKIPPED, &[json!(voucher.payer), json!(voucher.nonce.to_string()), json!(problem)])
}

fn decode_batch(data: &[u8]) -> Option<Vec<(Voucher, Vec<u8>)>> {
    let function = Function::parse(SETTLE_BATCH).ok()?;
    let (selector, arguments) = data.split_first_chunk::<4>()?;
    if function.selector() != *selector {
        return None;
    }
    let decoded = function.abi_decode_input(arguments).ok()?;
    let [vouchers, signatures] = <[DynSolValue; 2]>::try_from(decoded).ok()?;
    let vouchers = vouchers.as_array()?.iter().map(|tuple| decode_voucher(tuple.as_tuple()?));
    let signatures = signatures.as_array()?.iter().map(|signature| signature.as_bytes().map(<[u8]>::to_vec));
    vouchers.zip(signatures).map(|(voucher, signature)| Some((voucher?, signature?))).collect()
}

fn decode_voucher(members: &[DynSolValue]) -> Option<Voucher> {
    let [payer, payee, amount, nonce, expiry, reference] = members else { return None };
    let account = |value: &DynSolValue| value.as_address().map(|address| Address(address.into_array()));
    Some(Voucher {
        payer: account(payer)?,
        payee: account(payee)?,
        amount: amount.as_uint()?.0,
        nonce: nonce.as_uint()?.0,
        expiry_s: expiry.as_uint()?.0.try_into().ok()?,
        reference: reference.as_fixed_bytes()?.0.try_into().ok()?,
    })
}

fn is(log: &ScriptedLog, event: &str) -> bool {
    let selector = alloy::json_abi::Event::parse(event).map(|event| event.selector()).ok();
    log.topics.first().copied() == selector
}

/// The first indexed argument.
fn payer_of(log: &ScriptedLog) -> Address {
    log.topics.get(1).map(address).unwrap_or_default()
}

fn address(word: &B256) -> Address {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&word[12..]);
    Address(bytes)
}

fn number(log: &ScriptedLog, word: usize) -> U256 {
    log.data.chunks_exact(32).nth(word).map(U256::from_be_slice).unwrap_or_default()
}
