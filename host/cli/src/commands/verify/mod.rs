//! `gateway verify`: checks documents that a gateway signed.
//!
//! The rule: it needs no configuration and no gateway. What a document says is printed without its control characters.

mod audit;
mod cv;

use crate::arguments::VerifyCommand;
use crate::exit_code::Verdict;
use crate::output::Output;
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

pub fn run(output: Output, command: &VerifyCommand) -> Verdict {
    match command {
        VerifyCommand::Audit(file) => audit::run(output, file),
        VerifyCommand::Cv(credential) => cv::run(output, credential),
    }
}

/// A file, or standard input for `-`, of at most so many bytes.
fn bounded(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
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

fn not_checkable(reason: &str) -> Verdict {
    eprintln!("gateway: {reason}");
    Verdict::NotCheckable
}
