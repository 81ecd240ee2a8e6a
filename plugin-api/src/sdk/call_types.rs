//! The types of an extension point or a service, as the gateway compares them between plugins.

use crate::manifest::{CallTypes, ServiceSpec};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

pub fn service_spec<I: JsonSchema, O: JsonSchema>(name: &str) -> ServiceSpec {
    ServiceSpec { name: name.to_owned(), types: call_types::<I, O>(), in_write: false }
}

pub fn call_types<I: JsonSchema, O: JsonSchema>() -> CallTypes {
    CallTypes { input: plain_schema::<I>(), output: plain_schema::<O>() }
}

/// A schema that says the same for equal types: without the names of Rust types and the texts of their documentation.
fn plain_schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    remove_texts(&mut schema);
    schema
}

/// Members of `properties` are names of the type's own.
fn remove_texts(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for text in ["title", "description", "examples", "deprecated"] {
                members.shift_remove(text);
            }
            for (name, member) in members {
                match member {
                    Value::Object(properties) if name == "properties" || name == "$defs" => {
                        properties.values_mut().for_each(remove_texts);
                    }
                    member => remove_texts(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(remove_texts),
        _ => {}
    }
}
