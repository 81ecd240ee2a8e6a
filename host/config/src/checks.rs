//! Checks on the values themselves, once every key has its type. Rule: a check reports and goes on, so that the operator
//! sees all problems in one run.

use std::path::{Path, PathBuf};

use serde_json::Value;
use url::Url;

use super::{
    Config,
    problem::{Problem, Problems},
    schema::{Leaf, Node, Section},
    sources::Sources,
};

/// Collects problems and knows where each key came from.
pub(super) struct Checks<'a> {
    sources: &'a Sources,
    found: Vec<Problem>,
}

impl Checks<'_> {
    pub(super) fn refuse(&mut self, key: &str, message: String, hint: impl Into<String>) {
        self.found.push(Problem::new(key, self.sources.of(key), message, hint));
    }

    /// A text that stands on one line: not empty, no line break, not longer than 100 characters.
    pub(super) fn one_line(&mut self, key: &str, text: &str) {
        if text.trim().is_empty() || text.chars().any(char::is_control) || text.chars().count() > 100 {
            self.refuse(
                key,
                format!("{text:?} is not one line of text"),
                "write 1 to 100 characters without line breaks",
            );
        }
    }

    /// A folder that must be there.
    pub(super) fn readable_folder(&mut self, key: &str, path: &Path) {
        if let Err(error) = std::fs::read_dir(path) {
            let message = format!("the folder {} cannot be read: {error}", path.display());
            self.refuse(key, message, "create it, or name another; relative paths start where the gateway is started");
        }
    }

    /// A folder that is made at the start unless it is there.
    fn creatable_folder(&mut self, key: &str, path: &Path) {
        if path.exists() {
            return self.readable_folder(key, path);
        }
        if let Some(blocker) = nearest_existing(path).filter(|nearest| !nearest.is_dir()) {
            let message =
                format!("the folder {} cannot be made: {} is not a folder", path.display(), blocker.display());
            self.refuse(key, message, "name another folder; relative paths start where the gateway is started");
        }
    }
}

fn nearest_existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|ancestor| ancestor.exists()).map(Path::to_path_buf)
}

/// All problems of a configuration whose keys and types are right.
pub(super) fn check(config: &Config) -> Result<(), Problems> {
    let mut checks = Checks { sources: &config.sources, found: Vec::new() };
    check_top(config, &mut checks);
    config.brand.check(&mut checks);
    config.http.check(&mut checks);
    config.limits.check(&mut checks);
    config.admin.check(&config.http, &mut checks);
    config.database.check(&mut checks);
    config.plugins.check(&mut checks);
    config.egress.check(&mut checks);
    config.chains.iter().for_each(|(name, chain)| chain.check(name, config.chain_id, &mut checks));
    config.signers.iter().for_each(|(role, signer)| signer.check(role, &mut checks));
    config.tx.check(&mut checks);
    config.log.check(&mut checks);
    match serde_json::to_value(config) {
        Ok(values) => check_ranges(super::schema::root(), &values, "", &mut checks),
        Err(error) => {
            checks.refuse("config", format!("it cannot be written as JSON: {error}"), "use UTF-8 in every path")
        }
    }
    Problems::into_result(checks.found)
}

fn check_top(config: &Config, checks: &mut Checks<'_>) {
    checks.one_line("network_name", &config.network_name);
    checks.creatable_folder("data_dir", &config.data_dir);
    if let Some(text) = &config.base_url
        && !Url::parse(text).is_ok_and(|url| is_public_base(&url))
    {
        checks.refuse(
            "base_url",
            "it is no http or https URL that paths could be added to".to_owned(),
            "write scheme and host, such as https://gateway.example, without user, query or fragment",
        );
    }
}

fn is_public_base(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none()
}

/// The bounds that stand in the schema, beside the field they belong to.
fn check_ranges(section: &Section, values: &Value, prefix: &str, checks: &mut Checks<'_>) {
    for (name, value) in values.as_object().into_iter().flatten() {
        let Some(node) = section.get(name) else {
            continue;
        };
        match node {
            Node::Section(inner) => check_ranges(inner, value, &format!("{prefix}{name}."), checks),
            Node::Leaf(leaf) => check_range(leaf, value, &format!("{prefix}{name}"), checks),
        }
    }
}

fn check_range(leaf: &Leaf, value: &Value, key: &str, checks: &mut Checks<'_>) {
    let Some(number) = value.as_u64() else { return };
    if number < leaf.minimum {
        checks.refuse(key, format!("{number} is too small"), leaf.expected());
    } else if leaf.maximum.is_some_and(|maximum| number > maximum) {
        checks.refuse(key, format!("{number} is too large"), leaf.expected());
    }
}
