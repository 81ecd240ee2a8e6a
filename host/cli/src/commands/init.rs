//! `gateway init`: the files of a new gateway in a folder of their own.
//!
//! The rule: nothing that exists is overwritten. The configuration is looked for first, so that a second call changes nothing.

use super::exit::{failure, printed};
use crate::arguments::NewGateway;
use crate::exit_code::ExitCode;
use crate::output::Output;
use gateway_config::Config;
use gateway_signers::Signers;
use serde_json::json;
use std::{
    fs::{self, DirBuilder, File},
    io::{self, Write as _},
    os::unix::fs::DirBuilderExt as _,
    path::Path,
};

/// The documented configuration: every key with its default.
const CONFIG: &str = include_str!("../../../../config/gateway.toml");
/// Of the gateway, and where a gateway that starts in the folder looks for it.
const CONFIG_FILE: &str = "config/gateway.toml";
const DATA_DIR: &str = "data";

pub(crate) fn run(output: Output, new: &NewGateway) -> ExitCode {
    let (config_file, data_dir) = (new.dir.join(CONFIG_FILE), new.dir.join(DATA_DIR));
    if let Err(error) = write_config(&config_file).and_then(|()| make_private(&data_dir)) {
        return failure(ExitCode::Failure, &explain(&config_file, &error));
    }
    let mut config = Config::default();
    config.data_dir.clone_from(&data_dir);
    let address = match Signers::open(&mut config).key("gateway") {
        Ok(key) => key.address().to_string(),
        Err(error) => return failure(ExitCode::Failure, &error),
    };
    let facts = json!({ "config": config_file, "dataDir": data_dir, "signer": address });
    let text = format!(
        "{}  the configuration: every key with its default\n{}  for everything that is kept, with the key of {address}\n\n\
         Set brand.message_line to a text of your own, so that signatures for other gateways are void here. Then:\n\n  \
         cd {}\n  gateway check\n  gateway run",
        config_file.display(),
        data_dir.display(),
        new.dir.display(),
    );
    printed(output.print(&facts, |_| text), ExitCode::Ok)
}

fn write_config(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::create_new(path)?;
    file.write_all(CONFIG.as_bytes())?;
    file.sync_all()
}

/// For the gateway's user alone: databases and keys will be in it. One that exists is left as it is.
fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn explain(file: &Path, error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return format!("{} exists, and nothing is overwritten: choose another folder", file.display());
    }
    format!("{}: {error}", file.display())
}
