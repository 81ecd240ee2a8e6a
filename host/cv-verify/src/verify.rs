//! The eleven steps in their order.
//!
//! The rule: a server of the chain is not asked about a document whose hashes do not hold.

use crate::{
    aggregate, cited,
    claims::{Claims, ProvenClaims},
    document::{Document, NotACredential},
    expected::Expected,
    hashes::DocumentHashes,
    intact,
    on_chain::{self, OnChain},
    reader::Reader,
    record,
    report::{ByTrust, CredentialReport, ReadAt, StepOutcome, Verdict, VerificationStep},
    rpc::Rpc,
    state,
};
use alloy_primitives::Address;

const NOT_READ: &str = "not reached: the document was changed after it was issued";

/// Checks a credential. Where several servers are given, they must agree on every read.
pub async fn verify<R: Rpc>(
    document: &[u8],
    servers: &[R],
    expected: &Expected,
) -> Result<CredentialReport, NotACredential> {
    let document = Document::parse(document)?;
    let hashes = DocumentHashes::of(&document);
    let intact = [
        intact::shape(&document, expected),
        intact::own_hash(&document, &hashes),
        intact::claims_root(&document, &hashes),
    ];
    let is_intact = intact.iter().all(|step| step.outcome < StepOutcome::Forged);
    let mut reader = Reader::new(servers);
    let chain = match is_intact {
        true => on_chain::read(&mut reader, &document, expected).await,
        false => Err(NOT_READ.to_owned()),
    };
    let (signature, signer) = intact::signature(&document, &hashes, expected, chain.as_ref().map_err(String::as_str));
    let (trust, kept, dropped) = record::trust_floor(&document, expected.trust);
    let read = match &chain {
        Ok(chain) => on_the_chain(&document, &hashes, expected, chain, &mut reader).await,
        Err(reason) => Read::nothing(reason),
    };
    let mut steps: Vec<VerificationStep> = intact.into();
    steps.extend([signature, read.aggregate, cited::check(&document, &expected.contracts), read.claims, read.state]);
    steps.extend([trust, read.supersession, record::completeness(&document, chain.as_ref().ok())]);
    let read_at = chain.as_ref().ok().map(|chain| chain.read_at);
    Ok(report(&document, &hashes, signer, read_at, steps, read.proven, (kept, dropped)))
}

/// The steps that need the chain.
struct Read {
    aggregate: VerificationStep,
    claims: VerificationStep,
    state: VerificationStep,
    supersession: VerificationStep,
    proven: ProvenClaims,
}

impl Read {
    fn nothing(reason: &str) -> Self {
        let step = |n: u8, name: &'static str| {
            let mut step = VerificationStep::new(n, name);
            step.not_checkable("chain", reason);
            step
        };
        Self {
            aggregate: step(5, "aggregate cross-check"),
            claims: step(7, "per claim"),
            state: step(8, "mutable state"),
            supersession: step(10, "supersession"),
            proven: ProvenClaims::default(),
        }
    }
}

async fn on_the_chain<R: Rpc>(
    document: &Document,
    hashes: &DocumentHashes,
    expected: &Expected,
    chain: &OnChain,
    reader: &mut Reader<'_, R>,
) -> Read {
    let (claims, mut proven) = Claims::new(document, expected, chain, reader).check().await;
    let supersession = state::supersession(document, hashes.document, &expected.contracts, chain, reader).await;
    let aggregate = aggregate::check(document, chain, &mut proven);
    Read { aggregate, claims, state: state::check(document, chain), supersession, proven }
}

fn report(
    document: &Document,
    hashes: &DocumentHashes,
    signer: Option<Address>,
    registry_read_at: Option<ReadAt>,
    steps: Vec<VerificationStep>,
    proven: ProvenClaims,
    (kept, dropped): (ByTrust, ByTrust),
) -> CredentialReport {
    let text = |name: &str| document.get(name).as_str().unwrap_or_default().to_owned();
    let worst = steps.iter().map(|step| step.outcome).max().unwrap_or(StepOutcome::Ok);
    let verdict = Verdict::from(worst);
    CredentialReport {
        verdict,
        exit_code: verdict.exit_code(),
        agent_id: document.agent_id,
        name: document.subject.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned(),
        subject: document.owner.to_checksum(None),
        signer: signer.map(|signer| signer.to_checksum(None)),
        document_hash: hashes.document.to_string(),
        uri: document.uri.clone(),
        as_of_block: document.as_of_block,
        valid_until: text("validUntil"),
        registry_read_at,
        steps,
        kept,
        dropped,
        jobs: proven.jobs,
        unprotected: intact::unprotected(document),
    }
}
