//! What public libraries say of credentials: jsonld, @digitalbazaar/vc, ajv, ethers and viem, jsonschema, jsonschema_rs and eth-account.
//! `tests/clients/public_verifiers.mjs` and `.py` ask them.

use super::{VALID, World, record};
use crate::{
    all_plugins::played_economy::{AGENTS, PURSER},
    e2e::{Site, ask, node, python},
};
use alloy_primitives::Address;
use plugin_testing::{Value, json};

/// What is changed, and how; the number is the place of a claim about a job.
type Change = (&'static str, fn(&mut Value, usize));

/// Documents that the schema does not allow.
const MALFORMED: [Change; 7] = [
    ("a number as a time", |document, _| document["validFrom"] = 5.into()),
    ("no issuer", |document, _| drop(document.as_object_mut().unwrap().remove("issuer"))),
    ("an unknown kind", |document, job| record(document)[job]["type"] = "Job".into()),
    ("an unknown member", |document, job| record(document)[job]["stars"] = 5.into()),
    ("a number as an amount", |document, job| record(document)[job]["amountWei"] = 5.into()),
    ("an unknown trust", |document, job| record(document)[job]["evidence"]["trust"] = "surely".into()),
    ("a contract of nobody", |document, job| {
        record(document)[job]["evidence"]["address"] = Address::repeat_byte(7).to_checksum(None).into();
    }),
];

/// Documents that were not signed like this.
const FORGED: [Change; 7] = [
    ("a digit of the signature", |document, _| {
        let text = document["proof"]["proofValue"].as_str().unwrap();
        let digit = if text.as_bytes()[40] == b'0' { '1' } else { '0' };
        document["proof"]["proofValue"] = format!("{}{digit}{}", &text[..40], &text[41..]).into();
    }),
    ("a member of a claim", |document, job| add_one(&mut record(document)[job]["jobId"])),
    ("a letter of the name", |document, _| {
        let name = document["credentialSubject"]["name"].as_str().unwrap().to_owned();
        document["credentialSubject"]["name"] = format!("{name}.").into();
    }),
    ("the block", |document, _| add_one(&mut document["asOfBlock"])),
    ("the end", |document, _| add_one(&mut document["expiresAt"])),
    ("a claim less", |document, job| drop(record(document).remove(job))),
    ("the identity registry", |document, _| {
        document["credentialSubject"]["agent"]["identityRegistry"] = Address::repeat_byte(7).to_checksum(None).into();
    }),
];

fn add_one(number: &mut Value) {
    *number = (number.as_u64().unwrap() + 1).into();
}

fn changed(right: &Value, job: usize, changes: &[Change]) -> Vec<Value> {
    let changed = changes.iter().map(|(what, change)| {
        let mut document = right.clone();
        change(&mut document, job);
        json!({ "what": what, "document": document })
    });
    changed.collect()
}

pub async fn agree(world: &World, right: &Value, job: usize) {
    let site = Site::of(&world.economy.gateway);
    let owned = super::number_of("GATEWAY_TEST_AGENTS", AGENTS) + 1;
    let unsigned = site.get(&format!("/api/cv/{owned}/credential.json?signer=owner")).await.json();
    let mut question = json!({
        "credentials": world.credentials,
        "malformed": changed(right, job, &MALFORMED),
        "forged": changed(right, job, &FORGED),
        "unsigned": unsigned,
        "ownerKey": world.economy.devnet.key(PURSER).unwrap().private_key,
    });
    let mut told = ask(node("public_verifiers.mjs"), &question).await;
    let owner_signed = told["ownerSigned"].take();
    let counts = |valid: usize| (json!(valid), json!(MALFORMED.len()), json!(FORGED.len()));
    let counted = |told: &Value| (told["valid"].clone(), told["malformed"].clone(), told["forged"].clone());
    assert_eq!(counted(&told), counts(world.credentials.len()));
    question["ownerSigned"] = owner_signed.clone();
    let told = ask(python("public_verifiers.py"), &question).await;
    assert_eq!(counted(&told), counts(world.credentials.len() + 1));
    signed_by_owner_is_valid(world, &owner_signed).await;
}

/// What a wallet made of the scaffold needs no issuer.
async fn signed_by_owner_is_valid(world: &World, credential: &Value) {
    let stranger = world.liar();
    let (program, report) = world.program(credential, &stranger);
    let said = world.python(&[credential.to_string().into_bytes()], &stranger).await;
    assert_eq!((program, said[0].0), (VALID, VALID), "{report:#}\n{said:?}");
}
