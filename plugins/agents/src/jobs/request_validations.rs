//! The oracle: requests a validation of a delivery when the agent has named the gateway's key as its validator. The rule: the
//! request, its place in the limits and the place in the activity log are written in one transaction, and each output of a job is
//! requested once.

use crate::{
    Agents,
    contributions::oracle::{ROLE, address},
    model::{Delivery, names_validator},
    store::oracle::{self, DeliveredJob},
};
use plugin_api::{
    Address, HostError, Job, PluginContext, Tx,
    chain::{ContractCall, GasEstimate, MAIN as MAIN_CHAIN, TransactionRequest},
};
use serde_json::json;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(10);
const EVENTS_PER_READ: u32 = 50;
/// Older deliveries are left alone: while old blocks are indexed, or after a long time without a key, most are settled already.
const AGE_MAX_S: i64 = 86_400;
/// What a request may use at most.
const GAS_MAX: u64 = 500_000;
const REQUEST: &str = "validationRequest(address,uint256,string,bytes32)";
const METADATA: &str = "getMetadata(uint256,string) returns (bytes)";

pub fn job() -> Job<Agents> {
    Job::every("request_validations", INTERVAL, request_validations)
}

/// What a request needs.
#[derive(Clone, Copy, Debug)]
struct Oracle {
    validator: Address,
    identity: Address,
    validation: Address,
}

async fn request_validations(cx: PluginContext<Agents>) -> Result<(), HostError> {
    match follow(&cx).await {
        // Nothing was written: the next run looks at the same deliveries.
        Err(error) if error.is_transient() => {
            cx.debug(&format!("no validation can be requested now: {error}"));
            Ok(())
        }
        other => other,
    }
}

async fn follow(cx: &PluginContext<Agents>) -> Result<(), HostError> {
    let Some(validator) = address(cx).await? else { return Ok(()) };
    let contract = |key| cx.environment().contract(key);
    let (Some(identity), Some(validation)) = (contract("identity8004"), contract("validation8004")) else {
        return Ok(());
    };
    let oracle = Oracle { validator, identity, validation };
    loop {
        let db = cx.db();
        let before = oracle::looked_at(&db).await?;
        let events = oracle::deliveries(&db, before, cx.now_s() - AGE_MAX_S, EVENTS_PER_READ).await?;
        let Some(last) = events.last().map(|event| event.id) else { return Ok(()) };
        let is_last = events.len() < EVENTS_PER_READ as usize;
        let wanted = oracle.wanted(cx, &events).await?;
        let config = &cx.plugin().config;
        let limits = (config.oracle_per_agent_per_day, config.oracle_per_day);
        let is_ours = cx
            .write(async move |tx| {
                if !oracle::advance(tx, before, last).await? {
                    return Ok(false);
                }
                for delivery in &wanted {
                    oracle.request(tx, delivery, limits).await?;
                }
                Ok(true)
            })
            .await?;
        if is_last || !is_ours {
            return Ok(());
        }
    }
}

impl Oracle {
    /// Those of the deliveries whose agent has named this validator, and for which the contract would take the request.
    async fn wanted(self, cx: &PluginContext<Agents>, events: &[DeliveredJob]) -> Result<Vec<Delivery>, HostError> {
        let min_amount = cx.plugin().config.oracle_min_amount_wei;
        let mut deliveries: Vec<Delivery> = Vec::new();
        for event in events {
            let delivery = oracle::delivery(&cx.db(), event.job).await?;
            let new = delivery.filter(|delivery| delivery.amount >= min_amount && !deliveries.contains(delivery));
            deliveries.extend(new);
        }
        if deliveries.is_empty() {
            return Ok(Vec::new());
        }
        let call =
            |delivery: &Delivery| ContractCall::new(self.identity, METADATA).arg(delivery.agent_id)?.arg("validator");
        let calls = deliveries.iter().map(call).collect::<Result<Vec<_>, _>>()?;
        let metadata = cx.chain(MAIN_CHAIN).calls::<String>(calls, None).await?;
        let mut wanted = Vec::new();
        for (delivery, metadata) in deliveries.into_iter().zip(metadata) {
            let is_named = metadata.is_ok_and(|metadata| names_validator(&metadata, self.validator));
            if is_named && self.would_succeed(cx, &delivery).await? {
                wanted.push(delivery);
            }
        }
        Ok(wanted)
    }

    async fn would_succeed(self, cx: &PluginContext<Agents>, delivery: &Delivery) -> Result<bool, HostError> {
        let estimate = cx.chain(MAIN_CHAIN).estimate(self.validator, &self.transaction(delivery)?).await?;
        let problem = match estimate {
            GasEstimate::Gas(gas) if gas <= GAS_MAX => return Ok(true),
            GasEstimate::Gas(gas) => format!("it takes {gas} gas"),
            GasEstimate::Fails(reason) => reason,
        };
        cx.info(&format!("no validation is requested of the output of job {}: {problem}", delivery.job_id));
        Ok(false)
    }

    fn transaction(self, delivery: &Delivery) -> Result<TransactionRequest, HostError> {
        let Delivery { agent_id, output_hash, .. } = delivery;
        let arguments = [json!(self.validator), json!(agent_id), json!(delivery.request_uri()), json!(output_hash)];
        let request = TransactionRequest::new(ROLE, delivery.key(), self.validation).call(REQUEST, &arguments)?;
        Ok(request.gas(GAS_MAX))
    }

    async fn request(self, tx: &Tx, delivery: &Delivery, limits: (i64, i64)) -> Result<(), HostError> {
        if !oracle::count(tx, delivery.agent_id, limits).await? {
            return Ok(());
        }
        let intent = self.transaction(delivery)?.record(tx).await?;
        oracle::insert(tx, delivery, intent).await.map(drop)
    }
}
