//! The proof of a credential, and how anyone verifies one.

use super::{
    document::{Document, Publisher, contracts, did, hashing, iso},
    typed_data::TypedData,
};
use plugin_api::Address;
use serde_json::{Value, json};

/// Who signs.
pub enum SignedBy<'s> {
    /// The gateway's key, with the signature.
    Gateway(Address, &'s str),
    /// The agent's owner, who has yet to sign.
    Owner(Address),
}

/// A type of our own: `DataIntegrityProof` promises a multibase signature over the canonical document, which this is not.
pub const TYPE: &str = "ServiceAgentCVEip712Proof2025";

pub fn proof(typed_data: &TypedData<'_>, signed_by: &SignedBy<'_>) -> Value {
    let (signer, value) = match signed_by {
        SignedBy::Gateway(signer, signature) => (*signer, Some(*signature)),
        SignedBy::Owner(owner) => (*owner, None),
    };
    let mut proof = json!({
        "type": TYPE,
        "cryptosuite": "eip712-jcs-2026",
        "cryptosuiteNote": "a signature (EIP-712) over the struct AgentCV, which holds the hash of the document's canonical JSON; no \
            suite of Data Integrity",
        "created": iso(typed_data.document.issued_at),
        "proofPurpose": "assertionMethod",
        "eip712": typed_data.json(),
        "digest": typed_data.digest(),
        "verificationMethod": format!("{}#blockchainAccountId", did(typed_data.chain_id, signer)),
        "proofValue": value,
    });
    match signed_by {
        SignedBy::Gateway(..) => {
            proof["attests"] =
                "that this gateway read these claims at asOfBlock; those of trust `chain` prove themselves".into();
            proof["signerEphemeral"] = false.into();
        }
        SignedBy::Owner(_) => {
            proof["sign"] = format!(
                "sign eip712 with the owner's key (eth_signTypedData_v4) and put the 65 bytes into proofValue as 0x and 130 hex digits; then \
                 anchor abi.encode(documentHash, uri) under the metadata key `cv` of the identity registry. This uri keeps naming the \
                 document, and tells the gateway which one it has to keep: {}",
                anchored_uri(typed_data.document)
            )
            .into();
        }
    }
    proof
}

/// Where the document is answered once it is anchored. Its limit is in it, unless it is the default one.
fn anchored_uri(document: &Document) -> String {
    let Document { uri, hash, .. } = document;
    let separator = if uri.contains('?') { '&' } else { '?' };
    format!("{uri}{separator}document={hash}")
}

/// The document of `/api/cv/{agent}/verify`.
pub fn recipe(publisher: &Publisher<'_>, typed_data: &TypedData<'_>) -> Value {
    let (environment, document) = (publisher.environment, typed_data.document);
    let mut eip712 = typed_data.json();
    eip712["digest"] = json!(typed_data.digest());
    let mut pinned = serde_json::Map::new();
    pinned.insert(
        "note".to_owned(),
        "compare with your own list, from a source that you trust: never with this document".into(),
    );
    pinned.extend(contracts(environment));
    json!({
        "v": 1,
        "agentId": document.agent_id,
        "subject": did(environment.chain_id, document.owner),
        "chainId": environment.chain_id,
        "rpc": publisher.rpc,
        "explorer": publisher.explorer,
        "credential": document.uri,
        "claimsRoot": document.claims_root,
        "documentHash": document.hash,
        "asOfBlock": document.as_of_block,
        "signer": publisher.signer,
        "signerEphemeral": false,
        "eip712": eip712,
        "hashing": hashing(),
        "steps": steps(),
        "contracts": pinned,
        "trustBoundary": trust_boundary(),
        "commands": commands(publisher, document),
        "portability": "the credential is a file: it verifies without this gateway, with any node of the chain and the list of contracts",
    })
}

