//! A chain of a few blocks: one registration, jobs, feedback and a payment.

use crate::{
    Rpc, RpcError,
    abi::{Datum, Event},
};
use alloy_primitives::{Address, B256, Bytes, U256, hex, keccak256};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const AGENT: u64 = 7;
pub const AS_OF_BLOCK: u64 = 20;

pub fn contract(key: &str) -> Address {
    Address::from_slice(&keccak256(key)[12..])
}

pub fn account(number: u8) -> Address {
    Address::repeat_byte(number)
}

pub fn uint(number: u64) -> Datum {
    Datum::Uint(U256::from(number))
}

pub fn text(text: &str) -> Datum {
    Datum::Text(text.to_owned())
}

fn word(datum: &Datum) -> Option<B256> {
    Some(match datum {
        Datum::Uint(number) => (*number).into(),
        Datum::Int(number) => number.into_raw().into(),
        Datum::Address(address) => address.into_word(),
        Datum::Bool(flag) => U256::from(*flag).into(),
        Datum::Word(word) => *word,
        Datum::Text(_) | Datum::Bytes(_) => return None,
    })
}

/// As contracts encode values that follow each other.
pub fn encode(data: &[Datum]) -> Vec<u8> {
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    for datum in data {
        let bytes = match datum {
            Datum::Text(text) => text.as_bytes(),
            Datum::Bytes(bytes) => bytes,
            other => {
                head.extend(word(other).unwrap());
                continue;
            }
        };
        head.extend(B256::from(U256::from(data.len() * 32 + tail.len())));
        tail.extend(B256::from(U256::from(bytes.len())));
        tail.extend(bytes);
        tail.resize(tail.len().next_multiple_of(32), 0);
    }
    [head, tail].concat()
}

fn encode_struct(data: &[Datum]) -> Vec<u8> {
    [encode(&[uint(32)]), encode(data)].concat()
}

#[derive(Clone)]
pub struct Log {
    pub contract: &'static str,
    pub topics: Vec<B256>,
    pub data: Vec<u8>,
}

/// An event; the arguments in the order of its declaration.
pub fn log(contract: &'static str, declaration: &'static str, arguments: &[Datum]) -> Log {
    let topic0 = Event::parse(declaration).unwrap().topic0;
    let list = declaration.split_once('(').unwrap().1.split(", ");
    let (mut topics, mut plain) = (vec![topic0], Vec::new());
    for (parameter, argument) in list.zip(arguments) {
        match (parameter.contains(" indexed "), word(argument)) {
            (false, _) => plain.push(argument.clone()),
            (true, Some(word)) => topics.push(word),
            (true, None) => topics.push(keccak256("indexed")),
        }
    }
    Log { contract, topics, data: encode(&plain) }
}

#[derive(Clone)]
pub struct Chain {
    pub id: u64,
    pub head: u64,
    /// By block: one transaction with these logs.
    pub blocks: BTreeMap<u64, Vec<Log>>,
    /// What the registry says now, and at `AS_OF_BLOCK` where it is another.
    pub agent: Vec<Datum>,
    pub agent_then: Option<Vec<Datum>>,
    pub jobs: BTreeMap<u64, Vec<Datum>>,
    pub anchored: Vec<u8>,
    pub has_old_state: bool,
    pub has_receipts: bool,
    pub contracts_with_code: Vec<Address>,
    /// Makes hashes of blocks differ.
    pub branch: u64,
}

impl Chain {
    pub fn transaction(block: u64) -> B256 {
        keccak256(format!("transaction {block}"))
    }

    pub fn hash(&self, block: u64) -> B256 {
        keccak256(format!("block {block} {}", self.branch))
    }

    pub fn time(block: u64) -> u64 {
        1_700_000_000 + 10 * block
    }

    fn block(&self, number: u64) -> Value {
        if number > self.head {
            return Value::Null;
        }
        let transactions: Vec<B256> =
            self.blocks.contains_key(&number).then(|| Self::transaction(number)).into_iter().collect();
        json!({
            "hash": self.hash(number).to_string(), "timestamp": format!("{:#x}", Self::time(number)),
            "transactions": transactions.iter().map(B256::to_string).collect::<Vec<_>>(),
        })
    }

    fn receipt(&self, transaction: &Value) -> Value {
        let found =
            self.blocks.iter().find(|(block, _)| *transaction == Self::transaction(**block).to_string().as_str());
        let Some((block, logs)) = found.filter(|_| self.has_receipts) else { return Value::Null };
        let log = |(place, log): (usize, &Log)| {
            json!({
                "address": contract(log.contract).to_string(), "data": hex::encode_prefixed(&log.data),
                "topics": log.topics.iter().map(B256::to_string).collect::<Vec<_>>(),
                "logIndex": format!("{:#x}", place + 3), "unlike": "other servers",
            })
        };
        json!({
            "transactionHash": transaction, "blockNumber": format!("{block:#x}"), "blockHash": self.hash(*block).to_string(),
            "status": "0x1", "logs": logs.iter().enumerate().map(log).collect::<Vec<_>>(),
        })
    }

    fn call(&self, params: &Value) -> Result<Value, RpcError> {
        let block = u64::from_str_radix(params[1].as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
        if block < self.head && !self.has_old_state {
            return Err(RpcError::Refused("missing trie node".to_owned()));
        }
        let data: Bytes = params[0]["data"].as_str().unwrap().parse().unwrap();
        let number: u64 = U256::from_be_slice(&data[4..36]).try_into().unwrap();
        let to = params[0]["to"].as_str().unwrap();
        let answer = if to == contract("registry").to_string() {
            assert_eq!(data[..4], hex!("2de5aaf7"));
            let then = self.agent_then.as_ref().filter(|_| block == AS_OF_BLOCK);
            encode_struct(then.unwrap_or(&self.agent))
        } else if to == contract("escrow").to_string() {
            assert_eq!(data[..4], hex!("bf22c457"));
            encode_struct(&self.jobs[&number])
        } else {
            assert_eq!((&data[..4], to), (&hex!("cb4799f2")[..], contract("identity8004").to_string().as_str()));
            assert_eq!(data[4..], encode(&[uint(AGENT), text("cv")])[..]);
            encode(&[Datum::Bytes(self.anchored.clone())])
        };
        Ok(hex::encode_prefixed(answer).into())
    }
}

impl Rpc for Chain {
    async fn request(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        let quantity =
            |value: &Value| u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
        match method {
            "eth_chainId" => Ok(format!("{:#x}", self.id).into()),
            "eth_blockNumber" => Ok(format!("{:#x}", self.head).into()),
            "eth_getBlockByNumber" => Ok(self.block(quantity(&params[0]))),
            "eth_getTransactionReceipt" => Ok(self.receipt(&params[0])),
            "eth_getCode" => {
                let has = self.contracts_with_code.iter().any(|address| params[0] == address.to_string().as_str());
                Ok(if has { "0x6001" } else { "0x" }.into())
            }
            _ => self.call(&params),
        }
    }
}
