//! Whether a manifest makes sense, before anything is built from it.
//!
//! The rule: every problem is listed at once, in words its author can act on; what a newer plugin-api may add
//! (extension points, fields) is not a problem.

mod documents;
mod queues;
mod routes;
mod subscriptions;
#[cfg(test)]
mod tests;

use documents::check_documents;
use gateway_jobs::JobSet;
use plugin_api::{
    abi::{is_plugin_name, is_snake_case},
    manifest::{ContributionSpec, Manifest, MigrationSpec},
};
pub(crate) use queues::check_queue_limits;
use queues::check_queues;
use routes::{check_needed_settings, check_routes};
use std::collections::HashSet;
use subscriptions::check_subscriptions;

/// Checks the whole document; with `stamped` (name and version) it must be the one of that file.
pub fn validate_manifest(manifest: &Manifest, stamped: Option<(&str, &str)>) -> Result<(), Vec<String>> {
    let mut problems = Vec::new();
    check_identity(manifest, stamped, &mut problems);
    check_routes(&manifest.routes, &mut problems);
    check_needed_settings(manifest, &mut problems);
    check_jobs(manifest, &mut problems);
    check_queues(manifest, &mut problems);
    check_migrations(&manifest.migrations, &mut problems);
    check_views(manifest, &mut problems);
    check_contributions(manifest, &mut problems);
    check_subscriptions(manifest, &mut problems);
    check_requires(manifest, &mut problems);
    check_documents(manifest, &mut problems);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn check_identity(manifest: &Manifest, stamped: Option<(&str, &str)>, problems: &mut Vec<String>) {
    let (name, version) = (manifest.name.as_str(), manifest.version.as_str());
    if !is_plugin_name(name) {
        problems.push(format!("name `{name}`: expected a-z, 0-9 and _, first a letter, 2 to 31 characters"));
    }
    if version.is_empty() {
        problems.push("version is empty".to_owned());
    }
    if let Some((stamped_name, stamped_version)) = stamped
        && (name, version) != (stamped_name, stamped_version)
    {
        problems.push(format!("says {name} {version}, but the stamp of its file {stamped_name} {stamped_version}"));
    }
    if !(manifest.config_schema.is_object() || manifest.config_schema.is_null()) {
        problems.push("config_schema: expected an object".to_owned());
    }
}

fn check_jobs(manifest: &Manifest, problems: &mut Vec<String>) {
    if let Err(invalid) = JobSet::new(&manifest.name, &manifest.jobs) {
        problems.extend(invalid.problems);
    }
}

fn check_migrations(migrations: &[MigrationSpec], problems: &mut Vec<String>) {
    for (migration, expected) in migrations.iter().zip(1_u32..) {
        let mut problem =
            |text: String| problems.push(format!("migration {} `{}`: {text}", migration.version, migration.name));
        if migration.version != expected {
            problem(format!("expected version {expected}: versions are 1, 2, 3 … in order"));
        }
        if !is_snake_case(&migration.name) {
            problem("name: expected a-z, 0-9 and _, first a letter".to_owned());
        }
        let is_empty = |sql: &str| sql.trim().is_empty();
        if is_empty(&migration.sql) || migration.postgres.as_deref().is_some_and(is_empty) {
            problem("has no SQL".to_owned());
        }
    }
}

fn check_views(manifest: &Manifest, problems: &mut Vec<String>) {
    let mut names = HashSet::new();
    for view in &manifest.views {
        let is_versioned = view.rsplit_once("_v").is_some_and(|(name, version)| {
            is_snake_case(name) && !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit())
        });
        if !is_versioned {
            problems.push(format!("view `{view}`: expected a name with a version, like `agents_v1`"));
        }
        if !names.insert(view) {
            problems.push(format!("view `{view}` is there twice"));
        }
    }
    for view in manifest.private_views.iter().filter(|view| !names.contains(view)) {
        problems.push(format!("private view `{view}`: expected one of the plugin's views"));
    }
}

fn check_contributions(manifest: &Manifest, problems: &mut Vec<String>) {
    let mut points = HashSet::new();
    for ContributionSpec { point, .. } in &manifest.contributions {
        if point.is_empty() {
            problems.push("a contribution names no extension point".to_owned());
        }
        if !points.insert(point) {
            problems.push(format!("contributes to `{point}` twice"));
        }
    }
    for (list, word) in
        [(&manifest.points, "point"), (&manifest.provides, "provided service"), (&manifest.uses, "used service")]
    {
        let mut names = HashSet::new();
        for spec in list {
            if spec.name.is_empty() || !names.insert(&spec.name) {
                problems.push(format!("the {word} `{}` has no name or is there twice", spec.name));
            }
        }
    }
    let prefix = format!("{}.", manifest.name);
    for point in manifest.points.iter().filter(|point| !point.name.starts_with(&prefix)) {
        problems.push(format!("point `{}`: expected a name of its own, `{prefix}…`", point.name));
    }
    let mut topics = HashSet::new();
    for topic in &manifest.topics {
        if topic.is_empty() || !topics.insert(topic) {
            problems.push(format!("the topic `{topic}` has no name or is there twice"));
        }
    }
}

fn check_requires(manifest: &Manifest, problems: &mut Vec<String>) {
    let mut names = HashSet::new();
    for required in &manifest.requires {
        if !is_plugin_name(required) {
            problems.push(format!("requires `{required}`: expected the name of a plugin"));
        }
        if *required == manifest.name {
            problems.push("requires itself".to_owned());
        }
        if !names.insert(required) {
            problems.push(format!("requires `{required}` twice"));
        }
    }
}
