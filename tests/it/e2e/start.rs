//! What the start says about settings that weaken a guarantee.

use super::setup;
use std::{fs, os::unix::fs::PermissionsExt as _};

#[tokio::test]
async fn one_rpc_server_is_said_to_be_believed_alone() {
    let alone = setup().set("chains.main.rpc", "http://127.0.0.1:9");
    alone.start().await.unwrap();
    assert!(alone.log().contains("add another to chains.main.rpc"), "{}", alone.log());
    let two = setup().set("chains.main.rpc", "http://127.0.0.1:9,http://127.0.0.1:10");
    two.start().await.unwrap();
    assert!(!two.log().contains("add another"), "{}", two.log());
}

#[tokio::test]
async fn a_plugins_folder_that_others_may_write_is_named() {
    let setup = setup();
    let folder = setup.folder().join("plugins");
    fs::create_dir(&folder).unwrap();
    let setup = setup.set("plugins.dir", folder.display());
    let warning = "others than root and the gateway's user may write it";
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    setup.start().await.unwrap();
    assert!(!setup.log().contains(warning), "{}", setup.log());
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    setup.start().await.unwrap();
    assert!(setup.log().contains(warning) && setup.log().contains(folder.to_str().unwrap()), "{}", setup.log());
}
