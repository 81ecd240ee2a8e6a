//! The gateway's own key, generated once. The rules: the file appears complete or not at all; of several gateways that
//! start at once one generates the key and all use it; an existing file is never replaced.

use super::{key::Key, private_file};
use secrecy::SecretString;
use std::{fs, io, path::Path};

/// Returns the key of the file, and whether it was generated just now.
pub fn open_or_generate(path: &Path) -> Result<(Key, bool), String> {
    match fs::symlink_metadata(path) {
        Ok(_) => read(path).map(|key| (key, false)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => generate(path),
        Err(error) => Err(format!("the file {} cannot be read: {error}", path.display())),
    }
}

/// Whether the key of the file can be used, if there is one.
pub fn check(path: &Path) -> Result<(), String> {
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
    let error_text = |error: io::Error| format!("no key can be kept in {}: {error}", path.display());
    let folder = path.parent().unwrap_or(Path::new("."));
    let key = Key::random()?;
    // A temporary file is created with access for its owner only.
    let mut temporary = tempfile::Builder::new().prefix(".gateway.key-").tempfile_in(folder).map_err(error_text)?;
    io::Write::write_all(&mut temporary, key.to_hex().as_bytes()).map_err(error_text)?;
    temporary.as_file().sync_all().map_err(error_text)?;
    match temporary.persist_noclobber(path) {
        Ok(_) => {
            // Synchronises the folder, so that the name survives a power failure as well.
            fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(error_text)?;
            Ok((key, true))
        }
        Err(persist) if persist.error.kind() == io::ErrorKind::AlreadyExists => read(path).map(|key| (key, false)),
        Err(persist) => Err(error_text(persist.error)),
    }
}
