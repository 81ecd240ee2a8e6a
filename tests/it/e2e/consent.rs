//! A plugin that did not come with the gateway gets outbound HTTP, keys, chains and names of others only by the operator's word.

use super::{setup, site::Site};
use gateway_tests::{
    plugins::plugin_file,
    process::{GatewayProcess, LIMIT, Setup},
};
use plugin_testing::{TestGateway, Value};
use std::fs;

const TOOLS: &str = "/api/tools";
const REASON: &str = "it asks for egress, action:tool.publish, event:tool.publish and did not come with this gateway";

/// A gateway with a copy of one plugin, in a folder where no build puts any.
fn with_foreign_tools() -> Setup {
    let setup = setup();
    let folder = setup.folder().join("plugins");
    fs::create_dir(&folder).unwrap();
    let library = plugin_file("tools").unwrap();
    fs::copy(&library, folder.join(library.file_name().unwrap())).unwrap();
    setup.with_plugins_of(&folder)
}

async fn report(gateway: &GatewayProcess) -> Value {
    Site::at(gateway.admin_url()).get("/plugins").await.json()[0].clone()
}

#[tokio::test]
async fn a_foreign_plugin_waits_for_the_operators_consent() {
    let gateway = with_foreign_tools().with_config("").unwrap().start().await.unwrap();
    let site = Site::of(&gateway);
    let waits = report(&gateway).await;
    assert_eq!((&waits["state"], &waits["grants"][0]), (&"failed".into(), &"egress".into()), "{waits}");
    assert!(waits["reason"].as_str().unwrap().starts_with(REASON), "{waits}");
    assert_eq!(site.get(TOOLS).await.status, 404);

    let config = "[plugins.tools]\ngrants = [\"egress\", \"action:tool.publish\", \"event:tool.publish\"]\n";
    gateway.setup().write_config(config).unwrap();
    gateway.sighup().unwrap();
    TestGateway::eventually(LIMIT, "it serves", async || site.get(TOOLS).await.status == 200).await;

    // A consent that is taken back holds at the plugin's next start.
    gateway.setup().write_config("[plugins.tools]\ngrants = []\nenabled = false\n").unwrap();
    gateway.sighup().unwrap();
    TestGateway::eventually(LIMIT, "it is off", async || site.get(TOOLS).await.status == 404).await;
    gateway.setup().write_config("[plugins.tools]\ngrants = []\n").unwrap();
    gateway.sighup().unwrap();
    let fails = async || report(&gateway).await["state"] == "failed";
    TestGateway::eventually(LIMIT, "it waits again", fails).await;
}

#[test]
fn list_and_check_tell_what_to_write() {
    let setup = with_foreign_tools();
    let listed = setup.run(&["plugins", "list"]).unwrap();
    assert_eq!(listed.code, Some(5), "{listed:?}");
    assert!(listed.stdout.contains("GRANTS") && listed.stdout.contains(REASON), "{}", listed.stdout);
    let checked = setup.run(&["check"]).unwrap();
    assert!(checked.stdout.contains(REASON) && checked.stdout.contains("plugins.tools.grants"), "{checked:?}");
    let consented = setup.set("plugins.tools.grants", "egress,action:tool.publish,event:tool.publish");
    assert_eq!(consented.run(&["plugins", "list"]).unwrap().code, Some(0));
    assert_eq!(consented.run(&["check"]).unwrap().code, Some(0));
}
