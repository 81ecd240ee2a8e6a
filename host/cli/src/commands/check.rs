//! `gateway check`: every problem of the configuration and of every plugin, at once; starts nothing.

use super::exit::{failure, printed};
use crate::exit_code::ExitCode;
use crate::output::{Output, problems_text};
use gateway_config::{Config, Overrides, Problem, Problems};
use gateway_plugins::{LoadedPlugin, PluginReport};
use jsonschema::{ValidationError, error::ValidationErrorKind};
use serde_json::{Value, json};

pub fn run(output: Output, overrides: &Overrides) -> ExitCode {
    let (config, mut problems) = Config::load_with_problems(overrides);
    let (plugins, refused) = match gateway_plugins::load_folder(&config) {
        Ok(loaded) => {
            let (plugins, refused) = split(loaded);
            problems.extend(plugin_problems(&config, &plugins, &refused));
            (plugins, refused)
        }
        Err(error) if problems.is_empty() => return failure(ExitCode::Plugin, &error),
        // The problem with the folder is already in the list.
        Err(_) => (Vec::new(), Vec::new()),
    };
    problems.sort();
    let reports: Vec<&PluginReport> = refused.iter().collect();
    let facts = json!({ "ok": problems.is_empty() && refused.is_empty(), "problems": problems, "refused": reports });
    let human = |_| text(&config, &problems, &refused, plugins.len());
    let code = match (problems.is_empty(), refused.is_empty()) {
        (false, _) => ExitCode::Config,
        (true, false) => ExitCode::Plugin,
        (true, true) => ExitCode::Ok,
    };
    printed(output.print(&facts, human), code)
}

fn split(loaded: Vec<Result<LoadedPlugin, Box<PluginReport>>>) -> (Vec<LoadedPlugin>, Vec<PluginReport>) {
    let (mut plugins, mut refused) = (Vec::new(), Vec::new());
    for outcome in loaded {
        match outcome {
            Ok(plugin) => plugins.push(plugin),
            Err(report) => refused.push(*report),
        }
    }
    (plugins, refused)
}

/// Sections for plugins that are not there, and settings that a plugin's own schema refuses.
fn plugin_problems(config: &Config, plugins: &[LoadedPlugin], refused: &[PluginReport]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in config.plugins.sections.keys() {
        let is_there =
            plugins.iter().any(|plugin| plugin.name() == name) || refused.iter().any(|report| report.name == *name);
        if !is_there {
            let key = format!("plugins.{name}");
            let hint = "remove the section, or put the plugin's library into plugins.dir";
            problems.push(Problem::new(
                &key,
                config.sources().of(&key),
                "no plugin of this name is in the folder",
                hint,
            ));
        }
    }
    for plugin in plugins.iter().filter(|plugin| config.plugins.is_enabled(plugin.name())) {
        problems.extend(schema_problems(config, plugin));
    }
    problems
}

fn schema_problems(config: &Config, plugin: &LoadedPlugin) -> Vec<Problem> {
    let settings = Value::Object(config.plugins.settings(plugin.name()).config);
    let Ok(validator) = jsonschema::validator_for(&plugin.manifest.config_schema) else { return Vec::new() };
    let section = format!("plugins.{}", plugin.name());
    validator.iter_errors(&settings).flat_map(|error| schema_problem(config, &section, &error)).collect()
}

/// One problem, or one for each key that the plugin does not know. Values are not shown: they may be secrets.
fn schema_problem(config: &Config, section: &str, error: &ValidationError<'_>) -> Vec<Problem> {
    let place = format!("{section}{}", error.instance_path().to_string().replace('/', "."));
    let problem = |key: String, message: String| {
        let source = config.sources().of(&key);
        Problem::new(key, source, message, "see the README of the plugin for its settings")
    };
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let unknown = |key: &String| problem(format!("{place}.{key}"), "the plugin has no such key".to_owned());
            unexpected.iter().map(unknown).collect()
        }
        _ => vec![problem(place, error.masked().to_string())],
    }
}

fn text(config: &Config, problems: &[Problem], refused: &[PluginReport], plugins: usize) -> String {
    let mut lines = Vec::new();
    if let Err(problems) = Problems::into_result(problems.to_vec()) {
        lines.push(problems_text(&problems));
    }
    lines.extend(refused.iter().map(|report| format!("{}: {}", report.name, report.reason)));
    if lines.is_empty() {
        let file = config.file().map_or_else(|| "no file, defaults only".to_owned(), |file| file.display().to_string());
        lines.push(format!("ok: the configuration ({file}) and {plugins} plugins have no problems"));
    }
    lines.join("\n")
}
