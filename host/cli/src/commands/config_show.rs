//! `gateway config show`: the configuration in effect, key by key, with the layer that set each.

use super::exit::{config_problems, printed};
use crate::exit_code::ExitCode;
use crate::output::{Output, printable};
use gateway_config::{Config, EffectiveValue, Overrides, Source};

pub(crate) fn run(output: Output, overrides: &Overrides, only_set: bool) -> ExitCode {
    let config = match Config::load(overrides) {
        Ok(config) => config,
        Err(problems) => return config_problems(&problems),
    };
    let mut values = config.effective();
    values.retain(|value| !only_set || value.source != Source::Default);
    printed(output.print(&values, |_| text(&values)), ExitCode::Ok)
}

/// Lines as in the file, with dots in the keys, and the source as a comment.
fn text(values: &[EffectiveValue]) -> String {
    let settings: Vec<String> = values.iter().map(setting).collect();
    let width = settings.iter().map(|setting| setting.chars().count()).filter(|width| *width <= 60).max();
    let width = width.unwrap_or_default();
    let lines = settings.iter().zip(values).map(|(setting, value)| format!("{setting:width$}  # {}", value.source));
    lines.map(|line| printable(&line)).collect::<Vec<_>>().join("\n")
}

fn setting(value: &EffectiveValue) -> String {
    match value {
        EffectiveValue { key, is_hidden: true, .. } => format!("{key} = (set, not shown)"),
        EffectiveValue { key, value, .. } if value.is_null() => format!("{key} = (not set)"),
        EffectiveValue { key, value, .. } => format!("{key} = {value}"),
    }
}
