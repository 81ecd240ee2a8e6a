//! Funds and used nonces: from the vault's events, and by the vault while these are missing.

use crate::{
    CONFIRMATIONS, CONTRACT, FMX, MINUTE, PAYEE, deposited, draft::Draft, each, mock, read, set_funds, set_verify,
    settled, unlock_requested, verify_payment::problem, withdrawn,
};
use plugin_testing::{ScriptedChain, TestGateway, json};

/// A wallet without a deposit.
const NEW: u64 = 20;

/// A voucher for half of what is deposited.
fn half(gateway: &TestGateway) -> Draft {
    Draft { amount: FMX / 2, ..Draft::new(gateway, NEW, 1) }
}

#[tokio::test]
async fn a_deposit_counts_when_it_is_deep_enough() {
    each(json!({}), async |chain, gateway| {
        let draft = half(gateway);
        assert!(problem(gateway, &draft.payment()).await.contains("the vault holds 0 wei of the payer, and"));
        // What the vault itself would say does not matter.
        let requests = chain.requests();
        chain.mine(vec![deposited(draft.payer(), FMX / 2), deposited(draft.payer(), FMX / 2)]);
        for _ in 0..CONFIRMATIONS {
            gateway.indexed(chain).await;
            let why = problem(gateway, &draft.payment()).await;
            assert!(why.contains(&format!("the vault holds 0 wei of the payer ({FMX} more are in blocks")), "{why}");
            let other = Draft { amount: FMX, ..Draft::new(gateway, 1, 1) };
            assert_eq!(problem(gateway, &other.payment()).await, "", "another payer has his");
            chain.mine_empty(1);
        }
        gateway.indexed(chain).await;
        assert_eq!(problem(gateway, &draft.payment()).await, "");
        assert!(chain.requests() > requests, "blocks are read meanwhile");
    })
    .await;
}

/// The vault is asked about its signature, and not about its funds.
#[tokio::test]
async fn a_deposit_of_a_contract_counts_when_it_is_deep_enough() {
    each(json!({}), async |chain, gateway| {
        chain.mock_call(CONTRACT, "isValidSignature(bytes32,bytes) returns (bytes4)", &[json!("0x1626ba7e")]);
        set_verify(chain, true, "");
        let mut payment = Draft { amount: FMX + 1, ..Draft::new(gateway, 1, 1) }.payment();
        payment["voucher"]["payer"] = json!(CONTRACT);
        payment["signature"] = json!(format!("0x{}", "ab".repeat(100)));
        set_funds(chain, 2 * FMX, 0);
        chain.mine(vec![deposited(CONTRACT, 1)]);
        gateway.indexed(chain).await;
        let why = problem(gateway, &payment).await;
        assert!(why.contains("(1 more are in blocks"), "{why}");
        chain.mine_empty(CONFIRMATIONS);
        gateway.indexed(chain).await;
        assert_eq!(problem(gateway, &payment).await, "");
    })
    .await;
}

#[tokio::test]
async fn what_leaves_counts_at_once() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft { amount: FMX, ..Draft::new(gateway, 1, 1) };
        assert_eq!(problem(gateway, &draft.payment()).await, "");
        chain.mine(vec![unlock_requested(draft.payer(), gateway.now_s())]);
        gateway.indexed(chain).await;
        assert!(problem(gateway, &draft.payment()).await.contains("take the balance out"));
        chain.mine(vec![withdrawn(draft.payer(), 1)]);
        gateway.indexed(chain).await;
        let why = problem(gateway, &draft.payment()).await;
        assert!(why.contains(&format!("the vault holds {} wei", FMX - 1)), "{why}");
        let other = Draft { amount: FMX - 1, ..Draft::new(gateway, 1, 2) };
        assert_eq!(problem(gateway, &other.payment()).await, "", "a withdrawal locks again");
    })
    .await;
}

#[tokio::test]
async fn a_deposit_that_is_undone_does_not_count() {
    each(json!({}), async |chain, gateway| {
        let draft = half(gateway);
        chain.mine(vec![deposited(draft.payer(), FMX)]);
        chain.mine_empty(CONFIRMATIONS);
        gateway.indexed(chain).await;
        assert_eq!(problem(gateway, &draft.payment()).await, "");
        chain.reorg(CONFIRMATIONS + 1);
        chain.mine_empty(CONFIRMATIONS + 2);
        gateway.indexed(chain).await;
        assert!(problem(gateway, &draft.payment()).await.contains("the vault holds 0 wei"));
    })
    .await;
}

/// Mines a block of which the plugin gets no events, and waits until the gateway has its header.
pub async fn fall_behind(chain: &ScriptedChain, gateway: &TestGateway, blocks: u64) {
    gateway.execute("UPDATE host_chain_index SET stopped = 'by the test' WHERE plugin = 'x402'").await;
    chain.mine_empty(blocks);
    until_head(chain, gateway).await;
}

async fn until_head(chain: &ScriptedChain, gateway: &TestGateway) {
    let knows = async || read(gateway, "/api/health").await["head"] == chain.head();
    TestGateway::eventually(MINUTE, "the head is known", knows).await;
}

/// As long as a reorganisation may take it back. The vault itself counts it at once.
#[tokio::test]
async fn a_new_deposit_does_not_count_either_when_the_vault_is_asked() {
    each(json!({}), async |chain, gateway| {
        let draft = half(gateway);
        fall_behind(chain, gateway, 4).await;
        set_funds(chain, FMX, 0);
        chain.mine(vec![deposited(draft.payer(), FMX / 2), deposited(PAYEE, FMX)]);
        chain.mine(vec![deposited(draft.payer(), 1)]);
        until_head(chain, gateway).await;
        let why = problem(gateway, &draft.payment()).await;
        let missing = format!("the vault holds {} wei of the payer ({} more are", FMX / 2 - 1, FMX / 2 + 1);
        assert!(why.contains(&missing), "{why}");
        chain.mine_empty(1);
        until_head(chain, gateway).await;
        assert_eq!(problem(gateway, &draft.payment()).await, "", "the first one is deep enough");
    })
    .await;
}

#[tokio::test]
async fn the_vault_is_asked_when_events_are_missing() {
    each(json!({}), async |chain, gateway| {
        let (draft, used) = (half(gateway), Draft::new(gateway, 2, 7));
        chain.mine(vec![settled(&used, [5; 32])]);
        gateway.indexed(chain).await;
        let by_vault = async || problem(gateway, &draft.payment()).await.is_empty();
        fall_behind(chain, gateway, 3).await;
        assert!(!by_vault().await, "three blocks do not matter");
        fall_behind(chain, gateway, 1).await;
        assert!(by_vault().await);
        set_funds(chain, FMX / 2 - 1, 0);
        assert!(!by_vault().await);
        set_funds(chain, FMX, gateway.now_s());
        assert!(problem(gateway, &draft.payment()).await.contains("take the balance out"));
        set_funds(chain, FMX, 0);
        mock(chain, "used(address,uint256) returns (bool)", &[json!(true)]);
        assert!(problem(gateway, &draft.payment()).await.contains("the vault has settled it"));
        mock(chain, "used(address,uint256) returns (bool)", &[json!(false)]);
        assert!(problem(gateway, &used.payment()).await.contains("the vault has settled it"), "by its events");
    })
    .await;
}
