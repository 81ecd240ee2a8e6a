//! Claims as they stand in a credential.

use super::{
    canonical::{HashedObject, Part, internal},
    vocabulary::Kind,
};
use plugin_api::{
    Address, AgentId, Hash256, HostError,
    format::canonical_json,
    point::{CvClaim, json_bytes},
};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value, json, value::RawValue};
use std::{borrow::Cow, collections::HashMap};

/// Of the members of a claim, with notes.
const BYTES_MAX: usize = CvClaim::BYTES_MAX + 1024;

/// What a claim rests on: a canonical text, and the trust that it names.
#[derive(Clone, Debug)]
pub struct ClaimEvidence {
    pub trust: &'static str,
    pub json: String,
}

/// A claim that was checked, with its evidence, but without leaf.
#[derive(Clone, Debug)]
pub struct CheckedClaim {
    pub kind: &'static Kind,
    pub id: String,
    pub stated_at: Option<i64>,
    pub fields: Map<String, Value>,
    pub evidence: ClaimEvidence,
    /// Canonical texts.
    pub also_evidence: Vec<String>,
    /// Of the deciding event.
    pub block: Option<i64>,
    /// All logs that prove it, by transaction and index: none of them proves another claim of the kind.
    pub logs: Vec<(Hash256, i64)>,
}

impl CheckedClaim {
    /// Whether its members, with those that logs fill in, leave room for the others of a record.
    pub fn is_within_bounds(&self) -> bool {
        json_bytes(&self.fields) <= BYTES_MAX
    }

    /// The place in the record: by block, those without one last.
    pub fn order(&self) -> (bool, i64, bool, i64, &str) {
        let (block, stated_at) = (self.block.unwrap_or_default(), self.stated_at.unwrap_or_default());
        (self.block.is_none(), block, self.stated_at.is_none(), stated_at, &self.id)
    }

    /// With its leaf, which is the hash of all other members. `known` are claims of an earlier record by their ids: of one that says the same
    /// the leaf is not computed again.
    pub fn into_claim(self, known: &HashMap<&str, &Claim>) -> Result<Claim, HostError> {
        let Self { kind, id, stated_at, fields, evidence, also_evidence, .. } = self;
        let (id_json, kind_json, stated_at) = (json!(id), json!(kind.name), json!(stated_at));
        let proven = json!(evidence.trust == "chain");
        let also: Vec<&str> = also_evidence.iter().map(String::as_str).collect();
        let mut members: Vec<(&str, Part<'_>)> =
            fields.iter().map(|(name, value)| (name.as_str(), Part::Value(value))).collect();
        members.extend([
            ("id", Part::Value(&id_json)),
            ("type", Part::Value(&kind_json)),
            ("statedAt", Part::Value(&stated_at)),
            ("evidence", Part::Json(&evidence.json)),
            ("proven", Part::Value(&proven)),
        ]);
        if !also.is_empty() {
            members.push(("alsoEvidence", Part::Array(also)));
        }
        let object = HashedObject::new(members, LEAF)?;
        let known = known.get(id.as_str()).filter(|known| object.is_in(&known.json));
        let leaf = known.map_or_else(|| object.keccak(), |known| known.leaf);
        let rating = fields.get("rating").and_then(Value::as_i64);
        let (kind, trust) = (kind.name.into(), evidence.trust.into());
        Ok(Claim { id, kind, trust, rating, leaf, json: object.with(leaf) })
    }
}

const LEAF: &str = "leaf";

/// A claim of a record: its canonical text with the leaf, and what documents say about claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub id: String,
    pub kind: Cow<'static, str>,
    pub trust: Cow<'static, str>,
    pub rating: Option<i64>,
    pub leaf: Hash256,
    pub json: String,
}

impl Claim {
    /// As it was stored. Texts that are not canonical are those of gateways before 0.7.
    fn stored(json: &RawValue) -> Result<Self, HostError> {
        #[derive(Deserialize)]
        struct Members {
            id: String,
            #[serde(rename = "type")]
            kind: String,
            evidence: Evidence,
            #[serde(default)]
            rating: Value,
            leaf: Hash256,
        }
        #[derive(Deserialize)]
        struct Evidence {
            trust: String,
        }
        let Members { id, kind, evidence, rating, leaf } = serde_json::from_str(json.get()).map_err(internal)?;
        let (kind, trust, rating) = (kind.into(), evidence.trust.into(), rating.as_i64());
        Ok(Self { id, kind, trust, rating, leaf, json: json.get().to_owned() })
    }

    /// The same with its text in the canonical form.
    pub fn canonical(self) -> Result<Self, HostError> {
        let value: Value = serde_json::from_str(&self.json).map_err(internal)?;
        Ok(Self { json: canonical_json(&value)?, ..self })
    }
}

