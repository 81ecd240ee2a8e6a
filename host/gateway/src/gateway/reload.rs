//! SIGHUP: a running gateway applies what it can, and names what waits for a restart.
//!
//! The rule: the report covers every key that differs, so that no change of the file is ignored in silence.

use super::Gateway;
use futures_util::future::BoxFuture;
use gateway_config::Config;
use std::sync::Arc;

/// The keys that differ from what was in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReloadReport {
    pub applied: Vec<String>,
    /// They take effect when the gateway, or the plugin of the section, starts again.
    pub waiting: Vec<String>,
}

impl Gateway {
    /// Applies a configuration that has no problems.
    pub fn reload(&self, config: Config) -> BoxFuture<'_, ReloadReport> {
        Box::pin(async move {
            let before = self.live.load_full();
            let after = Arc::new(merged(&before, &config));
            self.live.store(after.clone());
            let mut report =
                ReloadReport { applied: before.changed_keys(&after), waiting: after.changed_keys(&config) };
            report.waiting.retain(|key| !key.starts_with("signers."));
            if self.signers_digest != signers_digest(&config) {
                report.waiting.push("signers".to_owned());
            }
            self.apply(&before, &after, &mut report);
            self.reload_tls(&mut report).await;
            let serving = self.serving_plugins();
            self.plugins.reconcile(&config).await;
            self.keep_settings_waiting(&serving, &mut report);
            report
        })
    }

    fn apply(&self, before: &Config, after: &Config, report: &mut ReloadReport) {
        if before.log.level != after.log.level
            && let Err(error) = gateway_telemetry::set_log_level(&after.log.level)
        {
            tracing::warn!(%error, "log.level is not applied");
        }
        self.dispatcher.streams.limits.set(after.limits.streams_max, after.limits.streams_per_ip_max);
        self.health.require(after.plugins.required.clone());
        self.backups.configure(after.backup.clone());
        if let Err(conflict) = self.dispatcher.routes.reload() {
            tracing::error!(%conflict, "the routes cannot be built again");
            let of_routes = |key: &String| key.starts_with("limits.") || key.starts_with("http.");
            report.waiting.extend(report.applied.extract_if(.., |key| of_routes(key)));
        }
    }

    /// Also when no key differs: the operator may have exchanged the files.
    async fn reload_tls(&self, report: &mut ReloadReport) {
        let reloaders = self.tls.lock().clone();
        for reloader in reloaders {
            if reloader.reload().await.is_err() {
                let is_of_section =
                    |key: &str| key.strip_prefix(reloader.section()).is_some_and(|rest| rest.starts_with('.'));
                report.waiting.extend(report.applied.extract_if(.., |key| is_of_section(key)));
            }
        }
    }

    fn serving_plugins(&self) -> Vec<String> {
        self.plugins.reports().into_iter().filter(|report| report.serves).map(|report| report.name).collect()
    }

    /// A plugin that goes on serving reads its section when it starts again.
    fn keep_settings_waiting(&self, were_serving: &[String], report: &mut ReloadReport) {
        let serve = self.serving_plugins();
        let goes_on = |key: &str| {
            let name = key.strip_prefix("plugins.").unwrap_or_default();
            [were_serving, &serve].iter().all(|names| names.iter().any(|serving| serving == name))
        };
        report.waiting.extend(report.applied.extract_if(.., |key| goes_on(key)));
    }
}

/// What is in use, with what can be changed while the gateway serves from `config`.
fn merged(in_use: &Config, config: &Config) -> Config {
    let mut merged = in_use.clone();
    merged.limits = config.limits.clone();
    merged.log.level.clone_from(&config.log.level);
    merged.backup = config.backup.clone();
    merged.plugins.required.clone_from(&config.plugins.required);
    merged.plugins.default_enabled = config.plugins.default_enabled;
    merged.plugins.sections.clone_from(&config.plugins.sections);
    merged.http.request_timeout_ms = config.http.request_timeout_ms;
    merged.http.body_bytes_max = config.http.body_bytes_max;
    if in_use.http.tls.files().is_some() && config.http.tls.files().is_some() {
        merged.http.tls = config.http.tls.clone();
    }
    merged
}

/// Tells two sets of keys apart without storing them: the keys themselves leave the configuration when they are opened.
pub(crate) fn signers_digest(config: &Config) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (role, signer) in &config.signers {
        let key = signer.key.as_ref().map(secrecy::ExposeSecret::expose_secret);
        hasher.update(format!("{role} {:?} {:?} {key:?}\n", signer.keystore, signer.password_file).as_bytes());
    }
    hasher.finalize()
}
