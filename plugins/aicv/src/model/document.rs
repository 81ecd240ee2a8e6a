//! The credential document.

use super::{
    canonical::{HashedObject, Part},
    claim::Claim,
    content::{Content, Issue, Omitted},
    links::{self, Served},
    tree,
    vocabulary::{ESCROW_JOB, KINDS},
};
use plugin_api::{
    Address, AgentId, Hash256, HostError, contracts::registry::AgentName, format::canonical_json, handles::Environment,
    point::members,
};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, sync::Arc};

pub const LIMIT_DEFAULT: u32 = 200;
/// No document has more claims.
pub const LIMIT_MAX: u32 = 1000;

/// What a document says of the gateway.
#[derive(Clone, Debug)]
pub struct Publisher<'e> {
    pub environment: &'e Environment,
    pub served: Served,
    /// The address of the gateway's key.
    pub signer: Address,
    pub treasury: Option<Address>,
    pub rpc: &'e [String],
    pub explorer: Option<&'e str>,
    /// What documents take from here, and their form: see [`Self::in_form`].
    pub form: Hash256,
}

/// A document, and what a proof says of it.
#[derive(Clone, Debug)]
pub struct Document {
    /// Of one that is made now the canonical JSON.
    pub text: Arc<String>,
    names: Names,
    pub agent_id: AgentId,
    pub owner: Address,
    pub issued_at: i64,
    pub expires_at: i64,
    pub as_of_block: i64,
    pub as_of_block_hash: Hash256,
    pub claims_root: Hash256,
    pub hash: Hash256,
    pub uri: String,
}

/// Whom and what a document names: a proof names them too.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Names {
    issuer: Value,
    chain_id: Value,
    registry: Value,
    identity: Value,
}

impl Document {
    /// As it was stored; `None` of a text that is no document.
    pub fn stored(stored: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(stored).ok()?;
        let (subject, number) = (&json["credentialSubject"], |name: &str| json[name].as_i64());
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let owner = text(&subject["id"])?;
        Some(Self {
            agent_id: AgentId(subject["agent"]["agentId"].as_i64()?),
            owner: owner.rsplit(':').next()?.parse().ok()?,
            issued_at: number("issuedAt")?,
            expires_at: number("expiresAt")?,
            as_of_block: number("asOfBlock")?,
            as_of_block_hash: text(&json["evidence"][0]["asOfBlockHash"])?.parse().ok()?,
            claims_root: text(&json["claimsRoot"])?.parse().ok()?,
            hash: text(&json["documentHash"])?.parse().ok()?,
            uri: text(&json["id"])?,
            names: Names {
                issuer: json["issuer"].clone(),
                chain_id: subject["agent"]["chainId"].clone(),
                registry: subject["agent"]["agentRegistry"].clone(),
                identity: subject["agent"]["identityRegistry"].clone(),
            },
            text: Arc::new(stored.to_owned()),
        })
    }
}

pub const CONTRACTS: [(&str, &str); 11] = [
    ("agentRegistry", "registry"),
    ("serviceEscrow", "escrow"),
    ("x402Vault", "x402Vault"),
    ("streamPay", "streamPay"),
    ("arbiterPool", "arbiterPool"),
    ("identityRegistry", "identity8004"),
    ("reputationRegistry", "reputation8004"),
    ("validationRegistry", "validation8004"),
    ("tokenFactory", "tokenFactory"),
    ("memoryAnchor", "memoryAnchor"),
    ("endorsements", "endorsements"),
];

