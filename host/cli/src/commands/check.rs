//! `gateway check`: every problem of the configuration and of every plugin, at once; starts nothing.

use super::exit::{failure, printed};
use super::migrate::is_on;
use super::runtime::with_runtime;
use crate::exit_code::ExitCode;
use crate::open_files;
use crate::output::{Output, printable, problems_text};
use gateway::operators::{PluginHistory, Switches};
use gateway::{DryRunReport, FailedPlugin, TlsError};
use gateway_config::{Config, Overrides, Problem, Problems};
use gateway_plugins::{LoadOutcome, LoadedPlugin, PluginReport};
use jsonschema::{ValidationError, error::ValidationErrorKind};
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) fn run(output: Output, overrides: &Overrides) -> ExitCode {
    let (mut config, mut problems) = Config::load_with_problems(overrides);
    config.fit_open_files(open_files::raise_limit());
    let (plugins, mut refused) = match gateway_plugins::load_folder(&config) {
        Ok(loaded) => split(loaded),
        Err(error) if problems.is_empty() => return failure(ExitCode::Plugin, &error),
        // The problem with the folder is already in the list.
        Err(_) => (Vec::new(), Vec::new()),
    };
    let history = match with_runtime(PluginHistory::peek(&config)) {
        Ok(history) => history,
        Err(code) => return code,
    };
    problems.extend(plugin_problems(&config, &plugins, &refused, &history.switches));
    let plugin_count = plugins.len();
    let mut report = match with_runtime(gateway::dry_run_start(config.clone(), plugins, history)) {
        Ok(report) => report,
        Err(code) => return code,
    };
    let mut notes = std::mem::take(&mut report.notes);
    notes.extend(config.lowered_connections.iter().map(ToString::to_string));
    add_findings(&config, report, &mut problems, &mut refused);
    if let Err(TlsError { key, message, hint }) = gateway_admin::check_tls(&config.admin) {
        problems.push(Problem::new(key, config.sources().of(key), message, hint));
    }
    problems.sort();
    let facts = json!({ "ok": problems.is_empty() && refused.is_empty(), "problems": problems, "refused": refused, "notes": notes });
    let human = |_| text(&config, &problems, &refused, plugin_count, &notes);
    let code = match (problems.is_empty(), refused.is_empty()) {
        (false, _) => ExitCode::Config,
        (true, false) => ExitCode::Plugin,
        (true, true) => ExitCode::Ok,
    };
    printed(output.print(&facts, human), code)
}

/// What only a dry run finds. A plugin with a problem in its section, which it refuses then, is listed once.
fn add_findings(config: &Config, report: DryRunReport, problems: &mut Vec<Problem>, refused: &mut Vec<RefusedPlugin>) {
    let problem = |key: &str, message: String, hint: &str| Problem::new(key, config.sources().of(key), message, hint);
    if let Some(reason) = report.database {
        problems.push(problem("database.url", reason, "start the database, or name another one"));
    }
    if let Some(error) = report.tls {
        problems.push(problem(error.key, error.message, error.hint));
    }
    for (role, reason) in report.keys {
        problems.push(problem(&format!("signers.{role}"), reason, "what needs this key would be off"));
    }
    if let Some(fatal) = report.fatal.filter(|_| problems.is_empty()) {
        problems.push(problem("config", fatal.to_string(), "the gateway would not start"));
    }
    for FailedPlugin { report, reasons } in report.failed {
        let section = format!("plugins.{}", report.name);
        let is_of_section =
            |key: &str| key.strip_prefix(&section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let is_known = problems.iter().any(|problem| is_of_section(&problem.key));
        let mut left = Vec::new();
        for reason in reasons {
            match reason.strip_prefix(&format!("[{section}] is not valid: ")) {
                _ if problems.iter().any(|problem| problem.message == reason) => {}
                Some(_) if is_known => {}
                Some(reason) => {
                    problems.push(problem(
                        &section,
                        reason.to_owned(),
                        "see the README of the plugin for its settings",
                    ));
                }
                None => left.push(reason),
            }
        }
        if !left.is_empty() {
            refused.push(RefusedPlugin::new(report, left));
        }
    }
}

/// A plugin that would not serve, with every reason.
#[derive(Serialize)]
struct RefusedPlugin {
    #[serde(flatten)]
    report: PluginReport,
    reasons: Vec<String>,
}

impl RefusedPlugin {
    fn new(report: PluginReport, reasons: Vec<String>) -> Self {
        Self { report: PluginReport { reason: reasons.join("; "), ..report }, reasons }
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        self.reasons.iter().map(|reason| printable(&format!("{}: {reason}", self.report.name)))
    }
}

/// Plugins that must serve and are not there.
fn missing_problems(config: &Config, is_there: impl Fn(&str) -> bool) -> Vec<Problem> {
    let missing = config.plugins.required.iter().filter(|name| !is_there(name));
    let problem = |name: &String| {
        let hint = "put its library into plugins.dir, or remove it from the list";
        let source = config.sources().of("plugins.required");
        Problem::new("plugins.required", source, format!("there is no plugin {name}"), hint)
    };
    missing.map(problem).collect()
}

fn split(loaded: Vec<LoadOutcome>) -> (Vec<LoadedPlugin>, Vec<RefusedPlugin>) {
    let (mut plugins, mut refused) = (Vec::new(), Vec::new());
    for outcome in loaded {
        match outcome {
            Ok(plugin) => plugins.push(plugin),
            Err(report) => {
                let reasons = vec![report.reason.clone()];
                refused.push(RefusedPlugin::new(*report, reasons));
            }
        }
    }
    (plugins, refused)
}

/// Sections for plugins that are not there, and settings that a plugin's own schema refuses.
fn plugin_problems(
    config: &Config,
    plugins: &[LoadedPlugin],
    refused: &[RefusedPlugin],
    switches: &Switches,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let is_there = |name: &str| {
        plugins.iter().any(|plugin| plugin.name() == name) || refused.iter().any(|refused| refused.report.name == name)
    };
    problems.extend(missing_problems(config, is_there));
    for name in config.plugins.sections.keys() {
        if !is_there(name) {
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
    for plugin in plugins.iter().filter(|plugin| is_on(config, switches, plugin)) {
        problems.extend(migration_problems(config, plugin));
        problems.extend(consent_problem(config, plugin));
    }
    problems
}

fn consent_problem(config: &Config, plugin: &LoadedPlugin) -> Option<Problem> {
    let reason = gateway_plugins::missing_consent(plugin, &config.plugins.settings(plugin.name()))?;
    let key = format!("plugins.{}.grants", plugin.name());
    Some(Problem::new(&key, config.sources().of(&key), reason, "or set enabled = false, or remove the library"))
}

fn migration_problems(config: &Config, plugin: &LoadedPlugin) -> Vec<Problem> {
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

fn text(config: &Config, problems: &[Problem], refused: &[RefusedPlugin], plugins: usize, notes: &[String]) -> String {
    let mut lines = Vec::new();
    if let Err(problems) = Problems::into_result(problems.to_vec()) {
        lines.push(problems_text(&problems));
    }
    lines.extend(refused.iter().flat_map(RefusedPlugin::lines));
    if lines.is_empty() {
        let file = config.file().map_or_else(|| "no file, defaults only".to_owned(), |file| file.display().to_string());
        lines.push(format!("ok: the configuration ({file}) and {plugins} plugins have no problems"));
    }
    lines.extend(notes.iter().map(|note| format!("note: {note}")));
    lines.join("\n")
}
