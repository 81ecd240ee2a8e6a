//! The contracts of the network, and the events of each that are stored: those of their interfaces as deployed. Of registry and escrow
//! only what is about agents, jobs and payouts; what governs the two is not decoded by anyone here.
//!
//! The rule: an event that is added or changed here fills the tables anew, because the gateway compares the signatures.

/// Keys of contracts in the gateway's configuration.
pub const REGISTRY: &str = "registry";
pub const ESCROW: &str = "escrow";
const X402_VAULT: &str = "x402Vault";
const ACCOUNT_FACTORY: &str = "accountFactory";
const STREAM_PAY: &str = "streamPay";
const ARBITER_POOL: &str = "arbiterPool";
const IDENTITY_8004: &str = "identity8004";
const REPUTATION_8004: &str = "reputation8004";
const VALIDATION_8004: &str = "validation8004";
const TOKEN_FACTORY: &str = "tokenFactory";
const MEMORY_ANCHOR: &str = "memoryAnchor";
const ENDORSEMENTS: &str = "endorsements";

/// Contract and event, with the names of the arguments.
pub const EVENTS: [(&str, &str); 80] = [
    (
        REGISTRY,
        "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, \
         string metadataURI, uint256 pricePerJob, uint256 bond)",
    ),
    (REGISTRY, "AgentUpdated(uint256 indexed id, string endpoint, string metadataURI, uint256 pricePerJob)"),
    (REGISTRY, "AgentStatusChanged(uint256 indexed id, uint8 status)"),
    (REGISTRY, "BondChanged(uint256 indexed id, uint256 bond)"),
    (REGISTRY, "AgentSlashed(uint256 indexed id, uint256 amount, address to, string reason)"),
    (REGISTRY, "OutcomeRecorded(uint256 indexed id, bool success, uint8 rating)"),
    (REGISTRY, "OwnershipTransferred(uint256 indexed id, address indexed from, address indexed to)"),
    (
        ESCROW,
        "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, \
         bytes32 inputHash, string inputURI)",
    ),
    (ESCROW, "JobDelivered(uint256 indexed jobId, bytes32 outputHash, string outputURI)"),
    (ESCROW, "JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)"),
    (ESCROW, "JobRefunded(uint256 indexed jobId, uint256 amount, bool byAgent)"),
    (ESCROW, "JobDisputed(uint256 indexed jobId)"),
    (ESCROW, "JobResolved(uint256 indexed jobId, uint256 clientAmount, uint256 agentPayout, uint256 fee)"),
    (ESCROW, "Withdrawn(address indexed to, uint256 amount)"),
    (X402_VAULT, "Deposited(address indexed payer, uint256 amount)"),
    (
        X402_VAULT,
        "Settled(address indexed payer, address indexed payee, uint256 amount, uint256 fee, uint256 nonce, \
         bytes32 ref)",
    ),
    (X402_VAULT, "Skipped(address indexed payer, uint256 nonce, string reason)"),
    (X402_VAULT, "UnlockRequested(address indexed payer, uint64 at)"),
    (X402_VAULT, "Withdrawn(address indexed to, uint256 amount)"),
    (X402_VAULT, "CreditsWithdrawn(address indexed to, uint256 amount)"),
    (X402_VAULT, "FeeChanged(uint16 feeBps)"),
    (X402_VAULT, "FeeRecipientChanged(address indexed feeRecipient)"),
    (X402_VAULT, "GovernanceChanged(address indexed previous, address indexed current)"),
    (ACCOUNT_FACTORY, "AccountCreated(address indexed owner, address indexed account)"),
    (
        STREAM_PAY,
        "StreamOpened(uint256 indexed id, address indexed payer, address indexed payee, uint256 ratePerSec, \
         uint256 deposit, uint64 start, uint64 stop)",
    ),
    (STREAM_PAY, "StreamToppedUp(uint256 indexed id, uint256 amount, uint256 deposit, uint64 stop)"),
    (STREAM_PAY, "StreamClaimed(uint256 indexed id, uint256 payeeAmount, uint256 fee)"),
    (
        STREAM_PAY,
        "StreamCancelled(uint256 indexed id, address indexed by, uint256 payeeAmount, uint256 fee, \
         uint256 refund)",
    ),
    (
        STREAM_PAY,
        "PlanCreated(uint256 indexed planId, address indexed payee, uint256 pricePerPeriod, uint64 period, \
         string metadataURI)",
    ),
    (STREAM_PAY, "PlanActiveSet(uint256 indexed planId, bool active)"),
    (
        STREAM_PAY,
        "Subscribed(uint256 indexed subId, uint256 indexed planId, address indexed payer, uint32 periods, \
         uint64 paidThrough)",
    ),
    (STREAM_PAY, "SubRenewed(uint256 indexed subId, uint32 periods, uint64 paidThrough)"),
    (STREAM_PAY, "SubCancelled(uint256 indexed subId, uint256 refund)"),
    (STREAM_PAY, "SubClaimed(uint256 indexed subId, uint256 periods, uint256 payeeAmount, uint256 fee)"),
    (STREAM_PAY, "Withdrawn(address indexed to, uint256 amount)"),
    (STREAM_PAY, "FeeChanged(uint16 feeBps)"),
    (STREAM_PAY, "FeeRecipientChanged(address indexed feeRecipient)"),
    (STREAM_PAY, "GovernanceChanged(address indexed previous, address indexed current)"),
    (ARBITER_POOL, "ArbiterJoined(address indexed arbiter, uint256 stake)"),
    (ARBITER_POOL, "ArbiterLeaving(address indexed arbiter, uint64 at)"),
    (ARBITER_POOL, "ArbiterLeft(address indexed arbiter, uint256 stake)"),
    (
        ARBITER_POOL,
        "CaseOpened(uint256 indexed caseId, uint256 indexed jobId, address indexed opener, string evidenceURI)",
    ),
    (ARBITER_POOL, "EvidenceSubmitted(uint256 indexed caseId, address indexed by, string uri)"),
    (ARBITER_POOL, "Voted(uint256 indexed caseId, address indexed arbiter, uint16 clientBps)"),
    (ARBITER_POOL, "CaseClosed(uint256 indexed caseId, uint256 indexed jobId, uint16 clientBps)"),
    (ARBITER_POOL, "Rewarded(uint256 indexed caseId, address indexed arbiter, uint256 amount)"),
    (ARBITER_POOL, "ParamsChanged(uint256 minStake, uint64 votingWindow, uint8 quorum)"),
    (ARBITER_POOL, "OwnershipTransferred(address indexed previous, address indexed current)"),
    (ARBITER_POOL, "Withdrawn(address indexed to, uint256 amount)"),
    (
        IDENTITY_8004,
        "MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, \
         bytes metadataValue)",
    ),
    (IDENTITY_8004, "URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy)"),
    (IDENTITY_8004, "Registered(uint256 indexed agentId, string agentURI, address indexed owner)"),
    (IDENTITY_8004, "Transfer(address indexed from, address indexed to, uint256 indexed tokenId)"),
    (IDENTITY_8004, "Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)"),
    (IDENTITY_8004, "ApprovalForAll(address indexed owner, address indexed operator, bool approved)"),
    (
        REPUTATION_8004,
        "NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, \
         int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, \
         string endpoint, string feedbackURI, bytes32 feedbackHash)",
    ),
    (
        REPUTATION_8004,
        "FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex)",
    ),
    (
        REPUTATION_8004,
        "ResponseAppended(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, \
         address indexed responder, string responseURI, bytes32 responseHash)",
    ),
    (
        REPUTATION_8004,
        "EscrowSynced(uint256 indexed jobId, uint256 indexed agentId, address indexed clientAddress, \
         uint64 feedbackIndex, int128 value)",
    ),
    (
        VALIDATION_8004,
        "ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, \
         bytes32 indexed requestHash)",
    ),
    (
        VALIDATION_8004,
        "ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, \
         bytes32 indexed requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag)",
    ),
    (TOKEN_FACTORY, "Launched(uint256 indexed agentId, address indexed token, string symbol)"),
    (
        TOKEN_FACTORY,
        "Bought(address indexed token, address indexed buyer, uint256 fmxIn, uint256 fee, uint256 amountOut)",
    ),
    (TOKEN_FACTORY, "Sold(address indexed token, address indexed seller, uint256 amountIn, uint256 fmxOut)"),
    (TOKEN_FACTORY, "Distributed(address indexed token, address indexed from, uint256 amount)"),
    (TOKEN_FACTORY, "Claimed(address indexed token, address indexed holder, uint256 amount)"),
    (TOKEN_FACTORY, "Withdrawn(address indexed to, uint256 amount)"),
    (TOKEN_FACTORY, "FeeChanged(uint16 feeBps)"),
    (TOKEN_FACTORY, "FeeRecipientChanged(address indexed feeRecipient)"),
    (TOKEN_FACTORY, "GovernanceChanged(address indexed previous, address indexed current)"),
    (
        MEMORY_ANCHOR,
        "MemoryAnchored(uint256 indexed agentId, uint64 indexed seq, bytes32 indexed root, bytes32 prevRoot, \
         uint32 count, uint64 totalRecords, address anchoredBy, string uri)",
    ),
    (MEMORY_ANCHOR, "AnchorerSet(uint256 indexed agentId, address indexed who, bool allowed)"),
    (MEMORY_ANCHOR, "MaxUriBytesChanged(uint16 maxUriBytes)"),
    (MEMORY_ANCHOR, "GovernanceChanged(address indexed previous, address indexed current)"),
    (
        ENDORSEMENTS,
        "Endorsed(uint256 indexed id, uint256 indexed fromAgentId, uint256 indexed toAgentId, \
         bytes32 capabilityId, string capability, uint8 basis, uint32 weight, uint64 evidenceJobId, \
         uint256 evidenceAmountWei, string uri)",
    ),
    (
        ENDORSEMENTS,
        "EndorsementRevoked(uint256 indexed id, uint256 indexed fromAgentId, uint256 indexed toAgentId, \
         uint32 weight)",
    ),
    (ENDORSEMENTS, "MinPaidWeiChanged(uint256 minPaidWei)"),
    (ENDORSEMENTS, "WeightCapChanged(uint32 weightCap)"),
    (ENDORSEMENTS, "MaxUriBytesChanged(uint16 maxUriBytes)"),
    (ENDORSEMENTS, "GovernanceChanged(address indexed previous, address indexed current)"),
];
