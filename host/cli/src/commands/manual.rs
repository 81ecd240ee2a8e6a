//! `gateway completions` and `gateway man`: what shells and `man` read, from the definition of the commands themselves.

use super::exit::{failure, printed};
use crate::arguments::Cli;
use crate::exit_code::ExitCode;
use crate::output::Output;
use clap::CommandFactory as _;
use clap_complete::Shell;
use serde_json::json;
use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

/// Prints the completions; a reader that closes early is no error.
pub(crate) fn completions(shell: Shell) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gateway", &mut text);
    match io::stdout().lock().write_all(&text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => failure(ExitCode::Failure, &error),
        _ => ExitCode::Ok,
    }
}

/// Writes `gateway.1` and a page for each command, such as `gateway-plugins-list.1`.
pub(crate) fn man(output: Output, folder: &Path) -> ExitCode {
    match write_pages(folder) {
        Ok(pages) => {
            let text = format!("{} pages in {}: man {}/gateway.1", pages.len(), folder.display(), folder.display());
            printed(output.print(&json!({ "pages": pages }), |_| text), ExitCode::Ok)
        }
        Err(error) => failure(ExitCode::Failure, &format!("{}: {error}", folder.display())),
    }
}

fn write_pages(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Cli::command(), folder)?;
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut pages = entries.collect::<io::Result<Vec<_>>>()?;
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "1"));
    pages.sort();
    Ok(pages)
}