/// Milliseconds are part of the text, so that it is the same wherever it is written.
pub fn iso(unix_s: i64) -> String {
    let time = jiff::Timestamp::from_second(unix_s).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

pub fn did(chain_id: u64, address: Address) -> String {
    format!("did:pkh:eip155:{chain_id}:{address}")
}

/// Addresses of the contracts that claims cite, or null.
pub fn contracts(environment: &Environment) -> Map<String, Value> {
    CONTRACTS.iter().map(|(name, key)| ((*name).to_owned(), json!(environment.contract(key)))).collect()
}

impl Publisher<'_> {
    /// With what documents take from here, and their form: another one makes other documents of the same content. It is the hash of the
    /// document that is made of an empty content, so that no change of a text in this file is forgotten.
    pub fn in_form(self) -> Result<Self, HostError> {
        let (content, as_of_block_hash) = (Content::empty(), Hash256([0; 32]));
        let empty = Issue { content, issued_at: 0, as_of_block: 0, as_of_block_hash };
        let form = self.document(&empty, LIMIT_DEFAULT)?.hash;
        let form = canonical_json(&json!({ "form": form, "served": self.served.0, "kinds": KINDS.len() }))?;
        Ok(Self { form: Hash256::keccak(form.as_bytes()), ..self })
    }

    fn names(&self) -> Names {
        let contract = |key: &str| json!(self.environment.contract(key));
        let chain_id = self.environment.chain_id;
        Names {
            issuer: did(chain_id, self.signer).into(),
            chain_id: chain_id.into(),
            registry: contract("registry"),
            identity: contract("identity8004"),
        }
    }

    /// Whether a document names this gateway's key of today.
    pub fn is_issuer_of(&self, document: &Document) -> bool {
        document.names.issuer == self.names().issuer
    }

    /// Whether a document names this chain and its registries of today, which a proof names too.
    pub fn has_contracts_of(&self, document: &Document) -> bool {
        document.names == Names { issuer: document.names.issuer.clone(), ..self.names() }
    }

    /// The document with the first `limit` claims.
    pub fn document(&self, issue: &Issue, limit: u32) -> Result<Document, HostError> {
        let Issue { content, issued_at, as_of_block, .. } = issue;
        let agent = &content.agent;
        let shown = usize::try_from(limit).unwrap_or(usize::MAX).min(content.claims.len());
        let (claims, _) = content.claims.split_at(shown);
        let claims_root = tree::root(claims.iter().map(|claim| claim.leaf).collect());
        let query = if limit == LIMIT_DEFAULT { String::new() } else { format!("?limit={limit}") };
        let uri = links::credential_url(&self.environment.base_url, agent.agent_id, &query);
        let subject = self.subject(issue, claims, limit);
        let of_subject = subject.iter().map(|(name, value)| (*name, Part::Value(value)));
        let record = ("record", Part::Array(claims.iter().map(|claim| claim.json.as_str()).collect()));
        let rest = self.rest(issue, &uri, claims_root, claims.len());
        let mut members: Vec<(&str, Part<'_>)> =
            rest.iter().map(|(name, value)| (name.as_str(), Part::Value(value))).collect();
        members.push(("credentialSubject", Part::Object(of_subject.chain([record]).collect())));
        let object = HashedObject::new(members, "documentHash")?;
        let hash = object.keccak();
        Ok(Document {
            text: Arc::new(object.with(hash)),
            names: self.names(),
            agent_id: agent.agent_id,
            owner: agent.owner,
            issued_at: *issued_at,
            expires_at: issue.expires_at(),
            as_of_block: *as_of_block,
            as_of_block_hash: issue.as_of_block_hash,
            claims_root,
            hash,
            uri,
        })
    }

    /// The members of a document beside its subject and its hash.
    fn rest(&self, issue: &Issue, uri: &str, claims_root: Hash256, count: usize) -> Map<String, Value> {
        let (base_url, content) = (&self.environment.base_url, &issue.content);
        let agent = &content.agent;
        // A name of digits is read as an id, and of several agents with one name the oldest is found.
        let is_oldest = content.namesakes.first().is_none_or(|other| other.agent_id > agent.agent_id);
        let is_found = is_oldest && matches!(AgentName::parse(&agent.slug), Some(AgentName::Slug(_)));
        let slug = Some(agent.slug.as_str()).filter(|_| is_found);
        members([
            ("@context", json!(["https://www.w3.org/ns/credentials/v2", links::context_url(base_url)])),
            ("type", json!(["VerifiableCredential", "ServiceAgentCV"])),
            ("id", json!(uri)),
            ("issuer", did(self.environment.chain_id, self.signer).into()),
            ("validFrom", iso(issue.issued_at).into()),
            ("validUntil", iso(issue.expires_at()).into()),
            ("name", format!("The record of agent {}", agent.agent_id).into()),
            (
                "description",
                "What this agent did, as claims with evidence: those of trust `chain` are proven by a log, the others \
                 are what the gateway or the agent says"
                    .into(),
            ),
            ("evidence", json!([self.evidence(issue, claims_root, count)])),
            ("credentialStatus", self.status(issue, uri)),
            ("credentialSchema", json!({ "id": links::schema_url(base_url), "type": "JsonSchema" })),
            (
                "refreshService",
                json!({ "id": links::document_url(base_url, agent.agent_id), "type": "ServiceCvRefresh" }),
            ),
            ("links", links::links(base_url, agent.agent_id, slug, self.served)),
            ("claimsRoot", json!(claims_root)),
            ("issuedAt", issue.issued_at.into()),
            ("expiresAt", issue.expires_at().into()),
            ("asOfBlock", issue.as_of_block.into()),
            ("hashing", hashing()),
        ])
    }

    /// Whom the document is about, without the record.
    fn subject(&self, issue: &Issue, claims: &[Claim], limit: u32) -> [(&'static str, Value); 7] {
        let content = &issue.content;
        let (agent, chain_id) = (&content.agent, self.environment.chain_id);
        let caip2 = format!("eip155:{chain_id}");
        let identity = self.environment.contract("identity8004");
        let about = json!({
            "chainId": chain_id,
            "caip2": caip2,
            "agentId": agent.agent_id,
            "agentRegistry": self.environment.contract("registry"),
            "identityRegistry": identity,
            "caip19": identity.map(|identity| format!("{caip2}/erc721:{identity}/{}", agent.agent_id)),
            "controller": did(chain_id, agent.owner),
            "slug": agent.slug,
            "registeredAt": agent.registered_at,
            "endpoint": agent.endpoint,
            "status": agent.status,
            "identityKey": format!("{caip2}:{}", agent.agent_id),
            "nameCollisions": {
                "count": content.namesake_count,
                "agents": content.namesakes,
                "note": "a name is no identity: other agents may have the same; the id and the registry tell them apart",
            },
        });
        [
            ("id", did(chain_id, agent.owner).into()),
            ("type", "AutonomousAgent".into()),
            ("name", agent.name.as_str().into()),
            ("agent", about),
            ("summary", Value::Object(summary(issue, claims))),
            ("recordMeta", self.record_meta(content, claims, limit)),
            ("counts", counts(claims)),
        ]
    }

    fn record_meta(&self, content: &Content, claims: &[Claim], limit: u32) -> Value {
        let omitted = omitted(content, claims.len());
        let agent = content.agent.agent_id;
        json!({
            "count": claims.len(),
            "limit": limit,
            "complete": omitted.is_empty(),
            "omitted": omitted,
            "omittedNote": "claims that exist and are not in this record, by kind: `limit` of this document, `cap` of the kind, `size` \
                of one claim, `unproven` without the log that it needs, `indexing` while a plugin is behind, `unavailable` while one does \
                not answer; of the last two nobody knows how many there are, and the count is the least",
            "scope": {
                "covers": content.covers,
                "contributionTypes": content.contribution_types,
                "excludes": content.excludes,
            },
            "completenessNote": "attested by the gateway, not proven: nothing proves that a claim was not left out",
            "full": format!("{}?limit=1000", links::document_url(&self.environment.base_url, agent)),
        })
    }

    fn evidence(&self, issue: &Issue, claims_root: Hash256, count: usize) -> Value {
        let (environment, agent) = (self.environment, issue.content.agent.agent_id);
        let mut contracts = contracts(environment);
        contracts.insert("treasury".to_owned(), json!(self.treasury));
        json!({
            "id": format!("{}/api/agents/{agent}/audit.jsonl", environment.base_url),
            "type": ["ServiceChainAnchor"],
            "chainId": environment.chain_id,
            "asOfBlock": issue.as_of_block,
            "asOfBlockHash": issue.as_of_block_hash,
            "asOfBlockHashNote": "the hash of this block on the branch that was read: another hash there now means a reorganisation",
            "contracts": contracts,
            "rpc": self.rpc,
            "explorer": self.explorer,
            "gatewayAttestation": {
                "signer": did(environment.chain_id, self.signer),
                "signerEphemeral": false,
                "claimsRoot": claims_root,
                "claims": count,
                "note": "what the gateway signs in credential.json: that it read these claims, not that those without a log are true",
            },
        })
    }

    fn status(&self, issue: &Issue, uri: &str) -> Value {
        let Some(identity) = self.environment.contract("identity8004") else { return Value::Null };
        json!({
            "id": format!("{uri}#status"),
            "type": "ServiceRegistryPointer2026",
            "chainId": self.environment.chain_id,
            "identityRegistry": identity,
            "agentId": issue.content.agent.agent_id,
            "metadataKey": "cv",
            "statusPurpose": "supersession",
            "check": "getMetadata(agentId, \"cv\") of the identity registry is abi.encode(bytes32 documentHash, string uri): the hash of \
                this document is current, another one supersedes it, empty was never anchored",
        })
    }
}

pub fn hashing() -> Value {
    json!({
        "canonicalization": "RFC 8785 (JCS): members sorted by name at every depth, no whitespace, arrays in order, undefined dropped",
        "leaf": "keccak256(utf8(JCS(claim without `leaf`)))",
        "claimsRoot": "pairwise keccak256(concat(left, right)) from the leaves up, an odd node paired with itself; without claims \
            keccak256 of zero bytes",
        "documentHash": "keccak256(utf8(JCS(document without `proof` and without `documentHash`)))",
        "note": "not the tree of the contract MemoryAnchor, whose leaves and nodes are tagged",
        "limitNote": "another limit is another record, and so another claimsRoot and documentHash",
    })
}

/// The stored summary with what depends on record and block.
fn summary(issue: &Issue, claims: &[Claim]) -> Map<String, Value> {
    let mut summary = Map::new();
    summary.insert("asOfBlock".to_owned(), issue.as_of_block.into());
    summary.extend(issue.content.summary.clone());
    let ratings = claims.iter().filter(|claim| claim.kind == ESCROW_JOB).filter_map(|claim| claim.rating);
    let (count, sum) = ratings.fold((0, 0), |(count, sum), rating| (count + 1, sum + rating));
    summary.insert("ratedJobsInRecord".to_owned(), json!(count));
    summary.insert("ratingSumInRecord".to_owned(), json!(sum));
    summary
}

/// What was left out when the content was made, and what the limit cuts off.
fn omitted(content: &Content, shown: usize) -> Vec<Omitted> {
    let mut cut: BTreeMap<&str, u64> = BTreeMap::new();
    for claim in content.claims.iter().skip(shown) {
        *cut.entry(&claim.kind).or_default() += 1;
    }
    let cut = cut.into_iter().map(|(kind, count)| Omitted { kind: kind.to_owned(), count, reason: "limit".to_owned() });
    content.omitted.iter().cloned().chain(cut).collect()
}

fn counts(claims: &[Claim]) -> Value {
    let of = |trust: &str| claims.iter().filter(|claim| claim.trust == trust).count();
    let (chain, gateway, own) = (of("chain"), of("gateway"), of("selfAttested"));
    json!({
        "proven": chain,
        "asserted": gateway + own,
        "byTrust": { "chain": chain, "gateway": gateway, "selfAttested": own },
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The text that is put together is the canonical JSON of the document, and its hash that of the text without it.
    #[test]
    fn a_document_is_its_canonical_text() {
        let environment = Environment { base_url: "https://one.example".to_owned(), ..Environment::default() };
        let (served, signer, form) = (Served([true; 4]), Address::ZERO, Hash256([0; 32]));
        let publisher =
            Publisher { environment: &environment, served, signer, treasury: None, rpc: &[], explorer: None, form };
        let claim = |number: u8| {
            let (kind, trust) = (ESCROW_JOB.into(), "chain".into());
            let leaf = Hash256([number; 32]);
            let json = canonical_json(&json!({ "id": number, "leaf": leaf, "rating": 4 })).unwrap();
            Claim { id: number.to_string(), kind, trust, rating: Some(4), leaf, json }
        };
        let mut content = Content { claims: (0..3).map(claim).collect(), ..Content::empty() };
        content.agent.name = "\"record\":[\u{1f600}]".to_owned();
        let issue = Issue { content, issued_at: 0, as_of_block: 0, as_of_block_hash: Hash256([0; 32]) };
        let document = publisher.document(&issue, 2).unwrap();
        let mut value: Value = serde_json::from_str(&document.text).unwrap();
        assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), *document.text);
        let subject = &value["credentialSubject"];
        assert_eq!((subject["record"].as_array().map(Vec::len), &subject["counts"]["proven"]), (Some(2), &json!(2)));
        assert_eq!(subject["summary"]["ratingSumInRecord"], 8);
        let stored = Document::stored(&document.text).unwrap();
        assert_eq!((stored.hash, stored.claims_root), (document.hash, document.claims_root));
        assert!(publisher.has_contracts_of(&stored) && publisher.is_issuer_of(&stored));
        value.as_object_mut().unwrap().remove("documentHash");
        assert_eq!(Hash256::keccak(&serde_json_canonicalizer::to_vec(&value).unwrap()), document.hash);
    }

    /// The form of documents is a part of what makes an issue, whatever in it changes.
    #[test]
    fn another_form_is_another_issue() {
        let environment = Environment { base_url: "https://one.example".to_owned(), ..Environment::default() };
        let of = |environment: &Environment| {
            let (served, signer, form) = (Served([true; 4]), Address::ZERO, Hash256([0; 32]));
            let publisher = Publisher { environment, served, signer, treasury: None, rpc: &[], explorer: None, form };
            publisher.in_form().unwrap().form
        };
        let (form, mut other) = (of(&environment), environment.clone());
        other.brand.network_name = "no text of a document".to_owned();
        assert_eq!(of(&other), form);
        other.base_url = "https://two.example".to_owned();
        assert_ne!(of(&other), form);
    }

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(iso(1_767_225_600), "2026-01-01T00:00:00.000Z");
    }
}
