//! Reads answers of the gateway with the types of crates.io's `x402-types`, and writes payments with them.
//!
//! Standard input: a JSON object with `required`, a body of 402 of version 1, `required2`, one of version 2, and `signed`, the voucher
//! with its signature. Or one with `answers`, which has `supported`, `verified`, `refused` and `settled`.
//! Standard output: `payment` and `payment2`, values for a payment header in JSON, and `request`, a body for verify and settle; or what the
//! answers say.

use serde_json::{Value, from_value, json};
use std::{error::Error, io};
use x402_types::proto::{SupportedResponse, v1, v2};

fn main() -> Result<(), Box<dyn Error>> {
    let input: Value = serde_json::from_reader(io::stdin())?;
    let output = match input.get("answers") {
        Some(answers) => read(answers)?,
        None => write(&input)?,
    };
    println!("{output}");
    Ok(())
}

fn write(input: &Value) -> Result<Value, Box<dyn Error>> {
    let required: v1::PaymentRequired = from_value(input["required"].clone())?;
    let terms = required.accepts.into_iter().next().ok_or("version 1 offers nothing")?;
    let payment = v1::PaymentPayload {
        x402_version: v1::X402Version1,
        scheme: terms.scheme.clone(),
        network: terms.network.clone(),
        payload: input["signed"].clone(),
    };
    let request = v1::VerifyRequest {
        x402_version: v1::X402Version1,
        payment_payload: payment.clone(),
        payment_requirements: terms,
    };

    let required: v2::PaymentRequired = from_value(input["required2"].clone())?;
    let accepted: v2::PaymentRequirements = required.accepts.into_iter().next().ok_or("version 2 offers nothing")?;
    let payment2 = v2::PaymentPayload {
        accepted,
        payload: input["signed"].clone(),
        resource: required.resource,
        x402_version: v2::X402Version2,
        extensions: v2::ExtensionsJson::new(),
    };
    Ok(json!({ "payment": payment, "payment2": payment2, "request": request }))
}

fn read(answers: &Value) -> Result<Value, Box<dyn Error>> {
    let supported: SupportedResponse = from_value(answers["supported"].clone())?;
    let kinds: Vec<Value> = supported.kinds.iter().map(|kind| json!([kind.x402_version, kind.network])).collect();
    let v1::VerifyResponse::Valid { payer } = from_value(answers["verified"].clone())? else {
        return Err("it is not valid".into());
    };
    let v1::VerifyResponse::Invalid { reason, .. } = from_value(answers["refused"].clone())? else {
        return Err("it is valid".into());
    };
    let v1::SettleResponse::Success { payer: settled, network, .. } = from_value(answers["settled"].clone())? else {
        return Err("it is not settled".into());
    };
    Ok(json!({ "kinds": kinds, "payer": payer, "reason": reason, "settled": settled, "network": network }))
}
