//! What the start prints, and says about settings that weaken a guarantee.

use super::{in_time, setup};
use gateway_tests::process::Setup;
use nix::{
    pty::openpty,
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::PermissionsExt as _,
    process::Stdio,
};

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

/// What a gateway prints that is stopped as soon as it says that it serves.
async fn printed(setup: &Setup, stdout: impl Into<Stdio>, mut reader: impl Read + Send + 'static) -> String {
    let mut child = setup.spawn_printing(&["run"], stdout).unwrap();
    let process = Pid::from_raw(child.id().try_into().unwrap());
    let read = move || {
        let (mut printed, mut part, mut is_told) = (String::new(), [0; 4096], false);
        // A terminal ends with an error when nobody has it open any more.
        while let Ok(length @ 1..) = reader.read(&mut part) {
            printed.push_str(&String::from_utf8_lossy(&part[..length]));
            if printed.contains("database") && !is_told {
                kill(process, Signal::SIGTERM).unwrap();
                is_told = true;
            }
        }
        child.wait().unwrap();
        printed
    };
    in_time(tokio::task::spawn_blocking(read)).await.unwrap()
}

/// Whoever reads a log could send the request.
#[tokio::test]
async fn a_signed_request_to_try_is_printed_on_a_terminal_only() {
    let example = "a signed request to try";
    let (reader, writer) = io::pipe().unwrap();
    let piped = printed(&setup(), writer, reader).await;
    assert!(piped.contains("is serving") && !piped.contains(example), "{piped}");
    let terminal = openpty(None, None).unwrap();
    let shown = printed(&setup(), terminal.slave, File::from(terminal.master)).await;
    assert!(shown.contains("is serving") && shown.contains(example), "{shown}");
}
