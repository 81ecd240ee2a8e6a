//! Files that hold secrets. The rule: nobody but their owner reads them, or they are not used.

use std::{fs, io::Read as _, path::Path};
use zeroize::Zeroizing;

/// More is no password and no key.
const BYTES_MAX: u64 = 64 * 1024;
/// Of the rights of a file: what group and others may do.
const OTHERS: u32 = 0o077;

/// The text of the file, without white space at its end. Errors name the file and never its content.
pub fn read(path: &Path) -> Result<Zeroizing<String>, String> {
    let failed = |error: std::io::Error| format!("the file {} cannot be read: {error}", path.display());
    let file = fs::File::open(path).map_err(failed)?;
    // Of what was opened, not of what the name means by now.
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    check_rights(path, &metadata)?;
    let size = usize::try_from(metadata.len().min(BYTES_MAX)).unwrap_or(0);
    // As large as the file: a text that grew would leave copies behind.
    let mut text = Zeroizing::new(String::with_capacity(size + 1));
    file.take(BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    let length = text.trim_end().len();
    text.truncate(length);
    Ok(text)
}

#[cfg(unix)]
fn check_rights(path: &Path, metadata: &fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    let rights = metadata.permissions().mode();
    if rights & OTHERS == 0 {
        return Ok(());
    }
    let (name, rights) = (path.display(), rights & 0o777);
    Err(format!("the file {name} can be used by others than its owner (rights {rights:03o}): chmod 600 {name}"))
}

#[cfg(not(unix))]
fn check_rights(_: &Path, _: &fs::Metadata) -> Result<(), String> {
    Ok(())
}
