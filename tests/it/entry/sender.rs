//! A key that a gateway sends with: what of it is in the chain, and whether the gateway's journal says the same.

use crate::crash::query;
use gateway_tests::{
    devnet::Devnet,
    process::{LIMIT, Setup},
};
use plugin_testing::{Value, json};
use std::{collections::BTreeSet, time::Instant};

pub struct Sender<'n> {
    devnet: &'n Devnet,
    /// The test key.
    key: &'static str,
    /// Its transactions that the gateway did not send.
    elsewhere: BTreeSet<String>,
}

impl<'n> Sender<'n> {
    pub fn new(devnet: &'n Devnet, key: &'static str) -> Self {
        Self { devnet, key, elsewhere: BTreeSet::new() }
    }

    /// Sends a transaction that the gateway does not know of, unless one of the gateway's has come to the node just before it with the
    /// same nonce.
    pub async fn send_elsewhere(&mut self) {
        let from = self.devnet.account(self.key).unwrap();
        let transaction = json!({ "from": from, "to": from, "value": "0x0" });
        match self.devnet.ask("eth_sendTransaction", json!([transaction])).await {
            Ok(hash) => drop(self.elsewhere.insert(hash)),
            Err(error) => assert!(error.to_string().contains("replacement transaction underpriced"), "{error}"),
        }
    }

    /// Its transactions in the chain, as it is now. Another run beside this one may reorganise it meanwhile: what was read and is no longer
    /// there is read anew.
    pub async fn sent(&self) -> Vec<Value> {
        let from = self.devnet.account(self.key).unwrap().to_lowercase();
        let read = async |block: usize| {
            self.devnet.call("eth_getBlockByNumber", json!([format!("{block:#x}"), true])).await.unwrap()
        };
        let (started, mut blocks) = (Instant::now(), Vec::<Value>::new());
        loop {
            assert!(
                started.elapsed() < LIMIT,
                "{} blocks of the chain are read, and others come in their place",
                blocks.len()
            );
            let block = read(blocks.len()).await;
            let Some(last) = blocks.last() else {
                blocks.push(block);
                continue;
            };
            let is_next = block["parentHash"] == last["hash"];
            if is_next {
                blocks.push(block);
            } else if block.is_null() && self.devnet.head().await.unwrap() == blocks.len() as u64 - 1 {
                if read(blocks.len() - 1).await["hash"] == last["hash"] {
                    break;
                }
                blocks.pop();
            } else {
                blocks.pop();
            }
        }
        let transactions = blocks.iter().flat_map(|block| block["transactions"].as_array().unwrap());
        transactions.filter(|one| one["from"].as_str().unwrap().to_lowercase() == from).cloned().collect()
    }

    /// See the function of this name.
    pub async fn is_as_the_journal_says(&self, setup: &Setup) {
        let sent = self.sent().await.iter().map(|one| one["hash"].as_str().unwrap().to_owned()).collect();
        is_as_the_journal_says(setup, &sent, &self.elsewhere).await;
    }
}

/// Every transaction of a key in the chain is one of the journal's, or was sent elsewhere, and what the journal calls final is in the chain.
pub async fn is_as_the_journal_says(setup: &Setup, sent: &BTreeSet<String>, elsewhere: &BTreeSet<String>) {
    let known = "SELECT a.hash FROM host_tx_attempts a JOIN host_tx_intents i ON i.id = a.intent";
    let finals = "SELECT hash FROM host_tx_intents WHERE state = 'final' AND block IS NOT NULL";
    let (known, finals) = (hashes(setup, known).await, hashes(setup, finals).await);
    let unknown: Vec<&String> =
        sent.iter().filter(|hash| !known.contains(*hash) && !elsewhere.contains(*hash)).collect();
    assert!(unknown.is_empty(), "the journal does not know {unknown:?}");
    let missing: Vec<&String> = finals.difference(sent).collect();
    assert!(missing.is_empty(), "the chain does not know {missing:?}");
}

async fn hashes(setup: &Setup, sql: &'static str) -> BTreeSet<String> {
    query(setup, sql).await.into_iter().map(|row| row[0].clone()).collect()
}
