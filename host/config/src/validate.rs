//! Validation of the values, once every key has its type.

use serde_json::Value;
use url::Url;

use super::{
    config::Config,
    problem::Problems,
    schema::{self, Leaf, Node, Section},
    validator::Validator,
};

impl Config {
    /// Every problem with the values.
    pub fn validate(&self) -> Result<(), Problems> {
        let mut validator = Validator::new(&self.sources);
        validate_top_level(self, &mut validator);
        self.brand.validate(&mut validator);
        self.http.validate(&mut validator);
        self.limits.validate(&mut validator);
        self.admin.validate(&self.http, &mut validator);
        self.database.validate(&mut validator);
        self.web.validate(&mut validator);
        self.backup.validate(&mut validator);
        self.plugins.validate(&mut validator);
        self.egress.validate(&mut validator);
        self.chains.iter().for_each(|(name, chain)| chain.validate(name, self.chain_id, &mut validator));
        self.signers.iter().for_each(|(role, signer)| signer.validate(role, &mut validator));
        self.secrets.validate(&mut validator);
        self.tx.validate(&mut validator);
        self.log.validate(&mut validator);
        self.traces.validate(&mut validator);
        match serde_json::to_value(self) {
            Ok(values) => validate_ranges(schema::root(), &values, "", &mut validator),
            Err(error) => {
                validator.refuse("config", format!("it cannot be written as JSON: {error}"), "use UTF-8 in every path")
            }
        }
        validator.into_result()
    }
}

fn validate_top_level(config: &Config, validator: &mut Validator<'_>) {
    validator.check_one_line("network_name", &config.network_name);
    validator.check_creatable_folder("data_dir", &config.data_dir);
    if let Some(text) = &config.base_url {
        validator.check_base_url("base_url", text);
        if config.http.tls.files().is_some() && Url::parse(text).is_ok_and(|url| url.scheme() == "http") {
            let message = "it begins with http://, and the listener speaks TLS ([http.tls])".to_owned();
            validator.refuse("base_url", message, "write https://, as clients do");
        }
    }
}

impl Validator<'_> {
    /// A URL that paths can be added to.
    pub(super) fn check_base_url(&mut self, key: &str, text: &str) {
        if !Url::parse(text).is_ok_and(|url| is_public_base(&url)) {
            self.refuse(
                key,
                "it is no http or https URL that paths could be added to".to_owned(),
                "write scheme and host, such as https://gateway.example, without user, query or fragment",
            );
        }
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

/// Checks the bounds that the fields declare in the schema.
fn validate_ranges(section: &Section, values: &Value, prefix: &str, validator: &mut Validator<'_>) {
    for (name, value) in values.as_object().into_iter().flatten() {
        let Some(node) = section.get(name) else {
            continue;
        };
        match node {
            Node::Section(inner) => validate_ranges(inner, value, &format!("{prefix}{name}."), validator),
            Node::Leaf(leaf) => validate_range(leaf, value, &format!("{prefix}{name}"), validator),
        }
    }
}

fn validate_range(leaf: &Leaf, value: &Value, key: &str, validator: &mut Validator<'_>) {
    let Some(number) = value.as_u64() else { return };
    if number < leaf.minimum {
        validator.refuse(key, format!("{number} is too small"), leaf.expected());
    } else if leaf.maximum.is_some_and(|maximum| number > maximum) {
        validator.refuse(key, format!("{number} is too large"), leaf.expected());
    }
}
