//! Which events prove which claims, and what they must say. Written from the contracts' interface and the specification of claims alone.

use crate::abi::{Datum, Event};
use alloy_primitives::{Address, B256, U256};
use serde_json::{Map, Value};

/// The vocabulary.
pub(crate) const KINDS: [&str; 19] = [
    "Registration",
    "AgentState",
    "EscrowJob",
    "X402Receipt",
    "X402Payment",
    "Stream",
    "StreamPayment",
    "SubscriptionPlan",
    "Feedback",
    "Validation",
    "Dispute",
    "Endorsement",
    "MemoryAnchor",
    "TokenLaunch",
    "Referral",
    "Contribution",
    "Reliability",
    "Capability",
    "Slash",
];

pub(crate) const OUTCOME_RECORDED: &str = "OutcomeRecorded(uint256 indexed id, bool success, uint8 rating)";

const JOB_COMPLETED: &str = "JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)";
const JOB_RESOLVED: &str = "JobResolved(uint256 indexed jobId, uint256 clientAmount, uint256 agentPayout, uint256 fee)";
const JOB_REFUNDED: &str = "JobRefunded(uint256 indexed jobId, uint256 amount, bool byAgent)";
const JOB_REQUESTED: &str = "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, bytes32 inputHash, string inputURI)";
const JOB_DELIVERED: &str = "JobDelivered(uint256 indexed jobId, bytes32 outputHash, string outputURI)";
const SETTLED: &str =
    "Settled(address indexed payer, address indexed payee, uint256 amount, uint256 fee, uint256 nonce, bytes32 ref)";
const STREAM_OPENED: &str = "StreamOpened(uint256 indexed id, address indexed payer, address indexed payee, uint256 ratePerSec, uint256 deposit, uint64 start, uint64 stop)";

/// An argument of an event, and what it must equal: `subject.agentId`, `subject.address` or `claim.<member>`; with the suffix `|0` a
/// member that is null or missing counts as 0.
pub(crate) type Fact = (&'static str, &'static str);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub kind: &'static str,
    /// The key of the contract.
    pub contract: &'static str,
    pub declaration: &'static str,
    pub facts: &'static [Fact],
    /// What `outcome` may be; empty where the kind has none.
    pub outcomes: &'static [&'static str],
    /// Evidence beside the deciding one (`alsoEvidence`).
    pub is_secondary: bool,
}

const fn rule(kind: &'static str, contract: &'static str, declaration: &'static str, facts: &'static [Fact]) -> Rule {
    Rule { kind, contract, declaration, facts, outcomes: &[], is_secondary: false }
}

const REQUEST_FACTS: &[Fact] = &[
    ("jobId", "claim.jobId"),
    ("agentId", "subject.agentId"),
    ("client", "claim.client"),
    ("amount", "claim.amountWei"),
    ("inputHash", "claim.inputHash|0"),
];
const SETTLEMENT_FACTS: &[Fact] =
    &[("jobId", "claim.jobId"), ("agentPayout", "claim.payoutWei"), ("fee", "claim.feeWei")];
const STREAM_FACTS: [Fact; 7] = [
    ("id", "claim.streamId"),
    ("payer", "claim.payer"),
    ("payee", "claim.payee"),
    ("ratePerSec", "claim.ratePerSecWei"),
    ("deposit", "claim.depositWei"),
    ("start", "claim.start"),
    ("stop", "claim.stop"),
];
const PAYMENT_FACTS: [Fact; 5] = [
    ("payer", "claim.payer"),
    ("payee", "claim.payee"),
    ("amount", "claim.amountWei"),
    ("fee", "claim.feeWei"),
    ("nonce", "claim.nonce"),
];

/// The facts, and one more about the owner.
const fn of_owner<const N: usize, const M: usize>(argument: &'static str, facts: [Fact; N]) -> [Fact; M] {
    let mut all = [(argument, "subject.address"); M];
    let mut at = 0;
    while at < N && at + 1 < M {
        all[at + 1] = facts[at];
        at += 1;
    }
    all
}

const RECEIPT: [Fact; 6] = of_owner("payee", PAYMENT_FACTS);
const PAYMENT: [Fact; 6] = of_owner("payer", PAYMENT_FACTS);
const STREAM_IN: [Fact; 8] = of_owner("payee", STREAM_FACTS);
const STREAM_OUT: [Fact; 8] = of_owner("payer", STREAM_FACTS);

