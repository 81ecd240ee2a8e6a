//! `gateway verify`: checks documents that a gateway signed.
//!
//! The rule: it needs no configuration and no gateway. What a document says is printed without its control characters.

mod audit;
mod cv;
mod input;

use crate::arguments::VerifyCommand;
use crate::exit_code::Verdict;
use crate::output::Output;
pub fn run(output: Output, command: &VerifyCommand) -> Verdict {
    match command {
        VerifyCommand::Audit(file) => audit::run(output, file),
        VerifyCommand::Cv(credential) => cv::run(output, credential),
    }
}
