//! `gateway verify`: checks documents that a gateway signed.
//!
//! The rule: it needs no configuration and no gateway. What a document says is printed without its control characters.

use crate::arguments::{AuditFile, VerifyCommand};
use crate::exit_code::Verdict;
use crate::output::{Output, printable};
use gateway_audit_verify::{Check, Expected, Report, verify};
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// An export of a gateway has at most 16 MiB.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub fn run(output: Output, VerifyCommand::Audit(file): &VerifyCommand) -> Verdict {
    let AuditFile { file, signer, agent } = file;
    let text = match read(file) {
        Ok(text) => text,
        Err(error) => return not_checkable(&format!("{}: {error}", file.display())),
    };
    match verify(&text, &Expected { signer: *signer, agent_id: *agent }) {
        Ok(report) => printed(output, &report),
        Err(error) => not_checkable(&printable(&error.to_string())),
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let bytes = if path == Path::new("-") {
        io::stdin().lock().take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?
    } else {
        File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?
    };
    if bytes as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

fn not_checkable(reason: &str) -> Verdict {
    eprintln!("gateway: {reason}");
    Verdict::NotCheckable
}

fn printed(output: Output, report: &Report) -> Verdict {
    if let Err(error) = output.print(report, |_| table(report)) {
        eprintln!("gateway: {error}");
    }
    if report.valid { Verdict::Valid } else { Verdict::Forged }
}

fn table(report: &Report) -> String {
    let about = format!("Audit export of agent {}, owner {}, {} lines", report.agent_id, report.owner, report.lines);
    let row = |check: &Check| {
        format!("{:<5} {:<17} {}", if check.ok { "ok" } else { "FAIL" }, check.name, printable(&check.detail))
    };
    let verdict = match (report.valid, report.is_signer_known) {
        (false, _) => "NOT VALID",
        (true, true) => "valid",
        (true, false) => "valid, if the signer is the gateway's: say --signer ADDRESS to compare it",
    };
    let rows = [printable(&about)].into_iter().chain(report.checks.iter().map(row)).chain([verdict.to_owned()]);
    rows.collect::<Vec<_>>().join("\n")
}
