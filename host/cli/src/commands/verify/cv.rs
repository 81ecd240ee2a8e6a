//! `gateway verify cv`: checks the credential of an agent against the chain.

use super::input::{not_checkable, read_bounded};
use crate::commands::runtime::with_runtime;
use crate::exit_code::VerifyExitCode;
use crate::output::{Output, printable};
use crate::verify_arguments::Credential;
use gateway_clock::Clock;
use gateway_cv_verify::{
    ByTrust, Contracts, CredentialReport, DOCUMENT_BYTES_MAX, Expected, HttpRpc, StepOutcome, Verdict,
    VerificationStep, fetch, verify,
};
use std::path::Path;

/// A deployment file has some dozen lines.
const CONTRACTS_BYTES_MAX: usize = 1024 * 1024;

pub(crate) fn run(output: Output, credential: &Credential) -> VerifyExitCode {
    let checked = with_runtime(check(credential)).unwrap_or_else(|_not_started| Err("no runtime".to_owned()));
    match checked {
        Ok(report) => printed(output, &report),
        Err(reason) => not_checkable(&printable(&reason)),
    }
}

async fn check(credential: &Credential) -> Result<CredentialReport, String> {
    let Credential { document, rpc, contracts: file, issuer, trust, domain } = credential;
    let expected = Expected {
        contracts: contracts(file)?,
        issuers: issuer.clone(),
        trust: *trust,
        domain_name: domain.clone(),
        now_s: Clock::System.now_ms() / 1000,
    };
    let servers: Result<Vec<HttpRpc>, _> = rpc.iter().map(|url| HttpRpc::new(url)).collect();
    let servers = servers.map_err(|error| error.to_string())?;
    let bytes = read(document).await?;
    verify(&bytes, &servers, &expected).await.map_err(|error| format!("{document}: no credential: {error}"))
}

fn contracts(file: &Path) -> Result<Contracts, String> {
    let bytes = read_bounded(file, CONTRACTS_BYTES_MAX).map_err(|error| format!("{}: {error}", file.display()))?;
    String::from_utf8_lossy(&bytes).parse().map_err(|error| format!("{}: {error}", file.display()))
}

async fn read(document: &str) -> Result<Vec<u8>, String> {
    if document.starts_with("http://") || document.starts_with("https://") {
        return fetch(document, DOCUMENT_BYTES_MAX).await.map_err(|error| format!("{document}: {error}"));
    }
    read_bounded(Path::new(document), DOCUMENT_BYTES_MAX).map_err(|error| format!("{document}: {error}"))
}

fn printed(output: Output, report: &CredentialReport) -> VerifyExitCode {
    if let Err(error) = output.print(report, |_| table(report)) {
        eprintln!("gateway: {error}");
    }
    match report.verdict {
        Verdict::Valid => VerifyExitCode::Valid,
        Verdict::Forged => VerifyExitCode::Forged,
        Verdict::Stale | Verdict::Superseded => VerifyExitCode::Outdated,
        Verdict::NotCheckable => VerifyExitCode::NotCheckable,
    }
}

fn mark(outcome: StepOutcome) -> &'static str {
    match outcome {
        StepOutcome::Ok => "ok",
        StepOutcome::Superseded => "SUPERSEDED",
        StepOutcome::Stale => "STALE",
        StepOutcome::NotCheckable => "NOT CHECKED",
        StepOutcome::Forged => "FORGED",
    }
}

fn table(report: &CredentialReport) -> String {
    let mut lines = vec![
        format!("Credential of agent {}, {:?}, owner {}", report.agent_id, report.name, report.subject),
        format!("as of block {}, valid until {}, {}", report.as_of_block, report.valid_until, report.uri),
        String::new(),
    ];
    report.steps.iter().for_each(|step| lines.extend(rows(step)));
    let jobs = &report.jobs;
    let literally = match jobs.holds_literally {
        None => "",
        Some(true) => ", and completed with resolved do not exceed jobsCompleted",
        Some(false) => "; completed with resolved exceed jobsCompleted, as they do where resolved jobs were lost",
    };
    lines.extend([
        String::new(),
        format!(
            "Jobs: {} completed, {} failed, {} of them resolved{literally}",
            jobs.completed, jobs.failed, jobs.resolved
        ),
        format!("Claims: {}; dropped: {}", counted(report.kept), counted(report.dropped)),
    ]);
    if !report.unprotected.is_empty() {
        lines.push(format!("No signature covers these members of the proof: {}", report.unprotected.join(", ")));
    }
    let verdict = match report.verdict {
        Verdict::Valid => "valid",
        Verdict::Superseded => "SUPERSEDED: the owner anchored another document",
        Verdict::Stale => "STALE: it was right, fetch it again",
        Verdict::NotCheckable => "NOT CHECKABLE",
        Verdict::Forged => "FORGED",
    };
    lines.push(verdict.to_owned());
    lines.iter().map(|line| printable(line)).collect::<Vec<_>>().join("\n")
}

fn rows(step: &VerificationStep) -> Vec<String> {
    let detail = if step.outcome == StepOutcome::Ok { step.detail.as_str() } else { "" };
    let head = format!("{:<11} {:>2} {:<22}{detail}", mark(step.outcome), step.n, step.name);
    let finding = |finding: &gateway_cv_verify::Finding| format!("{:>15}{}: {}", "", finding.about, finding.text);
    let more = (step.more_findings > 0).then(|| format!("{:>15}and {} more", "", step.more_findings));
    let rows = [head.trim_end().to_owned()].into_iter().chain(step.findings.iter().map(finding));
    rows.chain(more).collect()
}

fn counted(claims: ByTrust) -> String {
    format!("{} proven, {} of the gateway, {} of the agent", claims.chain, claims.gateway, claims.self_attested)
}
