//! The gateway's own key, made once. The rules: the file appears complete or not at all, of several gateways that start at
//! once one makes it and all use it, and one that is there is never replaced.

use super::{key::Key, private_file};
use secrecy::SecretString;
use std::{fs, io, path::Path};

/// The key of the file, and whether it was made just now.
pub fn open_or_make(path: &Path) -> Result<(Key, bool), String> {
    match fs::symlink_metadata(path) {
        Ok(_) => read(path).map(|key| (key, false)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(path),
        Err(error) => Err(format!("the file {} cannot be read: {error}", path.display())),
    }
}

fn read(path: &Path) -> Result<Key, String> {
    let text = private_file::read(path)?;
    let text = SecretString::from(text.as_str());
    Key::from_hex(&text).map_err(|error| format!("the file {} holds no key: {error}", path.display()))
}

fn make(path: &Path) -> Result<(Key, bool), String> {
    let failed = |error: io::Error| format!("no key can be kept in {}: {error}", path.display());
    let folder = path.parent().unwrap_or(Path::new("."));
    let key = Key::random()?;
    // Only its owner may use it, from its first moment.
    let mut draft = tempfile::Builder::new().prefix(".gateway.key-").tempfile_in(folder).map_err(failed)?;
    io::Write::write_all(&mut draft, key.to_hex().as_bytes()).map_err(failed)?;
    draft.as_file().sync_all().map_err(failed)?;
    match draft.persist_noclobber(path) {
        Ok(_) => {
            // The name, too, must outlast a power cut.
            fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
            Ok((key, true))
        }
        Err(other) if other.error.kind() == io::ErrorKind::AlreadyExists => read(path).map(|key| (key, false)),
        Err(other) => Err(failed(other.error)),
    }
}