pub(crate) const RULES: [Rule; 20] = [
    rule(
        "Registration",
        "registry",
        "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)",
        &[
            ("id", "subject.agentId"),
            ("id", "claim.agentId"),
            ("owner", "claim.owner"),
            ("name", "claim.name"),
            ("endpoint", "claim.endpointAtRegistration"),
            ("metadataURI", "claim.metadataURIAtRegistration"),
            ("pricePerJob", "claim.pricePerJobWeiAtRegistration"),
            ("bond", "claim.bondWeiAtRegistration"),
        ],
    ),
    Rule {
        outcomes: &["Completed"],
        ..rule(
            "EscrowJob",
            "escrow",
            JOB_COMPLETED,
            &[
                ("jobId", "claim.jobId"),
                ("agentPayout", "claim.payoutWei"),
                ("fee", "claim.feeWei"),
                ("rating", "claim.rating|0"),
            ],
        )
    },
    Rule { outcomes: &["Resolved"], ..rule("EscrowJob", "escrow", JOB_RESOLVED, SETTLEMENT_FACTS) },
    Rule { outcomes: &["Refunded"], ..rule("EscrowJob", "escrow", JOB_REFUNDED, &[("jobId", "claim.jobId")]) },
    Rule { outcomes: &["Open", "Delivered", "Disputed"], ..rule("EscrowJob", "escrow", JOB_REQUESTED, REQUEST_FACTS) },
    Rule { is_secondary: true, ..rule("EscrowJob", "escrow", JOB_REQUESTED, REQUEST_FACTS) },
    Rule {
        is_secondary: true,
        ..rule("EscrowJob", "escrow", JOB_DELIVERED, &[("jobId", "claim.jobId"), ("outputHash", "claim.outputHash|0")])
    },
    rule("X402Receipt", "x402Vault", SETTLED, &RECEIPT),
    rule("X402Payment", "x402Vault", SETTLED, &PAYMENT),
    rule("Stream", "streamPay", STREAM_OPENED, &STREAM_IN),
    rule("StreamPayment", "streamPay", STREAM_OPENED, &STREAM_OUT),
    rule(
        "SubscriptionPlan",
        "streamPay",
        "PlanCreated(uint256 indexed planId, address indexed payee, uint256 pricePerPeriod, uint64 period, string metadataURI)",
        &[
            ("planId", "claim.planId"),
            ("payee", "subject.address"),
            ("payee", "claim.payee"),
            ("pricePerPeriod", "claim.pricePerPeriodWei"),
            ("period", "claim.periodSeconds"),
            ("metadataURI", "claim.metadataURI"),
        ],
    ),
    rule(
        "Feedback",
        "reputation8004",
        "NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash)",
        &[
            ("agentId", "subject.agentId"),
            ("clientAddress", "claim.client"),
            ("value", "claim.value"),
            ("valueDecimals", "claim.valueDecimals"),
            ("tag1", "claim.tag1"),
            ("tag2", "claim.tag2"),
            ("feedbackURI", "claim.feedbackURI"),
        ],
    ),
    rule(
        "Validation",
        "validation8004",
        "ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, bytes32 indexed requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag)",
        &[
            ("agentId", "subject.agentId"),
            ("requestHash", "claim.requestHash"),
            ("validatorAddress", "claim.validator"),
            ("response", "claim.response"),
            ("tag", "claim.tag"),
            ("responseURI", "claim.responseURI"),
        ],
    ),
    rule(
        "Validation",
        "validation8004",
        "ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash)",
        &[
            ("agentId", "subject.agentId"),
            ("requestHash", "claim.requestHash"),
            ("validatorAddress", "claim.validator"),
            ("requestURI", "claim.requestURI"),
        ],
    ),
    Rule {
        outcomes: &["mostly for the client", "mostly for the agent", "closed"],
        ..rule(
            "Dispute",
            "arbiterPool",
            "CaseClosed(uint256 indexed caseId, uint256 indexed jobId, uint16 clientBps)",
            &[("caseId", "claim.caseId"), ("jobId", "claim.jobId"), ("clientBps", "claim.clientBps")],
        )
    },
    Rule {
        outcomes: &["open"],
        ..rule(
            "Dispute",
            "arbiterPool",
            "CaseOpened(uint256 indexed caseId, uint256 indexed jobId, address indexed opener, string evidenceURI)",
            &[
                ("caseId", "claim.caseId"),
                ("jobId", "claim.jobId"),
                ("opener", "claim.opener"),
                ("evidenceURI", "claim.evidenceURI"),
            ],
        )
    },
    rule(
        "Endorsement",
        "endorsements",
        "Endorsed(uint256 indexed id, uint256 indexed fromAgentId, uint256 indexed toAgentId, bytes32 capabilityId, string capability, uint8 basis, uint32 weight, uint64 evidenceJobId, uint256 evidenceAmountWei, string uri)",
        &[
            ("toAgentId", "subject.agentId"),
            ("id", "claim.endorsementId"),
            ("fromAgentId", "claim.fromAgentId"),
            ("capability", "claim.capability"),
            ("basis", "claim.basis"),
            ("weight", "claim.weight"),
            ("evidenceJobId", "claim.evidenceJobId|0"),
            ("evidenceAmountWei", "claim.evidenceAmountWei"),
            ("uri", "claim.uri"),
        ],
    ),
    rule(
        "MemoryAnchor",
        "memoryAnchor",
        "MemoryAnchored(uint256 indexed agentId, uint64 indexed seq, bytes32 indexed root, bytes32 prevRoot, uint32 count, uint64 totalRecords, address anchoredBy, string uri)",
        &[
            ("agentId", "subject.agentId"),
            ("seq", "claim.anchorSeq"),
            ("root", "claim.root"),
            ("prevRoot", "claim.prevRoot"),
            ("count", "claim.count"),
            ("totalRecords", "claim.totalRecords"),
            ("uri", "claim.uri"),
        ],
    ),
    rule(
        "TokenLaunch",
        "tokenFactory",
        "Launched(uint256 indexed agentId, address indexed token, string symbol)",
        &[("agentId", "subject.agentId"), ("token", "claim.token"), ("symbol", "claim.symbol")],
    ),
];

