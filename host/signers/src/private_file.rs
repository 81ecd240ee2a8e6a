//! Files with secrets. The rule: a file that anyone but its owner can access is not used.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::Path,
};
use zeroize::Zeroizing;

/// No password and no key is longer.
const BYTES_MAX: u64 = 64 * 1024;
/// The permissions of group and others.
const GROUP_AND_OTHERS: u32 = 0o077;

/// Reads the file without white space at its end. Errors name the file and never contain its text.
pub fn read(path: &Path) -> Result<Zeroizing<String>, String> {
    let error_text = |error: io::Error| format!("the file {} cannot be read: {error}", path.display());
    let file = fs::File::open(path).map_err(error_text)?;
    // The metadata of the open file: the path may mean another file by now.
    let metadata = file.metadata().map_err(error_text)?;
    if !metadata.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    check_permissions(path, &metadata)?;
    let size = usize::try_from(metadata.len().min(BYTES_MAX)).unwrap_or(0);
    // With the capacity of the file: a string that grows would leave copies of the secret behind.
    let mut text = Zeroizing::new(String::with_capacity(size + 1));
    file.take(BYTES_MAX).read_to_string(&mut text).map_err(error_text)?;
    let length = text.trim_end().len();
    text.truncate(length);
    Ok(text)
}

/// Writes a secret to a new file; returns whether it did: one that exists is not replaced. The file appears complete or not at all.
pub fn create(path: &Path, text: &str) -> Result<bool, String> {
    let error_text = |error: io::Error| format!("no key can be kept in {}: {error}", path.display());
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A temporary file is created with access for its owner only.
    let temporary = tempfile::Builder::new().prefix(&format!(".{name}-")).tempfile_in(folder);
    let mut temporary = temporary.map_err(error_text)?;
    temporary.write_all(text.as_bytes()).map_err(error_text)?;
    temporary.as_file().sync_all().map_err(error_text)?;
    match temporary.persist_noclobber(path) {
        Ok(_) => {
            // Synchronises the folder, so that the name survives a power failure as well.
            fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(error_text)?;
            Ok(true)
        }
        Err(persist) if persist.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(persist) => Err(error_text(persist.error)),
    }
}

#[cfg(unix)]
fn check_permissions(path: &Path, metadata: &fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    let rights = metadata.permissions().mode();
    if rights & GROUP_AND_OTHERS == 0 {
        return Ok(());
    }
    let (name, rights) = (path.display(), rights & 0o777);
    Err(format!("the file {name} can be used by others than its owner (rights {rights:03o}): chmod 600 {name}"))
}

#[cfg(not(unix))]
fn check_permissions(_: &Path, _: &fs::Metadata) -> Result<(), String> {
    Ok(())
}
