//! Whether a payment would be accepted.

use super::{expect, market::Market, measure, per_round, voucher};
use crate::{
    bench::Bench,
    jobs::{Comparison, GATEWAY, Goal},
    load,
    rounds::{Contestant, in_turn},
    server::Server,
};
use anyhow::Result;
use serde_json::Value;
use std::net::SocketAddr;

const PATH: &str = "/api/x402/verify";
const BY_RPC: &str = "gateway, the vault is asked";
const NODE: &str = "Fastify + ethers";

pub fn outcome(bench: &Bench, market: &Market) -> Result<Comparison> {
    let mut servers = vec![(GATEWAY, market.gateway(bench)?), (BY_RPC, market.gateway_behind(bench)?)];
    if bench.with_peers {
        servers.extend(market.node(bench)?.map(|server| (NODE, server)));
    }
    let requests = |server: &Server, count: u64| -> Result<Vec<Vec<u8>>> {
        let payments = voucher::payments(&market.payers, count)?;
        Ok(payments.iter().map(|payment| request(server.address(), payment)).collect())
    };
    for (_, server) in &servers {
        expect(server, &requests(server, 1)?.concat(), "\"isValid\":true")?;
    }
    let contestants = servers.iter().map(|(name, server)| {
        Contestant::new(*name, move || measure(bench, server, &requests(server, per_round(bench))?))
    });
    Ok(Comparison {
        title: "The check of a payment",
        how: format!(
            "`POST {PATH}`: a new voucher each time, signed by EIP-712 by one of {} payers without code. Form, terms, nonce, signature, \
             deposit, unlock time and what the payer owes are checked, and nothing is stored. *The vault is asked*: the rows of the \
             vault's events are too old, so a server of the chain is asked, which runs in the benchmark and is not counted. *{NODE}* reads \
             the same rows and checks the signature by `verifyTypedData`.",
            market.payers.end - market.payers.start
        ),
        operation: "check",
        rows: in_turn(bench.scale.rounds, contestants.collect())?,
        goals: vec![Goal::AtMostUs { row: GATEWAY, max: 65.0 }, Goal::PartOf { row: GATEWAY, other: NODE, max: 0.03 }],
    })
}

fn request(address: SocketAddr, payment: &Value) -> Vec<u8> {
    load::post(address, PATH, payment.to_string().as_bytes())
}
