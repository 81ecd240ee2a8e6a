//! The allow-list. Rule: a method that is not in it reaches no server: nothing that debugs, signs or administers, and nothing that a
//! server would have to remember, such as filters and subscriptions.

/// A method that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    pub name: &'static str,
    /// What a call costs of its client's share, about in proportion to what it costs a server.
    pub weight: u32,
    /// Fewest and most parameters.
    pub params: (usize, usize),
    pub kind: Kind,
}

/// What is done with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Answered here.
    ChainId,
    NetVersion,
    ClientVersion,
    /// Passed on as it is.
    Read,
    /// Runs a contract: the gas is capped.
    Call,
    Logs,
    FeeHistory,
    Proof,
    Send,
}

const fn of(name: &'static str, weight: u32, params: (usize, usize), kind: Kind) -> Method {
    Method { name, weight, params, kind }
}

pub const METHODS: [Method; 25] = [
    of("eth_chainId", 1, (0, 0), Kind::ChainId),
    of("net_version", 1, (0, 0), Kind::NetVersion),
    of("web3_clientVersion", 1, (0, 0), Kind::ClientVersion),
    of("eth_blockNumber", 1, (0, 0), Kind::Read),
    of("eth_syncing", 1, (0, 0), Kind::Read),
    of("eth_gasPrice", 1, (0, 0), Kind::Read),
    of("eth_maxPriorityFeePerGas", 1, (0, 0), Kind::Read),
    of("eth_feeHistory", 5, (2, 3), Kind::FeeHistory),
    of("eth_getBalance", 2, (1, 2), Kind::Read),
    of("eth_getTransactionCount", 2, (1, 2), Kind::Read),
    of("eth_getCode", 2, (1, 2), Kind::Read),
    of("eth_getStorageAt", 2, (2, 3), Kind::Read),
    of("eth_getProof", 20, (2, 3), Kind::Proof),
    of("eth_getBlockByHash", 4, (1, 2), Kind::Read),
    of("eth_getBlockByNumber", 4, (1, 2), Kind::Read),
    of("eth_getBlockTransactionCountByHash", 2, (1, 1), Kind::Read),
    of("eth_getBlockTransactionCountByNumber", 2, (1, 1), Kind::Read),
    of("eth_getTransactionByBlockHashAndIndex", 2, (2, 2), Kind::Read),
    of("eth_getTransactionByBlockNumberAndIndex", 2, (2, 2), Kind::Read),
    of("eth_getTransactionByHash", 2, (1, 1), Kind::Read),
    of("eth_getTransactionReceipt", 2, (1, 1), Kind::Read),
    of("eth_getLogs", LOG_WEIGHT, (1, 1), Kind::Logs),
    of("eth_call", 10, (1, 2), Kind::Call),
    of("eth_estimateGas", 20, (1, 2), Kind::Call),
    of("eth_sendRawTransaction", 10, (1, 1), Kind::Send),
];

/// Of each part of a range of blocks that is asked for on its own.
pub const LOG_WEIGHT: u32 = 10;

pub fn method(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_debugs_signs_administers_or_is_remembered_is_served() {
        for name in [
            "debug_traceTransaction",
            "trace_block",
            "admin_peers",
            "personal_sign",
            "miner_start",
            "clique_propose",
            "txpool_content",
            "eth_sign",
            "eth_signTransaction",
            "eth_sendTransaction",
            "eth_accounts",
            "eth_newFilter",
            "eth_newBlockFilter",
            "eth_getFilterChanges",
            "eth_subscribe",
            "eth_unsubscribe",
            "anvil_mine",
            "evm_mine",
            "hardhat_setBalance",
            "eth_simulateV1",
            "ETH_CHAINID",
            "eth_chainid",
            " eth_call",
            "",
        ] {
            assert_eq!(method(name), None, "{name}");
        }
    }

    #[test]
    fn each_method_has_one_entry() {
        for (index, one) in METHODS.iter().enumerate() {
            assert_eq!(METHODS.iter().position(|other| other.name == one.name), Some(index), "{}", one.name);
            assert!(one.weight > 0 && one.params.0 <= one.params.1, "{}", one.name);
        }
    }
}
