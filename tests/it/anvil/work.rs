//! The call that a job's `action` names really delivers the job, on a real chain.

use super::{FMX, builders_with, close, indexed, script, settings};
use gateway_tests::devnet::Devnet;

const ACTION: &str = "call deliver(uint256 1, bytes32 outputHash, string outputURI) on the contract escrow";

#[tokio::test]
async fn the_action_of_a_job_delivers_it() {
    let devnet = Devnet::start().await.unwrap();
    let register = ["Digger", "https://a.example", "", "1"];
    devnet.send("user1", "registry", script::REGISTER, &register, 100 * FMX).await.unwrap();
    let hash = format!("0x{:064x}", 1);
    devnet.send("user2", "escrow", script::REQUEST, &["1", &hash, "fmx://payload/in"], FMX).await.unwrap();
    let plugins = [agents::plugin_module(), work::plugin_module()];
    let mut gateways = Vec::new();
    for builder in builders_with(&settings(&devnet), &plugins).await {
        gateways.push(builder.start().await);
    }
    for gateway in &gateways {
        indexed(gateway, &devnet).await;
        let list = gateway.get("/api/work?kind=job").await.json();
        let escrow = devnet.facts.contracts["escrow"].to_string();
        assert_eq!(list["items"][0]["action"], format!("{ACTION} ({escrow}) as the owner of agent 1"), "{list}");
        assert_eq!(list["items"][0]["rewardFmx"], "1");
    }

    // The types of the call that was read, and values for the names.
    let values = ["1", &hash, "fmx://payload/out"];
    let sent = devnet.send("user1", "escrow", "deliver(uint256,bytes32,string)", &values, 0).await.unwrap();
    devnet.included(&sent).await.unwrap();
    for gateway in gateways {
        indexed(&gateway, &devnet).await;
        assert_eq!(gateway.get("/api/jobs/1").await.json()["status"], "Delivered");
        assert_eq!(gateway.get("/api/work").await.json()["total"], 0);
        close(gateway).await;
    }
}