/// Number, name, what to do, and more.
fn steps() -> Vec<Value> {
    let step = |name: &str, to_do: &str, more: Value| {
        let mut step = json!({ "n": 0, "name": name, "do": to_do });
        if let (Some(step), Some(more)) = (step.as_object_mut(), more.as_object()) {
            step.extend(more.clone());
        }
        step
    };
    let mut steps = vec![
        step(
            "shape",
            "the first element of @context is the VC 2.0 context, type contains ServiceAgentCV, validFrom <= now < validUntil",
            json!({ "fails": "an expired document is stale, not forged" }),
        ),
        step(
            "documentHash",
            "recompute documentHash; it equals the document's and that of proof.eip712.message",
            json!({ "must": "equal both" }),
        ),
        step(
            "claimsRoot",
            "recompute the leaf of each claim, and fold the leaves",
            json!({ "must": "equal claimsRoot" }),
        ),
        step(
            "signature",
            "recompute the EIP-712 digest with your own domain and types, and recover the signer of proofValue",
            json!({ "must": "be the agent's owner, or an issuer that you pinned before", "fails": "never learn the issuer's key from the issuer" }),
        ),
        step(
            "aggregate cross-check",
            "call getAgent(agentId) of the registry, at asOfBlock where the node has that state",
            json!({
                "must": "summary.jobsCompleted, ratingCount and ratingSum do not exceed the registry's, jobsFailed is not below it, and the \
                    jobs in outcome Completed or Resolved do not exceed jobsCompleted",
                "note": "the registry counts a resolved job as completed only when the agent won it: OutcomeRecorded of its transaction \
                    says so. Counters that only moved on since are stale",
            }),
        ),
        step(
            "pin the contracts",
            "look up each cited address in your own list, by the contract's name",
            json!({ "must": "be in it" }),
        ),
        step(
            "per claim",
            "for each claim of trust chain: the receipt has status 1, the log is found by blockLogIndex, address and topic0 match, and topic0 \
                is the hash of the event's text; decode it and compare each member that it tells, and the binds",
            json!({ "must": "hold for each; one log proves one claim of a kind" }),
        ),
        step(
            "mutable state",
            "endpoint, status, pricePerJob and bond of AgentState equal what the registry answers now",
            json!({ "fails": "a difference is stale: the state moved on" }),
        ),
        step("trust floor", "drop the claims below the trust that you want: chain, gateway, selfAttested", json!({})),
        step(
            "supersession",
            "getMetadata(agentId, \"cv\") of the identity registry is abi.encode(bytes32 documentHash, string uri)",
            json!({ "note": "an equal hash is current, another one superseded, empty was never anchored" }),
        ),
        step(
            "completeness",
            "recordMeta.omitted is empty and recordMeta.scope covers what you need",
            json!({ "note": "attested, not proven" }),
        ),
    ];
    for (number, step) in (1..).zip(&mut steps) {
        step["n"] = json!(number);
    }
    steps
}

fn trust_boundary() -> Value {
    json!({
        "chainProves": [
            "that the events of claims of trust chain were logged by the cited contracts, and what they say",
            "the registry's counters and the agent's state, by a call",
        ],
        "gatewayAsserts": [
            "that the record is complete for its scope",
            "claims of trust gateway: contributions, reliability, referrals",
            "sums of the summary beyond the registry's counters",
        ],
        "operatorDeclares": ["capabilities, model, price per call and the content of the card: claims of trust selfAttested"],
        "neverProved": [
            "that payers are independent of the owner",
            "the quality of the work beyond the rating that a payer gave",
            "who is behind an address",
        ],
    })
}

fn commands(publisher: &Publisher<'_>, document: &Document) -> Vec<String> {
    let base_url = &publisher.environment.base_url;
    let agent = document.agent_id;
    let mut commands = vec![
        format!("curl -sf '{}'", document.uri),
        format!(
            "curl -sf '{}' | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d[\"documentHash\"], d[\"claimsRoot\"])'",
            document.uri
        ),
        format!("curl -sf '{base_url}/api/ns/aicv/v1/schema.json'"),
    ];
    if let (Some(rpc), Some(registry)) = (publisher.rpc.first(), publisher.environment.contract("registry")) {
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_call\",\"params\":[{{\"to\":\"{registry}\",\"data\":\"0x2de5aaf7{agent:064x}\"}},\"latest\"]}}",
            agent = agent.0
        );
        commands.push(format!("curl -sf -H 'content-type: application/json' -d '{call}' '{rpc}'"));
    }
    commands
}
