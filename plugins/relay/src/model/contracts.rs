//! The contracts, by their keys in the gateway's configuration, and the functions that are called.

pub const ACCOUNT_FACTORY: &str = "accountFactory";
pub const ACCOUNT_IMPL: &str = "accountImpl";

/// The network's contracts but the implementation of accounts.
pub const TARGETS: [&str; 12] = [
    "registry",
    "escrow",
    "x402Vault",
    ACCOUNT_FACTORY,
    "streamPay",
    "arbiterPool",
    "identity8004",
    "reputation8004",
    "validation8004",
    "tokenFactory",
    "memoryAnchor",
    "endorsements",
];

pub const CREATE: &str = "create(address,bytes32)";
pub const PREDICT: &str = "predict(address,bytes32) returns (address)";
pub const IS_ACCOUNT: &str = "isAccount(address) returns (bool)";
pub const NONCE: &str = "nonce() returns (uint256)";
pub const EXECUTE_WITH_SIG: &str = "executeWithSig(address,uint256,bytes,uint64,bytes)";
