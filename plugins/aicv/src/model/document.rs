//! The credential document.

use super::{
    content::{Content, Issue, Omitted},
    links::{self, Served},
    tree,
    vocabulary::{ESCROW_JOB, KINDS},
};
use plugin_api::{Address, AgentId, Hash256, HostError, contracts::registry::AgentName, handles::Environment};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub const LIMIT_DEFAULT: u32 = 200;

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
}

/// A document, and what a proof says of it.
#[derive(Clone, Debug)]
pub struct Document {
    pub json: Value,
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

impl Document {
    /// As it was stored; `None` of a text that is no document.
    pub fn stored(text: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(text).ok()?;
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
            json,
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
    /// What documents take from here, and their form: another one makes other documents of the same content. It is the hash of the
    /// document that is made of an empty content, so that no change of a text in this file is forgotten.
    pub fn fingerprint(&self) -> Result<Value, HostError> {
        let (content, as_of_block_hash) = (Content::empty(), Hash256([0; 32]));
        let empty = Issue { content, issued_at: 0, as_of_block: 0, as_of_block_hash };
        let form = self.document(&empty, LIMIT_DEFAULT)?.hash;
        Ok(json!({ "form": form, "served": self.served.0, "kinds": KINDS.len() }))
    }

    /// Whether a document names this gateway's key of today.
    pub fn is_issuer_of(&self, document: &Document) -> bool {
        document.json["issuer"] == json!(did(self.environment.chain_id, self.signer))
    }

    /// Whether a document names this chain and its registries of today, which a proof names too.
    pub fn has_contracts_of(&self, document: &Document) -> bool {
        let agent = &document.json["credentialSubject"]["agent"];
        let contract = |key: &str| json!(self.environment.contract(key));
        (&agent["chainId"], &agent["agentRegistry"], &agent["identityRegistry"])
            == (&json!(self.environment.chain_id), &contract("registry"), &contract("identity8004"))
    }

    /// The document with the first `limit` claims.
    pub fn document(&self, issue: &Issue, limit: u32) -> Result<Document, HostError> {
        let Issue { content, issued_at, as_of_block, .. } = issue;
        let (base_url, agent) = (&self.environment.base_url, &content.agent);
        let claims: Vec<&Value> = content.claims.iter().take(usize::try_from(limit).unwrap_or(usize::MAX)).collect();
        let leaves = claims.iter().filter_map(|claim| claim["leaf"].as_str()?.parse().ok()).collect();
        let claims_root = tree::root(leaves);
        let query = if limit == LIMIT_DEFAULT { String::new() } else { format!("?limit={limit}") };
        let uri = links::credential_url(base_url, agent.agent_id, &query);
        // A name of digits is read as an id, and of several agents with one name the oldest is found.
        let is_oldest = content.namesakes.first().is_none_or(|other| other.agent_id > agent.agent_id);
        let is_found = is_oldest && matches!(AgentName::parse(&agent.slug), Some(AgentName::Slug(_)));
        let slug = Some(agent.slug.as_str()).filter(|_| is_found);
        let mut document = json!({
            "@context": ["https://www.w3.org/ns/credentials/v2", links::context_url(base_url)],
            "type": ["VerifiableCredential", "ServiceAgentCV"],
            "id": uri,
            "issuer": did(self.environment.chain_id, self.signer),
            "validFrom": iso(*issued_at),
            "validUntil": iso(issue.expires_at()),
            "name": format!("The record of agent {}", agent.agent_id),
            "description": "What this agent did, as claims with evidence: those of trust `chain` are proven by a log, the others \
                are what the gateway or the agent says",
            "credentialSubject": self.subject(issue, &claims, limit),
            "evidence": [self.evidence(issue, claims_root, claims.len())],
            "credentialStatus": self.status(issue, &uri),
            "credentialSchema": { "id": links::schema_url(base_url), "type": "JsonSchema" },
            "refreshService": {
                "id": links::document_url(base_url, agent.agent_id), "type": "ServiceCvRefresh",
            },
            "links": links::links(base_url, agent.agent_id, slug, self.served),
            "claimsRoot": claims_root,
            "issuedAt": issued_at,
            "expiresAt": issue.expires_at(),
            "asOfBlock": as_of_block,
            "hashing": hashing(),
        });
        let hash = tree::hash(&document)?;
        document["documentHash"] = json!(hash);
        Ok(Document {
            json: document,
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

    fn subject(&self, issue: &Issue, claims: &[&Value], limit: u32) -> Value {
        let content = &issue.content;
        let (agent, chain_id) = (&content.agent, self.environment.chain_id);
        let caip2 = format!("eip155:{chain_id}");
        let identity = self.environment.contract("identity8004");
        json!({
            "id": did(chain_id, agent.owner),
            "type": "AutonomousAgent",
            "name": agent.name,
            "agent": {
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
            },
            "summary": summary(issue, claims),
            "record": claims,
            "recordMeta": self.record_meta(content, claims, limit),
            "counts": counts(claims),
        })
    }

    fn record_meta(&self, content: &Content, claims: &[&Value], limit: u32) -> Value {
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
fn summary(issue: &Issue, claims: &[&Value]) -> Map<String, Value> {
    let mut summary = Map::new();
    summary.insert("asOfBlock".to_owned(), issue.as_of_block.into());
    summary.extend(issue.content.summary.clone());
    let ratings =
        claims.iter().filter(|claim| claim["type"] == ESCROW_JOB).filter_map(|claim| claim["rating"].as_i64());
    let (count, sum) = ratings.fold((0, 0), |(count, sum), rating| (count + 1, sum + rating));
    summary.insert("ratedJobsInRecord".to_owned(), json!(count));
    summary.insert("ratingSumInRecord".to_owned(), json!(sum));
    summary
}

/// What was left out when the content was made, and what the limit cuts off.
fn omitted(content: &Content, shown: usize) -> Vec<Omitted> {
    let mut cut: BTreeMap<&str, u64> = BTreeMap::new();
    for claim in content.claims.iter().skip(shown) {
        *cut.entry(claim["type"].as_str().unwrap_or_default()).or_default() += 1;
    }
    let cut = cut.into_iter().map(|(kind, count)| Omitted { kind: kind.to_owned(), count, reason: "limit".to_owned() });
    content.omitted.iter().cloned().chain(cut).collect()
}

fn counts(claims: &[&Value]) -> Value {
    let of = |trust: &str| claims.iter().filter(|claim| claim["evidence"]["trust"] == trust).count();
    let (chain, gateway, own) = (of("chain"), of("gateway"), of("selfAttested"));
    json!({
        "proven": chain,
        "asserted": gateway + own,
        "byTrust": { "chain": chain, "gateway": gateway, "selfAttested": own },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form of documents is a part of what makes an issue, whatever in it changes.
    #[test]
    fn another_form_is_another_issue() {
        let environment = Environment { base_url: "https://one.example".to_owned(), ..Environment::default() };
        let of = |environment: &Environment| {
            let (served, signer) = (Served([true; 4]), Address::ZERO);
            let publisher = Publisher { environment, served, signer, treasury: None, rpc: &[], explorer: None };
            let issue =
                Issue { content: Content::empty(), issued_at: 0, as_of_block: 0, as_of_block_hash: Hash256([0; 32]) };
            (publisher.fingerprint().ok(), publisher.document(&issue, LIMIT_DEFAULT).ok().map(|document| document.hash))
        };
        let ((fingerprint, hash), mut other) = (of(&environment), environment.clone());
        assert_eq!(fingerprint.as_ref().map(|fingerprint| fingerprint["form"].clone()), Some(json!(hash)));
        other.brand.network_name = "no text of a document".to_owned();
        assert_eq!(of(&other).0, fingerprint);
        other.base_url = "https://two.example".to_owned();
        assert_ne!(of(&other).0, fingerprint);
    }

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(iso(1_767_225_600), "2026-01-01T00:00:00.000Z");
    }
}
