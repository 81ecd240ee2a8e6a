//! `gateway plugins new`: writes a plugin that is built outside of the gateway's repository.
//!
//! The rule: it needs no configuration, so a machine without a gateway's own, or with a wrong one, can do it.

use super::exit::{failure, printed};
use crate::arguments::NewPlugin;
use crate::exit_code::ExitCode;
use crate::output::Output;
use plugin_api::abi::{ABI_MAJOR, ABI_MINOR};
use plugin_template::{Dependencies, PackageKind, check_name, files, report, write};
use serde_json::json;
use std::path::Path;

pub(crate) fn run(output: Output, plugin: &NewPlugin) -> ExitCode {
    let name = plugin.name.as_str();
    if let Err(error) = check_name(name) {
        return failure(ExitCode::Usage, &error);
    }
    if gateway_storage::is_reserved(name) {
        let error = format!("{name:?} belongs to the gateway and its databases: choose another name");
        return failure(ExitCode::Usage, &error);
    }
    let dependencies = match plugin.plugin_api.as_deref().map(Dependencies::in_folder).transpose() {
        Ok(dependencies) => {
            dependencies.unwrap_or_else(|| Dependencies::published(&format!("{ABI_MAJOR}.{ABI_MINOR}")))
        }
        Err(error) => return failure(ExitCode::Usage, &error),
    };
    let folder = plugin.dir.join(name);
    let files = files(name, &PackageKind::Outside(dependencies));
    if let Err(error) = write(&folder, &files) {
        return failure(ExitCode::Failure, &error);
    }
    let steps = next_steps(&folder, name);
    let facts = json!({
        "name": name,
        "folder": folder,
        "files": files.iter().map(|file| file.path).collect::<Vec<_>>(),
        "next": steps.iter().map(|(step, _)| step).collect::<Vec<_>>(),
    });
    printed(output.print(&facts, |_| report(&folder, &files, &steps)), ExitCode::Ok)
}

fn next_steps(folder: &Path, name: &str) -> [(String, &'static str); 4] {
    [
        (format!("cd {}", folder.display()), ""),
        ("cargo test".to_owned(), "its tests, through this program: GATEWAY_BIN, else `gateway` on PATH"),
        ("cargo build".to_owned(), "its library, to be copied into `plugins.dir` of a gateway"),
        (format!("gateway plugins enable {name}"), "the running gateway serves it"),
    ]
}