/// Claims as they were stored.
pub fn stored_claims<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Claim>, D::Error> {
    let texts = Vec::<&'de RawValue>::deserialize(deserializer)?;
    texts.into_iter().map(|text| Claim::stored(text).map_err(|error| D::Error::custom(error.message))).collect()
}

/// `fmx:<agentId>:<rest>`.
pub fn claim_id(agent: AgentId, rest: &str) -> String {
    format!("fmx:{agent}:{rest}")
}

/// A claim that no event proves.
pub fn asserted(
    kind: &'static Kind,
    id: String,
    stated_at: Option<i64>,
    fields: Map<String, Value>,
    source: Option<String>,
    note: Option<String>,
) -> Option<CheckedClaim> {
    let (trust, provenance) = kind.asserted?;
    let mut evidence = Map::new();
    evidence.insert("trust".to_owned(), trust.into());
    evidence.insert("provenance".to_owned(), provenance.into());
    evidence.insert("proven".to_owned(), false.into());
    evidence.insert("method".to_owned(), "GET".into());
    evidence.extend(source.map(|source| ("source".to_owned(), source.into())));
    evidence.extend(note.map(|note| ("note".to_owned(), note.into())));
    let evidence = ClaimEvidence { trust, json: canonical_json(&Value::Object(evidence)).ok()? };
    let (also_evidence, logs) = (Vec::new(), Vec::new());
    Some(CheckedClaim { kind, id, stated_at, fields, evidence, also_evidence, block: None, logs })
}

/// The evidence of the agent's state: a call that anyone repeats.
pub fn state_evidence(agent: AgentId, registry: Address, chain_id: u64) -> Result<ClaimEvidence, HostError> {
    let bind = |field: &str, reference: &str| {
        let call = json!({
            "address": registry, "fn": "getAgent(uint256)", "args": ["subject.agentId"], "field": field,
        });
        json!({ "call": call, "equals": reference })
    };
    let binds = [
        bind("owner", "claim.owner"),
        bind("endpoint", "claim.endpoint"),
        bind("metadataURI", "claim.metadataURI"),
        bind("pricePerJob", "claim.pricePerJobWei"),
        bind("bond", "claim.bondWei"),
        bind("status", "claim.status"),
    ];
    let evidence = json!({
        "trust": "chain",
        "provenance": "chain",
        "proven": true,
        "chainId": chain_id,
        "address": registry,
        "contract": "registry",
        "method": "eth_call",
        "call": format!("getAgent({agent})"),
        "bind": binds,
    });
    Ok(ClaimEvidence { trust: "chain", json: canonical_json(&evidence)? })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn checked(jobs: i64) -> CheckedClaim {
        let kind = Kind::find("Referral").unwrap();
        let fields = plugin_api::point::members([("referred", json!(jobs)), ("paidOut", json!(1))]);
        let mut claim = asserted(kind, "fmx:1:referrals".to_owned(), Some(7), fields, None, None).unwrap();
        claim.also_evidence = vec!["{}".to_owned()];
        claim
    }

    #[test]
    fn a_leaf_is_the_hash_of_the_other_members() {
        let claim = checked(2).into_claim(&HashMap::new()).unwrap();
        let mut value: Value = serde_json::from_str(&claim.json).unwrap();
        assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), claim.json);
        let leaf = value.as_object_mut().unwrap().remove("leaf").unwrap();
        assert_eq!(leaf, json!(claim.leaf));
        assert_eq!(Hash256::keccak(&serde_json_canonicalizer::to_vec(&value).unwrap()), claim.leaf);
    }

    #[test]
    fn a_leaf_is_kept_while_the_claim_says_the_same() {
        let first = checked(2).into_claim(&HashMap::new()).unwrap();
        // No hash: it tells which leaf was taken over.
        let marked = Hash256([9; 32]);
        let json = first.json.replace(&first.leaf.to_string(), &marked.to_string());
        let kept = Claim { leaf: marked, json, ..first.clone() };
        let known = HashMap::from([(kept.id.as_str(), &kept)]);
        assert_eq!(checked(2).into_claim(&known).unwrap().leaf, marked);
        let other = checked(3).into_claim(&known).unwrap();
        assert_ne!(other.leaf, marked);
        assert_eq!(other, checked(3).into_claim(&HashMap::new()).unwrap());
    }

    #[test]
    fn a_stored_claim_is_the_same_in_any_order_of_its_members() {
        let claim = checked(2).into_claim(&HashMap::new()).unwrap();
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(Claim::stored(&raw(&claim.json)).unwrap(), claim);
        let mut members: Vec<(String, Value)> =
            serde_json::from_str::<Map<String, Value>>(&claim.json).unwrap().into_iter().collect();
        members.reverse();
        let reversed = serde_json::to_string(&members.into_iter().collect::<Map<String, Value>>()).unwrap();
        assert_ne!(reversed, claim.json);
        assert_eq!(Claim::stored(&raw(&reversed)).unwrap().canonical().unwrap(), claim);
    }
}
