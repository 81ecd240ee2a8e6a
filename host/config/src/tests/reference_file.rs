//! `config/gateway.toml` is the operator's manual: complete, correct, and loadable.

use std::{collections::BTreeSet, path::PathBuf};

use super::ConfigFixture;
use crate::{ChainConfig, Config, Overrides, schema};

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../config/gateway.toml")
}

fn text() -> String {
    std::fs::read_to_string(path()).unwrap()
}

/// The line without `# ` if it is `# key = value` or `# [section]`; prose in comments has neither form.
fn uncomment(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("# ")?;
    let name = rest.split(" = ").next().unwrap();
    let is_key = rest.contains(" = ") && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (is_key || rest.starts_with('[')).then_some(rest)
}

fn uncommented() -> String {
    text().lines().map(|line| uncomment(line).unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// Every key in the file, commented out or not.
fn keys() -> BTreeSet<String> {
    let mut section = String::new();
    let mut keys = BTreeSet::new();
    for line in uncommented().lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[') {
            section = format!("{}.", name.trim_end_matches(']'));
        } else if let Some((name, _)) = line.split_once(" = ") {
            keys.insert(format!("{section}{name}"));
        }
    }
    keys
}

#[test]
fn it_holds_the_defaults() {
    let flags = Overrides { config: Some(path()), ..Overrides::default() };
    let config = Config::load_from(&flags, [], &[]).unwrap();
    let values = |config: &Config| serde_json::to_value(config).unwrap();
    assert_eq!(values(&config), values(&Config::default()));
    assert!(config.database.url.is_none() && config.plugins.sections.is_empty());
}

#[test]
fn it_sets_every_key_that_has_a_default() {
    let flags = Overrides { config: Some(path()), ..Overrides::default() };
    let config = Config::load_from(&flags, [], &[]).unwrap();
    let derived = [
        "base_url",
        "web.base_url",
        "traces.endpoint",
        "database.url",
        "database.url_file",
        "database.listen_url",
        "backup.folder",
        "plugins.dir",
        "secrets.key_file",
        "admin.token_file",
        "admin.user_header",
        "admin.tls.certificate",
        "admin.tls.key",
        "admin.tls.client_ca",
        "admin.tls.command_certificate",
        "admin.tls.command_key",
        "http.tls.certificate",
        "http.tls.key",
    ];
    for key in schema::root().leaf_paths() {
        let is_set = config.sources().of(&key) != crate::Source::Default;
        assert_eq!(is_set, !derived.contains(&key.as_str()), "{key}");
    }
}

/// Keys of plugins, in their order.
const OF_PLUGINS: &[&str] = &[
    "plugins.a2a.answer_timeout_s",
    "plugins.a2a.calls_max",
    "plugins.a2a.calls_per_agent_max",
    "plugins.a2a.upstream_agents",
    "plugins.a2a.upstreams",
    "plugins.agents.oracle_min_amount_wei",
    "plugins.agents.oracle_per_agent_per_day",
    "plugins.agents.oracle_per_day",
    "plugins.agents.probe_interval_s",
    "plugins.aicv.domain_name",
    "plugins.aicv.explorer",
    "plugins.aicv.kept_documents",
    "plugins.aicv.kinds.notes",
    "plugins.aicv.rpc",
    "plugins.aicv.treasury",
    "plugins.bounties.house_agents",
    "plugins.faucet.drip_wei",
    "plugins.faucet.ip_per_day",
    "plugins.faucet.per_day",
    "plugins.faucet.pow_bits",
    "plugins.faucet.pow_follows_use",
    "plugins.faucet.reserve_wei",
    "plugins.forum.enabled",
    "plugins.forum.grants",
    "plugins.forum.sha256",
    "plugins.kb.network_pages",
    "plugins.kb.operators",
    "plugins.kb.pinned.prices",
    "plugins.kb.protected",
    "plugins.loadtest.autostart",
    "plugins.loadtest.count_from_block",
    "plugins.loadtest.float_min_wei",
    "plugins.loadtest.gas_price_max_wei",
    "plugins.loadtest.head_age_max_s",
    "plugins.loadtest.in_flight_max_wei",
    "plugins.loadtest.operator_agent_id",
    "plugins.loadtest.operator_name",
    "plugins.loadtest.operators",
    "plugins.loadtest.pool_max",
    "plugins.loadtest.purpose",
    "plugins.loadtest.rate_per_s",
    "plugins.loadtest.runner",
    "plugins.loadtest.sink",
    "plugins.loadtest.spend_max_wei",
    "plugins.loadtest.tip_wei",
    "plugins.loadtest.transfer_wei",
    "plugins.loadtest.transfers",
    "plugins.loadtest.wallets",
    "plugins.loadtest.wave_wallets",
    "plugins.loadtest.waves_max",
    "plugins.loadtest.xpub",
    "plugins.memory.block_bytes",
    "plugins.memory.block_price_wei",
    "plugins.memory.client_bytes_per_day",
    "plugins.memory.credit_days",
    "plugins.memory.domain_name",
    "plugins.memory.free_bytes",
    "plugins.memory.keys_max",
    "plugins.memory.total_bytes",
    "plugins.memory.treasury",
    "plugins.payin.chains.base.deposit",
    "plugins.payin.chains.base.native",
    "plugins.payin.day_max_wei",
    "plugins.payin.dust",
    "plugins.payin.hour_max_wei",
    "plugins.payin.market.dex_url",
    "plugins.payin.market.factory",
    "plugins.payin.market.pool_url",
    "plugins.payin.market.quotes",
    "plugins.payin.market.secondary",
    "plugins.payin.market.swap_url",
    "plugins.payin.market.wrapped",
    "plugins.payin.open_per_network",
    "plugins.payin.open_per_recipient",
    "plugins.payin.open_usd_max",
    "plugins.payin.open_usd_per_network",
    "plugins.payin.operators",
    "plugins.payin.own_addresses_max",
    "plugins.payin.payout_max_wei",
    "plugins.payin.price_usd",
    "plugins.payloads.client_bytes_per_day_max",
    "plugins.payloads.gone",
    "plugins.payloads.keep_days",
    "plugins.payloads.total_bytes_max",
    "plugins.referrals.budget_wei",
    "plugins.referrals.claim_days",
    "plugins.referrals.min_job_wei",
    "plugins.referrals.operators",
    "plugins.referrals.paid_per_day",
    "plugins.referrals.paid_per_referrer_per_day",
    "plugins.referrals.reward_wei",
    "plugins.referrals.unreleased_per_day",
    "plugins.relay.account_per_day",
    "plugins.relay.creates_per_day",
    "plugins.relay.creates_per_ip",
    "plugins.relay.creates_per_owner",
    "plugins.relay.domain_name",
    "plugins.relay.ip_per_day",
    "plugins.relay.per_day",
    "plugins.rpc.answer_bytes_max",
    "plugins.rpc.batch_max",
    "plugins.rpc.cache_bytes",
    "plugins.rpc.call_gas_max",
    "plugins.rpc.log_blocks_max",
    "plugins.rpc.log_chunk_blocks",
    "plugins.rpc.methods",
    "plugins.rpc.requests_max",
    "plugins.rpc.requests_per_client_max",
    "plugins.rpc.tip_min_wei",
    "plugins.rpc.weight_per_minute",
    "plugins.supply.burn_addresses",
    "plugins.supply.excluded",
    "plugins.supply.issuance.burn_block",
    "plugins.supply.issuance.burn_wei",
    "plugins.supply.issuance.earlier_base_wei",
    "plugins.supply.issuance.earlier_nephew_wei",
    "plugins.supply.issuance.earlier_uncle_wei",
    "plugins.supply.issuance.earlier_uncles",
    "plugins.supply.issuance.first_block",
    "plugins.supply.issuance.genesis_wei",
    "plugins.supply.issuance.halving_blocks",
    "plugins.supply.issuance.reward_wei",
    "plugins.supply.market.coin_id",
    "plugins.supply.market.dex_url",
    "plugins.supply.market.factory",
    "plugins.supply.market.logo",
    "plugins.supply.market.min_depth_usd",
    "plugins.supply.market.name",
    "plugins.supply.market.quotes",
    "plugins.supply.market.wrapped",
    "plugins.supply.symbol",
    "plugins.tools.calls_max",
    "plugins.tools.calls_per_listing_max",
    "plugins.tools.probe_interval_s",
    "plugins.transparency.origin",
    "plugins.transparency.previous",
    "plugins.transparency.publish",
    "plugins.validators.entries_max",
    "plugins.validators.operators",
    "plugins.validators.signatures_required",
    "plugins.validators.signups_per_hour",
    "plugins.webhooks.disable_after_days",
    "plugins.webhooks.disable_failure_days",
    "plugins.webhooks.disable_failures",
    "plugins.webhooks.endpoints_at_once",
    "plugins.webhooks.endpoints_at_once_per_owner",
    "plugins.webhooks.keep_days",
    "plugins.webhooks.replays_per_day",
    "plugins.webhooks.retry_s",
    "plugins.webhooks.rotation_hours",
    "plugins.webhooks.tests_per_minute",
    "plugins.webhooks.webhooks_per_owner",
    "plugins.x402.asset",
    "plugins.x402.batch_s",
    "plugins.x402.batch_size",
    "plugins.x402.contract_gas",
    "plugins.x402.credit_max_wei",
    "plugins.x402.domain_name",
    "plugins.x402.network",
    "plugins.x402.queued_per_payer",
    "plugins.x402.ref",
    "plugins.x402.refuse_days",
    "plugins.x402.scheme",
    "plugins.x402.version",
    "plugins.x402.voucher_cost_wei",
];

#[test]
fn it_holds_every_key_and_no_other() {
    let known: BTreeSet<String> = schema::root().leaf_paths().into_iter().collect();
    let (of_chains, others): (BTreeSet<_>, BTreeSet<_>) =
        keys().into_iter().partition(|key| key.starts_with("chains."));
    let (of_signers, others): (BTreeSet<_>, BTreeSet<_>) =
        others.into_iter().partition(|key| key.starts_with("signers."));
    assert_eq!(
        of_signers.into_iter().collect::<Vec<_>>(),
        ["signers.facilitator.keystore", "signers.facilitator.password_file"]
    );
    // `plugins.NAME.…`, as opposed to the gateway's own keys in `[plugins]`.
    let (of_plugins, own): (BTreeSet<_>, BTreeSet<_>) =
        others.into_iter().partition(|key| key.starts_with("plugins.") && key.matches('.').count() > 1);
    assert_eq!(own, known);
    let Some(schema::Node::Section(chain)) = schema::root().find(&["chains".to_owned(), "main".to_owned()]) else {
        panic!("a chain is a section");
    };
    let of_chain = chain.leaf_paths().into_iter().chain(["contracts.registry".into(), "contracts.escrow".into()]);
    assert_eq!(of_chains, of_chain.map(|key| format!("chains.main.{key}")).collect());
    assert_eq!(of_plugins.into_iter().collect::<Vec<_>>(), OF_PLUGINS);
}

#[test]
fn its_commented_lines_work_too() {
    let start = ConfigFixture::new();
    std::fs::write(start.path("secret"), "sqlite:x.db").unwrap();
    std::fs::write(start.path("token"), "0123456789abcdef0123456789abcdef").unwrap();
    let text = uncommented()
        .replace("/run/secrets/admin_token", &start.path("token").display().to_string())
        .replace("./plugins", &start.path(".").display().to_string())
        .replace("/run/secrets/database_url", &start.path("secret").display().to_string())
        .replace("url = \"sqlite:./data/gateway.db\"\n", "");
    let config = start.file(&text).config();
    assert_eq!(config.base_url.as_deref(), Some("https://gateway.example"));
    assert_eq!(config.plugins.settings("forum").enabled, Some(true));
    let chain = &config.chains["main"];
    let defaults = ChainConfig { deploy_block: Some(0), chain_id: Some(3961), ..ChainConfig::default() };
    let numbers = |chain: &ChainConfig| {
        let ChainConfig { confirmations, reorg_depth, poll_ms, timeout_ms, range_blocks_max, block_time_s, .. } =
            *chain;
        (
            confirmations,
            reorg_depth,
            poll_ms,
            timeout_ms,
            range_blocks_max,
            block_time_s,
            chain.deploy_block,
            chain.chain_id,
        )
    };
    assert_eq!(numbers(chain), numbers(&defaults), "the file shows the defaults");
    assert_eq!(chain.contract("registry"), None, "the zero address means: not deployed");
}

#[test]
fn every_field_is_documented() {
    fn check(schema: &serde_json::Value, at: &str) {
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{at}{name} has no doc comment");
            for inner in [property, &property["additionalProperties"]] {
                if inner.get("properties").is_some() {
                    check(inner, &format!("{name}."));
                }
            }
        }
    }
    check(&Config::json_schema(), "");
}
