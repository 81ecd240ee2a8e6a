//! `gateway plugins inspect`: what one library file is, asks for and offers.
//!
//! The rule: of a file that fails an inspection nothing runs, and with `--no-load` nothing of any file.

use super::exit::{failure, printed};
use crate::arguments::LibraryFile;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::plugin_details::PluginDetails;
use gateway_plugins::{LoadedPlugin, PluginError, PluginFile, PluginReport, PluginState};
use serde_json::{Value, json};

pub(crate) fn file(output: Output, library: &LibraryFile) -> ExitCode {
    let file = match gateway_plugins::open(&library.file, None) {
        Ok(file) => file,
        Err(error) => return failure(ExitCode::Plugin, &error),
    };
    let offers = if library.no_load { Ok(None) } else { load(&file).map(Some) };
    match offers {
        Ok(offers) => {
            let facts = facts(&file, offers.as_ref());
            printed(output.print(&facts, |_| text(&file, offers.as_ref())), ExitCode::Ok)
        }
        Err(LoadFailure::NoFolder(error)) => failure(ExitCode::Failure, &error),
        Err(LoadFailure::Refused(error)) => failure(ExitCode::Plugin, &error),
    }
}

enum LoadFailure {
    NoFolder(std::io::Error),
    Refused(PluginError),
}

/// Loads it from a copy of its own, as a gateway does.
fn load(file: &PluginFile) -> Result<PluginReport, LoadFailure> {
    let folder = tempfile::tempdir().map_err(LoadFailure::NoFolder)?;
    let plugin = LoadedPlugin::load(file, folder.path()).map_err(LoadFailure::Refused)?;
    Ok(PluginReport::of_loaded(&plugin, PluginState::Stopped))
}

fn facts(file: &PluginFile, offers: Option<&PluginReport>) -> Value {
    let inspection = &file.inspection;
    let (major, minor) = inspection.abi;
    let mut facts = json!({
        "name": inspection.name,
        "version": inspection.version,
        "pluginApi": format!("{major}.{minor}"),
        "sha256": inspection.sha256,
        "bytes": inspection.bytes,
        "path": inspection.path,
    });
    if let Some(report) = offers {
        facts["grants"] = json!(report.grants);
        facts["endpoints"] = json!(report.endpoints);
        facts["actions"] = json!(report.actions);
        facts["events"] = json!(report.events);
    }
    facts
}

fn text(file: &PluginFile, offers: Option<&PluginReport>) -> String {
    let inspection = &file.inspection;
    let (major, minor) = inspection.abi;
    let mut facts = PluginDetails::default();
    facts.one("name", &inspection.name);
    facts.one("version", &inspection.version);
    facts.one("plugin API", &format!("{major}.{minor}"));
    facts.one("sha256", &inspection.sha256);
    facts.one("size", &format!("{} bytes", inspection.bytes));
    if let Some(report) = offers {
        facts.add_offers(report);
    }
    facts.into_text()
}
