//! A credential as it is read: the members that the steps use.
//!
//! The rule: nothing here is believed. A document that lacks a member which every credential has is no credential at all.

use crate::expected::address;
use alloy_primitives::{Address, B256};
use gateway_audit_verify::strict_json;
use serde_json::{Map, Value};

/// 1,000 claims of the largest size that a gateway signs, and their evidence.
pub const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The largest `limit` of a document.
pub const CLAIMS_MAX: usize = 1000;
/// The request and the delivery of a job.
pub(crate) const ALSO_EVIDENCE_MAX: usize = 2;
/// The largest integer that every reader of JSON has exactly.
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;

/// Why something cannot be checked at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACredential {
    #[error("it has more than {DOCUMENT_BYTES_MAX} bytes")]
    TooLarge,
    #[error("it is no UTF-8")]
    NoText,
    #[error("{0}")]
    NoJson(String),
    #[error("it has no member `{0}` of the right form")]
    Missing(&'static str),
    #[error("it has {0} claims, and {CLAIMS_MAX} are the most")]
    TooManyClaims(usize),
    #[error("it has a number that not every reader has exactly")]
    Number,
    #[error("its `proof` is not one object")]
    Proof,
}

#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub members: Map<String, Value>,
    pub id: String,
    pub kind: String,
    pub trust: String,
    pub evidence: Map<String, Value>,
}

impl Claim {
    pub(crate) fn get(&self, name: &str) -> &Value {
        self.members.get(name).unwrap_or(&Value::Null)
    }

    pub(crate) fn outcome(&self) -> &str {
        self.get("outcome").as_str().unwrap_or_default()
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.trust == "chain"
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub members: Map<String, Value>,
    /// Without one the document is not signed.
    pub proof: Option<Map<String, Value>>,
    pub subject: Map<String, Value>,
    pub summary: Map<String, Value>,
    pub record_meta: Map<String, Value>,
    pub record: Vec<Claim>,
    pub agent_id: u64,
    pub owner: Address,
    pub uri: String,
    pub issued_at: u64,
    pub expires_at: u64,
    pub as_of_block: u64,
    /// Zero where the issuer states none.
    pub as_of_block_hash: B256,
}

impl Document {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, NotACredential> {
        use NotACredential::{Missing, TooManyClaims};
        if bytes.len() > DOCUMENT_BYTES_MAX {
            return Err(NotACredential::TooLarge);
        }
        let text = std::str::from_utf8(bytes).map_err(|_no_text: std::str::Utf8Error| NotACredential::NoText)?;
        let members = strict_json::object(text).map_err(NotACredential::NoJson)?;
        if members.values().any(has_inexact_number) {
            return Err(NotACredential::Number);
        }
        let subject = object(&members, "credentialSubject").ok_or(Missing("credentialSubject"))?;
        let record = subject.get("record").and_then(Value::as_array).ok_or(Missing("credentialSubject.record"))?;
        if record.len() > CLAIMS_MAX {
            return Err(TooManyClaims(record.len()));
        }
        let record: Option<Vec<Claim>> = record.iter().map(claim).collect();
        let evidence = members.get("evidence").and_then(|evidence| evidence.get(0));
        let as_of_block_hash = evidence.and_then(|evidence| evidence.get("asOfBlockHash"));
        let number = |name: &'static str| members.get(name).and_then(Value::as_u64).ok_or(Missing(name));
        Ok(Self {
            proof: proof(&members)?,
            summary: object(&subject, "summary").ok_or(Missing("credentialSubject.summary"))?,
            record_meta: object(&subject, "recordMeta").ok_or(Missing("credentialSubject.recordMeta"))?,
            record: record.ok_or(Missing("credentialSubject.record"))?,
            agent_id: agent_id(&subject).ok_or(Missing("credentialSubject.agent.agentId"))?,
            owner: did(subject.get("id")).map(|(_, owner)| owner).ok_or(Missing("credentialSubject.id"))?,
            uri: members.get("id").and_then(Value::as_str).ok_or(Missing("id"))?.to_owned(),
            issued_at: number("issuedAt")?,
            expires_at: number("expiresAt")?,
            as_of_block: number("asOfBlock")?,
            as_of_block_hash: match as_of_block_hash {
                None | Some(Value::Null) => B256::ZERO,
                Some(hash) => {
                    hash.as_str().and_then(|hash| hash.parse().ok()).ok_or(Missing("evidence[0].asOfBlockHash"))?
                }
            },
            subject,
            members,
        })
    }

    pub(crate) fn get(&self, name: &str) -> &Value {
        self.members.get(name).unwrap_or(&Value::Null)
    }

    /// What the issuer says is not in the record, by kind.
    pub(crate) fn omits(&self, kind: &str) -> bool {
        let omitted = self.record_meta.get("omitted").and_then(Value::as_array);
        omitted.is_some_and(|omitted| omitted.iter().any(|entry| entry.get("type").is_some_and(|name| name == kind)))
    }
}

fn object(parent: &Map<String, Value>, name: &str) -> Option<Map<String, Value>> {
    parent.get(name)?.as_object().cloned()
}

/// One proof, alone or in an array.
fn proof(members: &Map<String, Value>) -> Result<Option<Map<String, Value>>, NotACredential> {
    match members.get("proof") {
        None => Ok(None),
        Some(Value::Object(proof)) => Ok(Some(proof.clone())),
        Some(Value::Array(proofs)) => match proofs.as_slice() {
            [Value::Object(proof)] => Ok(Some(proof.clone())),
            _ => Err(NotACredential::Proof),
        },
        Some(_) => Err(NotACredential::Proof),
    }
}

fn claim(value: &Value) -> Option<Claim> {
    let members = value.as_object()?.clone();
    let text = |name: &str| members.get(name)?.as_str().map(str::to_owned);
    let evidence = object(&members, "evidence")?;
    Some(Claim {
        id: text("id")?,
        kind: text("type")?,
        trust: evidence.get("trust")?.as_str()?.to_owned(),
        evidence,
        members,
    })
}

fn agent_id(subject: &Map<String, Value>) -> Option<u64> {
    subject.get("agent")?.get("agentId")?.as_u64()
}

/// Chain and address of `did:pkh:eip155:<chain>:<address>`.
pub(crate) fn did(value: Option<&Value>) -> Option<(u64, Address)> {
    let (chain, account) = value?.as_str()?.strip_prefix("did:pkh:eip155:")?.split_once(':')?;
    Some((chain.parse().ok()?, address(account)?))
}

fn has_inexact_number(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_none_or(|number| number.abs() > SAFE_INTEGER_MAX),
        Value::Array(items) => items.iter().any(has_inexact_number),
        Value::Object(members) => members.values().any(has_inexact_number),
        _ => false,
    }
}
