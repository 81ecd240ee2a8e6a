//! One gateway: a thread with its own runtime, plugins linked in and entered through their ABI tables, and a folder of data.

use crate::{
    machine::{self, Group},
    shifts_plugin::Shifts,
};
use bytes::Bytes;
use gateway::Gateway;
use gateway_clock::Clock;
use gateway_config::{ChainConfig, Config, MAIN, SignerConfig};
use gateway_http::{
    ClientIp,
    body::{Body, RequestBody},
};
use gateway_plugins::LoadedPlugin;
use http_body_util::BodyExt as _;
use plugin_api::abi::PluginModule_Ref;
use plugin_testing::{ScriptedChain, Value, Wallet, json};
use std::{
    collections::BTreeSet,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
    thread,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Number of the wallet with the key of the role relayer.
pub const RELAYER: u64 = 900;
const SECRETS_KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
/// Nobody listens there: it is what gateways are called.
const FIRST_PORT: u16 = 8080;
const POLL_MS: u64 = 1000;
const RPC_TIMEOUT_MS: u64 = 2000;

/// What all gateways of a run are configured with.
#[derive(Clone)]
pub struct Setup {
    /// Of the database that they share; without it each has a file of its own.
    pub database_url: Option<String>,
    pub rpc_urls: Vec<String>,
    pub chain_id: u64,
    pub faucet: Value,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    pub ip: IpAddr,
}

/// A part of a response.
#[derive(Debug)]
pub enum Part {
    /// It serves requests from now on.
    Started,
    Head(u16),
    Data(Bytes),
    End,
    /// It does not start.
    Failed(String),
}

struct Call {
    request: Request,
    parts: UnboundedSender<Part>,
}

pub struct Replica {
    group: Group,
    calls: UnboundedSender<Call>,
}

impl Replica {
    /// Starts it; the receiver tells when it serves.
    pub fn start(setup: &Setup, place: usize, data_dir: &Path) -> io::Result<(Self, UnboundedReceiver<Part>)> {
        let (calls, received) = unbounded_channel();
        let (started, start) = unbounded_channel();
        let config = config(setup, data_dir);
        let (group, thread) = machine::in_new_group(|| {
            thread::Builder::new().name("gateway".to_owned()).spawn(move || serve(config, place, received, &started))
        });
        thread?;
        Ok((Self { group, calls }, start))
    }

    /// Sends a request; the receiver gets the parts of the response.
    pub fn send(&self, request: Request) -> UnboundedReceiver<Part> {
        let (parts, response) = unbounded_channel();
        // A gateway that has ended answers nothing.
        let _ = self.calls.send(Call { request, parts });
        response
    }

    /// It stands still until it is resumed.
    pub fn pause(&self) {
        machine::pause(self.group);
    }

    pub fn resume(&self) {
        machine::resume(self.group);
    }

    /// It never runs again. What it holds in memory stays until the process ends.
    pub fn kill(self) {
        machine::kill(self.group);
        std::mem::forget(self.calls);
    }
}

fn modules() -> [PluginModule_Ref; 6] {
    [
        activity::plugin_module(),
        agents::plugin_module(),
        faucet::plugin_module(),
        forum::plugin_module(),
        messages::plugin_module(),
        // Only several gateways could run its job at the same time.
        plugin_api::host::object_module::<Shifts>(),
    ]
}

fn config(setup: &Setup, data_dir: &Path) -> Config {
    let mut config = Config::default();
    config.data_dir = data_dir.to_owned();
    config.limits.allow = vec![IpAddr::V4(Ipv4Addr::LOCALHOST).into()];
    config.database.read_connections = 1;
    config.database.url = setup.database_url.clone().map(Into::into);
    config.secrets.key = Some(SECRETS_KEY.to_owned().into());
    let chain = ChainConfig {
        rpc: setup.rpc_urls.iter().map(|url| url.clone().into()).collect(),
        chain_id: Some(setup.chain_id),
        poll_ms: POLL_MS,
        timeout_ms: RPC_TIMEOUT_MS,
        confirmations: 2,
        reorg_depth: 6,
        contracts: ["registry", "escrow"].map(|key| (key.to_owned(), ScriptedChain::address_of(key))).into(),
        ..ChainConfig::default()
    };
    config.chains.insert(MAIN.to_owned(), chain);
    config.signers.insert("relayer".to_owned(), SignerConfig::with_key(Wallet::new(RELAYER).key_text()));
    let faucet = setup.faucet.as_object().cloned().unwrap_or_default();
    config.plugins.sections.entry("faucet".to_owned()).or_default().config = faucet;
    for name in ["activity", "agents", "faucet", "forum", "messages"] {
        config.plugins.sections.entry(name.to_owned()).or_default().enabled = Some(true);
    }
    config.plugins.sections.entry("shifts".to_owned()).or_default().enabled = Some(setup.database_url.is_some());
    config
}

fn serve(config: Config, place: usize, mut calls: UnboundedReceiver<Call>, started: &UnboundedSender<Part>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = started.send(Part::Failed(error.to_string()));
            return;
        }
    };
    runtime.block_on(async move {
        let loaded = modules().into_iter().map(|module| {
            LoadedPlugin::linked(module)
                .map_err(|error| gateway_plugins::PluginReport::of_error("linked", &error).into())
        });
        let port = FIRST_PORT.saturating_add(u16::try_from(place).unwrap_or(0));
        let bound = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let gateway = match Gateway::start(config, Clock::System, bound, loaded.collect()).await {
            Ok(gateway) => gateway,
            Err(error) => {
                let _ = started.send(Part::Failed(error.to_string()));
                return;
            }
        };
        let wanted: BTreeSet<String> = gateway.plugins.wanted().into_iter().collect();
        gateway.plugins.settled(&wanted).await;
        let missing: Vec<String> = gateway
            .plugins
            .reports()
            .iter()
            .filter(|report| report.is_failure())
            .map(|report| report.reason.clone())
            .collect();
        let part = if missing.is_empty() { Part::Started } else { Part::Failed(missing.join("; ")) };
        let _ = started.send(part);
        while let Some(call) = calls.recv().await {
            tokio::spawn(answer(gateway.clone(), call));
        }
        gateway.stop().await;
    });
}

async fn answer(gateway: Arc<Gateway>, Call { request, parts }: Call) {
    let mut built = http::Request::builder().method(request.method).uri(request.path);
    for (name, value) in request.headers {
        built = built.header(name, value);
    }
    let mut request_parts = match built.body(RequestBody::from(Bytes::from(request.body))) {
        Ok(built) => built,
        Err(error) => {
            let _ = parts.send(Part::Failed(error.to_string()));
            return;
        }
    };
    request_parts.extensions_mut().insert(ClientIp(request.ip));
    let response: http::Response<Body> = gateway.handle(request_parts).await;
    let (head, mut body) = response.into_parts();
    let mut is_wanted = parts.send(Part::Head(head.status.as_u16())).is_ok();
    while is_wanted {
        let Some(frame) = body.frame().await else { break };
        let data = frame.ok().and_then(|frame| frame.into_data().ok());
        is_wanted = data.is_none_or(|data| parts.send(Part::Data(data)).is_ok());
    }
    let _ = parts.send(Part::End);
}

/// What the faucet of a run gives, and the model counts with.
pub fn faucet_settings(per_day: u64, ip_per_day: u64) -> Value {
    json!({ "per_day": per_day, "ip_per_day": ip_per_day, "pow_follows_use": false })
}
