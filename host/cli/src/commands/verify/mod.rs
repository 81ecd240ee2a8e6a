//! `gateway verify`: checks documents that a gateway signed.
//!
//! The rule: it needs no configuration and no gateway. What a document says is printed without its control characters.

mod audit;
mod cv;
mod input;

use crate::exit_code::VerifyExitCode;
use crate::output::Output;
use crate::verify_arguments::VerifyCommand;
pub(crate) fn run(output: Output, command: &VerifyCommand) -> VerifyExitCode {
    match command {
        VerifyCommand::Audit(file) => audit::run(output, file),
        VerifyCommand::Cv(credential) => cv::run(output, credential),
    }
}
