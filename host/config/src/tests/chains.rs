//! `[chains.<name>]`: the operator chooses names, but not keys, and no message shows an RPC address.

use plugin_api::Address;
use rstest::rstest;
use secrecy::ExposeSecret as _;

use super::{file, variable};

const SECRET: &str = "hunter2";

#[test]
fn a_chain_needs_only_an_rpc_server() {
    let config = file("[chains.main]\nrpc = ['http://127.0.0.1:8545']").config();
    let main = &config.chains["main"];
    assert_eq!((main.confirmations, main.reorg_depth, main.poll_ms), (3, 64, 2000));
    assert_eq!(main.rpc[0].expose_secret(), "http://127.0.0.1:8545");
    assert!(super::ConfigFixture::new().config().chains.is_empty(), "no chain without a section");
}

#[test]
fn variables_set_servers_and_contracts() {
    let config = variable("GATEWAY_CHAINS__MAIN__RPC", "http://a:1, https://b/key")
        .variable("GATEWAY_CHAINS__MAIN__CONTRACTS__X402VAULT", "0x00000000000000000000000000000000000000aa")
        .variable("GATEWAY_CHAINS__MAIN__CONFIRMATIONS", "7")
        .config();
    let main = &config.chains["main"];
    assert_eq!(main.rpc.iter().map(|url| url.expose_secret()).collect::<Vec<_>>(), ["http://a:1", "https://b/key"]);
    assert_eq!(main.confirmations, 7);
    assert_eq!(main.contract("x402Vault").map(|Address(bytes)| bytes[19]), Some(0xaa));
    assert_eq!(main.contract("escrow"), None);
}

#[rstest]
#[case("[chains.main]\nrpc = []", "chains.main.rpc", "no RPC server")]
#[case("[chains.main]\nrpc = ['ftp://hunter2@x']", "chains.main.rpc", "place 1 is no http or https URL")]
#[case("[chains.main]\nrpc = 'http://x/hunter2'", "chains.main.rpc", "another form")]
#[case("[chains.main]\nrpc = ['http://x']\nws = 'http://x/hunter2'", "chains.main.ws", "no ws or wss URL")]
#[case("[chains.main]\nrpc = ['http://x']\nrcp = 1", "chains.main.rcp", "unknown key in [chains.main]")]
#[case("[chains.main]\nrpc = ['http://x']\npoll_ms = 1", "chains.main.poll_ms", "1 is too small")]
#[case("[chains.main]\nrpc = ['http://x']\nconfirmations = 65", "chains.main.confirmations", "is more than")]
#[case("[chains.main]\nrpc = ['http://x']\nreorg_depth = 'a'", "chains.main.reorg_depth", "the text")]
#[case("[chains.main]\nrpc = ['http://x']\ncontracts.registry = '0x12'", "chains.main.contracts.registry", "refused")]
#[case("[chains.main]\nrpc = ['http://x']\nchain_id = 1", "chains.main.chain_id", "chain_id at the top")]
#[case("[chains.main]\nrpc = ['http://x']\npublic_rpc = 'x/hunter2'", "chains.main.public_rpc", "no http or https URL")]
#[case(
    "[chains.main]\nrpc = ['http://x']\nexplorer = 'https://u:hunter2@x'",
    "chains.main.explorer",
    "everybody is told"
)]
#[case("[chains.main]\nrpc = ['http://x']\ncurrency_symbol = ''", "chains.main.currency_symbol", "")]
#[case("[chains.main]\nrpc = ['http://x']\nlabel = \"a\\nb\"", "chains.main.label", "")]
#[case("[chains.bnb]\nrpc = ['http://x']", "chains.bnb.chain_id", "it is missing")]
#[case("[chains.BNB]\nrpc = ['http://x']\nchain_id = 56", "chains.BNB", "cannot be the name of a chain")]
fn a_wrong_chain_is_reported_without_its_addresses(#[case] text: &str, #[case] key: &str, #[case] part: &str) {
    let problems = file(text).problems();
    let found = problems.iter().find(|problem| problem.key == key);
    assert!(found.is_some_and(|problem| problem.message.contains(part)), "{problems:?}");
    assert!(!format!("{problems:?}").contains(SECRET), "{problems:?}");
}

#[test]
fn rpc_addresses_are_never_shown() {
    let config = file("[chains.main]\nrpc = ['https://user:hunter2@x/hunter2']\nws = 'wss://x/hunter2'").config();
    assert!(!format!("{config:?}").contains(SECRET));
    assert!(!serde_json::to_string(&config).unwrap().contains(SECRET));
}

#[test]
fn every_contract_of_the_network_is_published_under_its_own_name() {
    let config = variable("GATEWAY_CHAINS__MAIN__RPC", "http://a:1")
        .variable("GATEWAY_CHAINS__MAIN__CONTRACTS__X402VAULT", "0x00000000000000000000000000000000000000aa")
        .variable("GATEWAY_CHAINS__MAIN__CONTRACTS__ESCROW", "0x0000000000000000000000000000000000000000")
        .variable("GATEWAY_CHAINS__MAIN__CONTRACTS__MINE", "0x00000000000000000000000000000000000000bb")
        .config();
    let published = config.chains["main"].published_contracts();
    assert_eq!(published.len(), 14);
    assert_eq!((published["x402Vault"].is_some(), published["mine"].is_some()), (true, true));
    assert_eq!((published["escrow"], published["memoryAnchor"], published.get("x402vault")), (None, None, None));
    assert_eq!(config.chains["main"].deployed_contracts().keys().collect::<Vec<_>>(), ["mine", "x402Vault"]);
}
