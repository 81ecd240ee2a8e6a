//! `gateway verify audit`: checks the audit export of an agent.

use super::input::{not_checkable, read_bounded};
use crate::exit_code::VerifyExitCode;
use crate::output::{Output, printable};
use crate::verify_arguments::AuditFile;
use gateway_audit_verify::{AuditReport, Check, Expected, verify};

/// An export of a gateway has at most 16 MiB.
const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(crate) fn run(output: Output, AuditFile { file, signer, agent }: &AuditFile) -> VerifyExitCode {
    let text = match read_bounded(file, FILE_BYTES_MAX).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => return not_checkable(&format!("{}: {error}", file.display())),
        Err(error) => return not_checkable(&format!("{}: {error}", file.display())),
    };
    match verify(&text, &Expected { signer: *signer, agent_id: *agent }) {
        Ok(report) => printed(output, &report),
        Err(error) => not_checkable(&printable(&error.to_string())),
    }
}

fn printed(output: Output, report: &AuditReport) -> VerifyExitCode {
    if let Err(error) = output.print(report, |_| table(report)) {
        eprintln!("gateway: {error}");
    }
    if report.valid { VerifyExitCode::Valid } else { VerifyExitCode::Forged }
}

fn table(report: &AuditReport) -> String {
    let about = format!("Audit export of agent {}, owner {}, {} lines", report.agent_id, report.owner, report.lines);
    let row = |check: &Check| {
        format!("{:<5} {:<17} {}", if check.ok { "ok" } else { "FAIL" }, check.name, printable(&check.detail))
    };
    let verdict = match (report.valid, report.is_signer_known) {
        (false, _) => "NOT VALID",
        (true, true) => "valid",
        (true, false) => "valid, if the signer is the gateway's: say --signer ADDRESS to compare it",
    };
    let incomplete = match (report.valid, report.missing.join(", ")) {
        (true, missing) if !missing.is_empty() => {
            format!("; it is incomplete: lines of {} are missing", printable(&missing))
        }
        _ => String::new(),
    };
    let verdict = format!("{verdict}{incomplete}");
    let rows = [printable(&about)].into_iter().chain(report.checks.iter().map(row)).chain([verdict]);
    rows.collect::<Vec<_>>().join("\n")
}
