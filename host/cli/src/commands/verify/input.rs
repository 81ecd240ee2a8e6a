//! What is verified: files of a bounded size.

use crate::exit_code::VerifyExitCode;
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// A file, or standard input for `-`, of at most so many bytes.
pub(crate) fn read_bounded(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let (mut bytes, limit) = (Vec::new(), bytes_max as u64 + 1);
    if path == Path::new("-") {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    }
    if bytes.len() > bytes_max {
        return Err(io::Error::other(format!("it has more than {bytes_max} bytes")));
    }
    Ok(bytes)
}

pub(crate) fn not_checkable(reason: &str) -> VerifyExitCode {
    eprintln!("gateway: {reason}");
    VerifyExitCode::NotCheckable
}
