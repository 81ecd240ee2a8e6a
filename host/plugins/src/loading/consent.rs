//! What a plugin asks for and what the operator has consented to.
//!
//! The rule: a plugin that did not come with this gateway gets keys, outbound HTTP, chains and private views only by the operator's word,
//! `[plugins.NAME] grants`. A plugin that asks for more does not start.

use super::LoadedPlugin;
use gateway_config::PluginSettings;
use plugin_api::manifest::{Grants, Manifest};
use std::collections::BTreeSet;

/// Why the plugin must not start; `None` when it asks for nothing that it was not granted.
pub fn missing_consent(plugin: &LoadedPlugin, settings: &PluginSettings) -> Option<String> {
    let asked = asked_grants(plugin);
    let granted = match &settings.grants {
        Some(granted) => granted.as_slice(),
        None if plugin.is_released => return None,
        None => &[],
    };
    let missing: Vec<&str> =
        asked.iter().map(String::as_str).filter(|name| !granted.iter().any(|g| g == name)).collect();
    if missing.is_empty() {
        return None;
    }
    let (name, missing) = (plugin.name(), missing.join(", "));
    let origin = if plugin.is_released { "" } else { " and did not come with this gateway" };
    Some(format!(
        "it asks for {missing}{origin}: if you trust it with that, write grants = {asked:?} into [plugins.{name}]"
    ))
}

/// What the plugin asks for. A name of its own needs nobody's word, and what comes with this gateway has the names that it has.
pub(crate) fn asked_grants(plugin: &LoadedPlugin) -> Vec<String> {
    let mut asked = grant_names(&plugin.manifest.grants);
    if !plugin.is_released {
        asked.extend(foreign_names(&plugin.manifest));
    }
    asked
}

/// Actions that it would have signed and events that it would publish in the name of others: `action:post.create`,
/// `event:post.create`.
fn foreign_names(manifest: &Manifest) -> BTreeSet<String> {
    let prefix = format!("{}.", manifest.name);
    let actions = manifest.routes.iter().filter_map(|route| route.auth.action());
    let actions = actions.filter(|name| !name.starts_with(&prefix)).map(|name| format!("action:{name}"));
    let events = manifest.event_types.iter().filter(|name| !name.starts_with(&prefix));
    actions.chain(events.map(|name| format!("event:{name}"))).collect()
}

