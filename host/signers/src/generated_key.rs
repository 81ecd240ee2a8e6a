//! The gateway's own key, generated once. The rules: the file appears complete or not at all; of several gateways that
//! start at once one generates the key and all use it; an existing file is never replaced.

use super::{key::Key, private_file};
use secrecy::SecretString;
use std::{fs, io, path::Path};

/// Returns the key of the file, and whether it was generated just now.
pub(crate) fn open_or_generate(path: &Path) -> Result<(Key, bool), String> {
    match fs::symlink_metadata(path) {
        Ok(_) => read(path).map(|key| (key, false)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => generate(path),
        Err(error) => Err(format!("the file {} cannot be read: {error}", path.display())),
    }
}

/// Whether the key of the file can be used, if there is one.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => read(path).map(drop),
    }
}

fn read(path: &Path) -> Result<Key, String> {
    let text = private_file::read(path)?;
    let text = SecretString::from(text.as_str());
    Key::from_hex(&text).map_err(|error| format!("the file {} holds no key: {error}", path.display()))
}

fn generate(path: &Path) -> Result<(Key, bool), String> {
    let key = Key::random()?;
    if private_file::create(path, &key.to_hex())? { Ok((key, true)) } else { read(path).map(|key| (key, false)) }
}
