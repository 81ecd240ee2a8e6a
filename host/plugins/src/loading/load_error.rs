//! Why a plugin's library cannot be used. Each text says what was found, what was expected and what to do.

use plugin_api::abi::ABI_MAJOR;
use std::{io, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(
        "is already loaded as another build (sha256 {running:.12}, the file has {found:.12}): restart the gateway to run the new one"
    )]
    NeedsRestart { running: String, found: String },
    #[error("cannot be copied to {} ({source}): let the gateway write there, or set another data_dir", folder.display())]
    Copy { folder: PathBuf, source: io::Error },
    #[error("cannot be mapped ({reason}): {advice}")]
    Map { reason: String, advice: &'static str },
    #[error("has a stamp but exports no plugin ({reason}): build it with plugin_api::export_plugin!")]
    NoModule { reason: String },
    #[error(
        "was built with abi_stable {found}, this gateway has {expected}: rebuild it against plugin-api {ABI_MAJOR}.x"
    )]
    OtherAbiStable { found: String, expected: String },
    #[error(
        "was built against plugin-api {found}, this gateway has {expected}: rebuild it against plugin-api {ABI_MAJOR}.x"
    )]
    OtherVersion { found: String, expected: String },
    #[error(
        "does not fit this gateway's plugin API ({difference}): rebuild it against an unmodified plugin-api {ABI_MAJOR}.x"
    )]
    OtherLayout { difference: String },
    #[error("cannot make its module ({reason}): ask its author, or go back to the build before")]
    Module { reason: String },
}