/// The rule by which an event of this text proves a claim of this kind.
pub(crate) fn find(kind: &str, text: &str, is_secondary: bool) -> Option<(&'static Rule, Event)> {
    let rules = RULES.iter().filter(|rule| rule.kind == kind && rule.is_secondary == is_secondary);
    rules.filter_map(|rule| Some((rule, Event::parse(rule.declaration)?))).find(|(_, event)| event.text == text)
}

/// Whom the claims are about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub agent_id: u64,
    pub owner: Address,
}

/// What a reference stands for, and whether null counts as 0; `None` of a text that is no reference.
pub(crate) fn resolve(reference: &str, subject: Subject, claim: &Map<String, Value>) -> Option<(Value, bool)> {
    match reference {
        "subject.agentId" => Some((subject.agent_id.into(), false)),
        "subject.address" => Some((subject.owner.to_checksum(None).into(), false)),
        other => {
            let member = other.strip_prefix("claim.")?;
            let name = member.strip_suffix("|0").unwrap_or(member);
            Some((claim.get(name).cloned().unwrap_or_default(), name != member))
        }
    }
}

/// Whether a decoded value is the stated one. Numbers are JSON integers or decimal texts.
pub(crate) fn is_same(found: &Datum, stated: &Value, null_is_zero: bool) -> bool {
    let text = stated.as_str();
    let is_zero = null_is_zero && stated.is_null();
    match found {
        Datum::Uint(number) => is_zero && number.is_zero() || decimal(stated).as_deref() == Some(&number.to_string()),
        Datum::Int(number) => is_zero && number.is_zero() || decimal(stated).as_deref() == Some(&number.to_string()),
        Datum::Address(address) => text.and_then(|text| text.parse().ok()) == Some(*address),
        Datum::Bool(flag) => stated.as_bool() == Some(*flag),
        Datum::Word(word) => {
            is_zero && word.is_zero() || text.and_then(|text| text.parse::<B256>().ok()) == Some(*word)
        }
        Datum::Text(found) => text == Some(found),
        Datum::Bytes(_) => false,
    }
}

