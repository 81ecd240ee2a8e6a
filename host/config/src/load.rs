//! Loading: reads the layers, merges them, and validates what comes out.

use std::path::PathBuf;

use figment::value::Value;

use super::{
    admin,
    config::Config,
    database, environment, extract, file,
    layer::Layer,
    overrides::Overrides,
    problem::{Problem, Problems, Source},
    secrets, signers,
};

impl Config {
    /// Reads the layers of this process. The file is the one that `--config` names, else `GATEWAY_CONFIG`, else
    /// `config/gateway.toml` in the working folder, else the same beside the binary; without any, the defaults apply.
    pub fn load(flags: &Overrides) -> Result<Self, Problems> {
        Self::load_from(flags, environment::process_variables(), &file::default_paths())
    }

    /// The configuration as far as it can be read, with defaults for the rest, and every problem. For reports; nothing
    /// may run with a configuration that has problems.
    pub fn load_with_problems(flags: &Overrides) -> (Self, Vec<Problem>) {
        Self::load_layers(flags, environment::process_variables(), &file::default_paths())
    }

    /// As [`Self::load`], with these variables; `default_paths` are the files to try when none is named.
    pub(crate) fn load_from(
        flags: &Overrides,
        variables: impl IntoIterator<Item = (String, String)>,
        default_paths: &[PathBuf],
    ) -> Result<Self, Problems> {
        let (config, problems) = Self::load_layers(flags, variables, default_paths);
        Problems::into_result(problems).map(|()| config)
    }

    fn load_layers(
        flags: &Overrides,
        variables: impl IntoIterator<Item = (String, String)>,
        default_paths: &[PathBuf],
    ) -> (Self, Vec<Problem>) {
        let mut variables: Vec<_> = variables.into_iter().collect();
        let mut problems = Vec::new();
        let keys = signers::take_keys(&mut variables);
        let secrets_keys = secrets::take_keys(&mut variables);
        let token = admin::take_token(&mut variables);
        let layers = read_layers(flags, &variables, default_paths, &mut problems);
        let mut config = extract::extract(layers, &mut problems);
        signers::assign_keys(&mut config.signers, keys, &mut problems);
        config.secrets.assign_keys(secrets_keys);
        problems.extend(config.admin.assign_token(token, &config.sources).err());
        if let Err(invalid) = config.validate() {
            problems.extend(invalid.iter().cloned());
        }
        (config, problems)
    }
}

/// Whether the variable holds a key or a token, which nobody but the gateway may read.
pub fn is_key(variable: &str) -> bool {
    signers::is_signer_key(variable) || secrets::is_secrets_key(variable) || admin::is_token(variable)
}

/// File, environment, flags: weakest first. What cannot be read is reported and left out.
fn read_layers(
    flags: &Overrides,
    variables: &[(String, String)],
    default_paths: &[PathBuf],
    problems: &mut Vec<Problem>,
) -> Vec<Layer> {
    let mut layers: Vec<Layer> = file::read(flags, variables, default_paths, problems).into_iter().collect();
    layers.extend(environment::read(variables, problems));
    layers.extend(flags.set_values().map(|(key, flag, value)| Layer {
        source: Source::Flag(flag.to_owned()),
        dict: figment::util::nest(key, flag_value(value)).into_dict().unwrap_or_default(),
    }));
    problems.extend(layers.iter().flat_map(exposed_passwords));
    layers
}

/// A flag without a value stands for `true`.
fn flag_value(value: &str) -> Value {
    value.parse::<bool>().map_or_else(|_not_boolean| Value::from(value), Value::from)
}

/// A password where others can read it is a problem even when a stronger layer overrides the URL.
fn exposed_passwords(layer: &Layer) -> impl Iterator<Item = Problem> {
    let section = layer.dict.get("database");
    let urls = ["url", "listen_url", "read_urls"].into_iter().flat_map(move |name| {
        let value = section.and_then(|section| section.find_ref(name));
        let urls = value.map(|value| value.as_array().unwrap_or(std::slice::from_ref(value))).unwrap_or_default();
        urls.iter().filter_map(Value::as_str).map(move |url| (name, url))
    });
    urls.filter_map(|(name, url)| database::check_password_source(name, url, &layer.source))
}
