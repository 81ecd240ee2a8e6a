//! What a credential says, apart from when it was issued.
//!
//! The rule: a document is a function of its content, its issue and the limit, so that every gateway on the database makes the same
//! bytes of the stored row.

use super::{
    agent::{Agent, Namesake},
    canonical::internal,
    claim::{Claim, stored_claims},
    vocabulary::RELIABILITY,
};
use plugin_api::{Address, AgentId, Hash256, HostError, Wei, format::canonical_json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What is left out of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    #[serde(rename = "type")]
    pub kind: String,
    pub count: u64,
    /// `limit`, `cap`, `size`, `unproven`, `indexing`, `unavailable`.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Content {
    pub agent: Agent,
    /// Of the claim about the state.
    pub namesakes: Vec<Namesake>,
    pub namesake_count: u64,
    /// In the order of the record.
    #[serde(skip_serializing, deserialize_with = "stored_claims")]
    pub claims: Vec<Claim>,
    pub omitted: Vec<Omitted>,
    pub summary: Map<String, Value>,
    /// Kinds that some plugin states.
    pub covers: Vec<String>,
    /// Types of activity whose events are counted as contributions.
    pub contribution_types: Vec<String>,
    pub excludes: Vec<Exclusion>,
    /// In what form the texts of the claims are.
    #[serde(default)]
    pub form: u32,
}

/// All texts are canonical; before, they were in any order.
const CANONICAL_FORM: u32 = 2;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusion {
    pub what: String,
    pub why: String,
}

/// A plugin's claims are missing for now.
pub const INDEXING: &str = "indexing";
pub const UNAVAILABLE: &str = "unavailable";

impl Content {
    /// Whether no plugin's claims are missing for now.
    pub fn is_whole(&self) -> bool {
        !self.omitted.iter().any(|omitted| [INDEXING, UNAVAILABLE].contains(&omitted.reason.as_str()))
    }

    /// Of an agent of which nothing is known.
    pub fn empty() -> Self {
        let agent = Agent {
            agent_id: AgentId(1),
            owner: Address::ZERO,
            name: String::new(),
            slug: String::new(),
            registered_at: 0,
            jobs_completed: 0,
            jobs_failed: 0,
            rating_count: 0,
            rating_sum: 0,
            endpoint: String::new(),
            status: String::new(),
            price_per_job: Wei::ZERO,
            bond: Wei::ZERO,
        };
        Self::of(agent)
    }

    /// Of an agent without claims.
    pub fn of(agent: Agent) -> Self {
        Self {
            agent,
            namesakes: Vec::new(),
            namesake_count: 0,
            claims: Vec::new(),
            omitted: Vec::new(),
            summary: Map::new(),
            covers: Vec::new(),
            contribution_types: Vec::new(),
            excludes: Vec::new(),
            form: CANONICAL_FORM,
        }
    }

    /// The text that [`Self::stored`] reads. The claims go into it as they are.
    pub fn to_text(&self) -> Result<String, HostError> {
        let mut text = serde_json::to_string(self).map_err(internal)?;
        text.reserve(self.claims.iter().map(|claim| claim.json.len() + 1).sum::<usize>() + CLAIMS_MEMBER.len() + 2);
        text.pop();
        text.push_str(CLAIMS_MEMBER);
        for (place, claim) in self.claims.iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            text.push_str(&claim.json);
        }
        text.push_str("]}");
        Ok(text)
    }

    pub fn stored(text: &str) -> Result<Self, HostError> {
        let mut content: Self = serde_json::from_str(text).map_err(internal)?;
        if content.form < CANONICAL_FORM {
            content.claims = content.claims.into_iter().map(Claim::canonical).collect::<Result<_, _>>()?;
            content.form = CANONICAL_FORM;
        }
        Ok(content)
    }

    /// The same as long as no claim and no state changes. What probes count changes with every probe and is left out: it is brought up
    /// to date with the next issue. `form` is that of the documents.
    pub fn fingerprint(&self, form: Hash256) -> Result<Hash256, HostError> {
        let steady = self.claims.iter().filter(|claim| claim.kind != RELIABILITY);
        let leaves: Vec<Hash256> = steady.map(|claim| claim.leaf).collect();
        let mut summary = self.summary.clone();
        summary.remove("uptime");
        let said = json!({
            "agent": self.agent, "namesakes": self.namesakes, "namesakeCount": self.namesake_count, "leaves": leaves,
            "omitted": self.omitted, "summary": summary, "covers": self.covers, "contributionTypes": self.contribution_types,
            "excludes": self.excludes, "form": form,
        });
        Ok(Hash256::keccak(canonical_json(&said)?.as_bytes()))
    }
}

/// Behind the other members of a stored content, none of which is its last.
const CLAIMS_MEMBER: &str = ",\"claims\":[";

/// A content, and when it was issued.
#[derive(Clone, Debug)]
pub struct Issue {
    pub content: Content,
    /// Unix seconds.
    pub issued_at: i64,
    pub as_of_block: i64,
    pub as_of_block_hash: Hash256,
}

/// How long a document is valid.
pub const VALID_S: i64 = 7_776_000;

impl Issue {
    pub fn expires_at(&self) -> i64 {
        self.issued_at + VALID_S
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const CLAIM: &str =
        r#"{"evidence":{"trust":"gateway"},"id":"fmx:1:referrals","leaf":"LEAF","paidOut":1,"type":"Referral"}"#;

    fn content(leaf: Hash256) -> Content {
        let json = CLAIM.replace("LEAF", &leaf.to_string());
        let (kind, trust) = ("Referral".into(), "gateway".into());
        let claim = Claim { id: "fmx:1:referrals".to_owned(), kind, trust, rating: None, leaf, json };
        Content { claims: vec![claim.clone(), claim], ..Content::empty() }
    }

    #[test]
    fn a_content_is_read_as_it_was_stored() {
        for content in [Content::empty(), content(Hash256([3; 32]))] {
            assert_eq!(Content::stored(&content.to_text().unwrap()).unwrap(), content);
        }
    }

    /// Gateways before 0.7 stored claims in the order in which they were made.
    #[test]
    fn a_content_of_an_earlier_gateway_becomes_canonical() {
        let content = content(Hash256([3; 32]));
        let canonical = &content.claims.first().unwrap().json;
        let other = canonical.replace(r#","type":"Referral"}"#, "}").replace('{', r#"{"type":"Referral","#);
        let other = other.replacen(r#""evidence":{"type":"Referral","#, r#""evidence":{"#, 1);
        let text = content.to_text().unwrap().replace(canonical, &other).replace(r#""form":2"#, r#""form":1"#);
        assert!(text.contains(&other) && !text.contains(canonical), "{text}");
        assert_eq!(Content::stored(&text).unwrap(), content);
    }

    #[test]
    fn the_fingerprint_follows_from_the_leaves() {
        let of = |content: &Content| content.fingerprint(Hash256([0; 32])).unwrap();
        let (first, mut second) = (content(Hash256([3; 32])), content(Hash256([4; 32])));
        assert_ne!(of(&first), of(&second));
        for claim in &mut second.claims {
            claim.kind = RELIABILITY.into();
        }
        assert_eq!(of(&second), of(&Content::empty()), "what probes count is no part of it");
    }
}