/// The decimal digits of an integer; `None` of one that is not written as integers are.
fn decimal(stated: &Value) -> Option<String> {
    match stated {
        Value::Number(number) => number.as_i64().map(|number| number.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// An amount in wei.
pub(crate) fn wei(stated: &Value) -> Option<U256> {
    stated.as_str().filter(|text| text.bytes().all(|digit| digit.is_ascii_digit()))?.parse().ok()
}

/// As decoded, for people.
pub(crate) fn shown(datum: &Datum) -> String {
    match datum {
        Datum::Uint(number) => number.to_string(),
        Datum::Int(number) => number.to_string(),
        Datum::Address(address) => address.to_checksum(None),
        Datum::Bool(flag) => flag.to_string(),
        Datum::Word(word) => word.to_string(),
        Datum::Text(text) => format!("{text:?}"),
        Datum::Bytes(bytes) => format!("{} bytes", bytes.len()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use alloy_primitives::{B256, I256};
    use serde_json::json;

    /// Topics of the deployed contracts.
    #[test]
    fn events_have_the_topics_of_the_network() {
        let topics = [
            ("AgentRegistered", "0x48a540e48c39d376aef6fe5e4f4ac018e6c8abad0344423e865bd5ae57c70881"),
            ("JobRequested", "0x534840d34329e0635b5a80e96928a8ce2cd4737cbec79628aa62c427ba75b57a"),
            ("JobDelivered", "0xef704faeb1c0990923ca5e91e089af2aa02a4c9786c9674ee66d69f57a81d574"),
            ("JobCompleted", "0x409e623705dee0641bf74514f4c1a9b52e165465e8df6efba003ba4b3d2752c5"),
            ("JobRefunded", "0xab84ab26b51c14cff2d4eed512dc1c2c3a3d6cf783f32972471753d6dbb57ea5"),
            ("JobResolved", "0x04aa200931cc7bca1d31c59a9eca7546d515712b43d64a081c5b18e8cf7b8486"),
            ("OutcomeRecorded", "0xb200e6c1aa146c3d078dc975b0a10013a0b0969d05ea5ab6baa92f0deac52cba"),
            ("Settled", "0xfbee44ff0370b406d51244ec950ea124dbfbda0c972fd9ecf6a8ca6e30230529"),
            ("StreamOpened", "0xdfd0cebd80487c29cb0bd88b91bad5c9a90ef164055c8609fe931685f8cbc899"),
            ("PlanCreated", "0xd8154e7938101b59ce86caacb7ec16bb528e0d067cd63d2f35d7de9d3249bb2d"),
            ("NewFeedback", "0x6a4a61743519c9d648a14e6493f47dbe3ff1aa29e7785c96c8326a205e58febc"),
            ("ValidationRequest", "0x530436c3634a98e1e626b0898be2f1e9980cc1bd2a78c07a0aba52d0a48a5059"),
            ("ValidationResponse", "0xafddf629e874ccc3963b6a888c477bd464a6c8525024fc88759ea3b2326349ae"),
            ("CaseOpened", "0x9f5044962440d8bc5fb6887eea1247f25016cd991b57cb982246d1b17b548bf3"),
            ("CaseClosed", "0x2ada794eaf4daf43d8fa3edb6e1a8766feef59482086b80e8a91e0b2ac1a76ff"),
            ("Endorsed", "0x40e5094d040791d20a2c1651552beda9e9f396f3c1fd5d082fda546880b901fe"),
            ("MemoryAnchored", "0x33d395309dc88fe7cda10931e086ac109fa2a65575828adcd286afad7bada0fd"),
            ("Launched", "0xd1932433677f9576afa2dadaea9a7ae3137580b717a6db4bb1fe08bcc899fe47"),
        ];
        let declarations = RULES.iter().map(|rule| rule.declaration).chain([OUTCOME_RECORDED]);
        for declaration in declarations {
            let event = Event::parse(declaration).unwrap();
            let name = event.text.split('(').next().unwrap();
            let (_, topic) = topics.iter().find(|(known, _)| *known == name).unwrap();
            assert_eq!(event.topic0.to_string(), *topic, "{name}");
        }
    }

    #[test]
    fn facts_name_arguments_that_there_are() {
        for rule in RULES {
            for (argument, reference) in rule.facts {
                assert!(rule.declaration.contains(&format!(" {argument}")), "{}: {argument}", rule.kind);
                assert!(resolve(reference, Subject { agent_id: 1, owner: Address::ZERO }, &Map::new()).is_some());
            }
            assert!(KINDS.contains(&rule.kind));
        }
    }

    #[test]
    fn values_are_compared_by_what_they_mean() {
        let number = Datum::Uint(U256::from(7));
        for (stated, is_it) in
            [(json!(7), true), (json!("7"), true), (json!("07"), false), (json!(7.0), false), (json!(8), false)]
        {
            assert_eq!(is_same(&number, &stated, false), is_it, "{stated}");
        }
        assert!(is_same(&Datum::Int(I256::unchecked_from(-5)), &json!("-5"), false));
        let zero = Datum::Word(B256::ZERO);
        assert!(is_same(&zero, &Value::Null, true) && !is_same(&zero, &Value::Null, false));
        assert!(!is_same(&Datum::Word(B256::repeat_byte(1)), &Value::Null, true));
        assert!(!is_same(&Datum::Text(String::new()), &Value::Null, true));
        assert!(!is_same(&Datum::Bool(true), &json!(1), false));
    }
}
