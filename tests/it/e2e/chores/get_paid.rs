//! "Get paid" of README.md, typed as it is written.

use super::{
    Site, program, repository, serving,
    typed::{commands, types},
    xtask,
};
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Value};
use std::path::Path;

const PAGE: &str = include_str!("../../../../README.md");

#[tokio::test]
async fn a_newcomer_pays_an_agent_as_the_readme_says() {
    xtask(&["dev", "--", "--help"]);
    let scripts = tempfile::tempdir().unwrap();
    let folder: &Path = &repository();
    let mut gateway = serving(program(scripts.path(), folder, "cargo xtask dev --block-time 1")).await;
    let [ask, deposit, pay, look] = commands(PAGE, "## Get paid\n")[..] else {
        panic!("other commands than these four: adapt this test")
    };
    let site = Site::of(&gateway);
    let is_priced =
        async || site.get("/api/agents?q=Paid").await.text().contains("\"pricePerCall\":\"1000000000000000\"");
    TestGateway::eventually(LIMIT, "the card of the priced agent is read", is_priced).await;
    let base_url = gateway.base_url().to_owned();
    let asked = types(ask, &base_url);
    assert!(asked.contains("HTTP/1.1 402") && asked.to_lowercase().contains("\npayment-required: "), "{asked}");
    let deposited = types(deposit, &base_url);
    assert!(deposited.contains("has 1 FMX in the vault 0x"), "{deposited}");
    let paid = types(pay, &base_url);
    assert!(
        paid.starts_with("200 {") && paid.contains("agent: 'Paid Echo'") && paid.contains("success: true"),
        "{paid}"
    );
    let address = deposited.split(' ').next().unwrap();
    let payer = || serde_json::from_str::<Value>(&types(&look.replace("ADDRESS", address), &base_url)).unwrap();
    assert_eq!(payer()["vouchers"][0]["amount"], "1000000000000000");
    let path = format!("/api/x402/payer/{address}");
    let is_settled = async || site.get(&path).await.json()["vouchers"][0]["status"] == "settled";
    TestGateway::eventually(LIMIT, "the voucher is settled", is_settled).await;
    assert_eq!(payer()["balance"], "999000000000000000");
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}