/// Grants as the configuration and reports name them: `egress`, `chain:main`, `all_chains`, `signer:relayer`, `secrets`,
/// `raw_calls`, `files`, `view:messages_v1`.
pub(crate) fn grant_names(grants: &Grants) -> Vec<String> {
    let egress = grants.egress.then(|| "egress".to_owned());
    let chains = grants.chains.iter().map(|chain| format!("chain:{chain}"));
    let all_chains = grants.all_chains.then(|| "all_chains".to_owned());
    let roles = grants.signer_roles.iter().map(|role| format!("signer:{role}"));
    let secrets = grants.secrets.then(|| "secrets".to_owned());
    let raw_calls = grants.raw_calls.then(|| "raw_calls".to_owned());
    let files = grants.files.then(|| "files".to_owned());
    let views = grants.views.iter().map(|view| format!("view:{view}"));
    let others = all_chains.into_iter().chain(roles).chain(secrets).chain(raw_calls).chain(files).chain(views);
    egress.into_iter().chain(chains).chain(others).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use plugin_api::{
        abi::{Fault, FaultKind, FfiBytes, HostBox, PluginBox, PluginModule},
        abi_stable::{
            prefix_type::PrefixTypeTrait,
            std_types::{RResult, RString},
        },
        manifest::{Auth, RouteSpec},
    };
    use std::sync::Arc;

    extern "C" fn manifest() -> RResult<FfiBytes, Fault> {
        let grants = r#"{"egress": true, "chains": ["main"], "all_chains": true, "signer_roles": ["relayer"], "secrets": true,
            "raw_calls": true, "files": true, "views": ["letters_v1"]}"#;
        RResult::ROk(format!(r#"{{"name": "bank", "version": "1.0.0", "grants": {grants}}}"#).into())
    }

    extern "C" fn construct(_: HostBox, _: FfiBytes) -> RResult<PluginBox, Fault> {
        RResult::RErr(Fault { kind: FaultKind::Error, message: "not here".into(), location: RString::new() })
    }

    fn plugin(is_released: bool) -> LoadedPlugin {
        let plugin = LoadedPlugin::linked(PluginModule { manifest, construct }.leak_into_prefix()).unwrap();
        LoadedPlugin { is_released, ..plugin }
    }

    fn settings(grants: Option<&[&str]>) -> PluginSettings {
        let grants = grants.map(|grants| grants.iter().map(|grant| (*grant).to_owned()).collect());
        PluginSettings { grants, ..PluginSettings::default() }
    }

    #[test]
    fn a_foreign_plugin_starts_only_with_everything_it_asks_for() {
        let all = [
            "egress",
            "chain:main",
            "all_chains",
            "signer:relayer",
            "secrets",
            "raw_calls",
            "files",
            "view:letters_v1",
        ];
        let foreign = plugin(false);
        assert!(all.iter().all(|grant| PluginSettings::is_grant(grant)), "what is asked for can be written");
        assert_eq!(missing_consent(&foreign, &settings(Some(&all))), None);
        let reason = missing_consent(&foreign, &settings(None)).unwrap();
        assert_eq!(
            reason,
            "it asks for egress, chain:main, all_chains, signer:relayer, secrets, raw_calls, files, view:letters_v1 and did not come with this gateway: if you trust \
             it with that, write grants = [\"egress\", \"chain:main\", \"all_chains\", \"signer:relayer\", \"secrets\", \"raw_calls\", \"files\", \
             \"view:letters_v1\"] into [plugins.bank]"
        );
        for lacking in 0..all.len() {
            let granted: Vec<&str> = all.into_iter().filter(|grant| *grant != all[lacking]).collect();
            let reason = missing_consent(&foreign, &settings(Some(&granted))).unwrap();
            assert!(reason.starts_with(&format!("it asks for {} and", all[lacking])), "{reason}");
        }
        assert!(missing_consent(&foreign, &settings(Some(&["egress", "chain:other", "signer:gateway"]))).is_some());
    }

    #[test]
    fn names_of_others_are_asked_for() {
        let route = |action: &str| RouteSpec {
            auth: Auth::SignedBody { action: action.to_owned() },
            ..RouteSpec::new("POST", "/api/bank/x", "do_x")
        };
        let own = Manifest {
            name: "bank".to_owned(),
            event_types: ["bank.paid", "post.create"].map(str::to_owned).into(),
            routes: vec![route("bank.pay"), route("bounty.pay")],
            ..Manifest::default()
        };
        let claims = |is_released| LoadedPlugin { manifest: Arc::new(own.clone()), ..plugin(is_released) };
        let reason = missing_consent(&claims(false), &settings(None)).unwrap();
        assert!(reason.starts_with("it asks for action:bounty.pay, event:post.create and"), "{reason}");
        let granted = ["action:bounty.pay", "event:post.create"];
        assert_eq!(missing_consent(&claims(false), &settings(Some(&granted))), None);
        assert_eq!(missing_consent(&claims(true), &settings(None)), None);
    }

    #[test]
    fn a_released_plugin_needs_no_word_and_heeds_one() {
        let released = plugin(true);
        assert_eq!(missing_consent(&released, &settings(None)), None);
        let reason = missing_consent(&released, &settings(Some(&["egress"]))).unwrap();
        assert!(
            reason.starts_with(
                "it asks for chain:main, all_chains, signer:relayer, secrets, raw_calls, files, view:letters_v1: if you trust"
            ),
            "{reason}"
        );
    }
}
