//! JSON Schemas of a plugin's types, as they stand in its manifest.

use crate::manifest::Manifest;
use schemars::generate::SchemaSettings;
use serde_json::Value;

const SCHEMAS: &str = "#/components/schemas/";

pub(crate) fn schema_settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    })
}

/// Two plugins may both have a `ThreadView`: in the gateway's document it is `forum.ThreadView`.
pub(crate) fn prefix_schemas(manifest: &mut Manifest) {
    let prefix = format!("{SCHEMAS}{}.", manifest.name);
    let schemas = std::mem::take(&mut manifest.schemas);
    for (name, mut schema) in schemas {
        prefix_refs(&mut schema, &prefix);
        manifest.schemas.insert(format!("{}.{name}", manifest.name), schema);
    }
    for route in &mut manifest.routes {
        let answers = route.answers.iter_mut().filter_map(|answer| answer.schema.as_mut());
        let parameters = route.parameters.iter_mut().map(|parameter| &mut parameter.schema);
        let details = route.error_details.iter_mut().map(|detail| &mut detail.schema);
        route
            .body
            .iter_mut()
            .chain(answers)
            .chain(parameters)
            .chain(details)
            .for_each(|schema| prefix_refs(schema, &prefix));
    }
}

fn prefix_refs(schema: &mut Value, prefix: &str) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(target) if name == "$ref" => {
                        if let Some(rest) = target.strip_prefix(SCHEMAS) {
                            *target = format!("{prefix}{rest}");
                        }
                    }
                    member => prefix_refs(member, prefix),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| prefix_refs(item, prefix)),
        _ => {}
    }
}
