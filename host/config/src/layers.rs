//! The layers in order of strength. Rule: each value keeps the layer it came from.

use std::path::PathBuf;

use figment::{
    Error, Metadata, Profile, Provider,
    value::{Dict, Map, Value},
};

use super::{
    database, environment, file,
    overrides::Overrides,
    problem::{Problem, Source},
};

/// Values from one place.
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

/// File, environment, flags: weakest first. What cannot be read is reported and left out.
pub(super) fn read(
    flags: &Overrides,
    variables: &[(String, String)],
    candidates: &[PathBuf],
    found: &mut Vec<Problem>,
) -> Vec<Layer> {
    let mut layers: Vec<Layer> = file::read(flags, variables, candidates, found).into_iter().collect();
    layers.extend(environment::read(variables, found));
    layers.extend(flags.given().map(|(key, flag, value)| Layer {
        source: Source::Flag(flag.to_owned()),
        dict: figment::util::nest(key, Value::from(value)).into_dict().unwrap_or_default(),
    }));
    found.extend(layers.iter().filter_map(open_password));
    layers
}

/// A password that lies open is a problem even when a stronger layer hides it.
fn open_password(layer: &Layer) -> Option<Problem> {
    let url = layer.dict.get("database")?.find_ref("url")?.as_str()?;
    database::refuse_password(url, &layer.source)
}
