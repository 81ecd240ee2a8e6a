//! One layer of the configuration: values from one place.

use figment::{
    Error, Metadata, Profile, Provider,
    value::{Dict, Map},
};

use super::problem::Source;

/// figment keeps with each value which layer it came from.
pub(super) struct Layer {
    pub(super) source: Source,
    pub(super) dict: Dict,
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        match &self.source {
            Source::Default => Metadata::named("default"),
            Source::File(path) => Metadata::from("file", path.as_path()),
            Source::Environment(name) => Metadata::from("environment variable", name.as_str()),
            Source::Flag(name) => Metadata::from("flag", name.as_str()),
        }
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        Ok(Profile::Default.collect(self.dict.clone()))
    }
}
