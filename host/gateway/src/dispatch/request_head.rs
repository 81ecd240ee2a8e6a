//! A request's head as a plugin reads it through the ABI.

use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{ROption, RStr},
};
use gateway_http::RequestId;
use gateway_plugins::{ActivePlugin, HostContext, PluginTransaction, TransactionOwner};
use gateway_storage::read_tracking;
use http::request::Parts;
use plugin_api::abi::{Head, Head_TO, HeadBox, TransactionBox};
use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
};

pub struct RequestHead {
    pub parts: Parts,
    pub params: Vec<String>,
    pub signer: Option<String>,
    pub client_ip: ClientIpText,
    pub transaction: Arc<RequestTransaction>,
}

/// Formatted when the plugin reads it.
pub struct ClientIpText {
    ip: IpAddr,
    text: OnceLock<String>,
}

impl From<IpAddr> for ClientIpText {
    fn from(ip: IpAddr) -> Self {
        Self { ip, text: OnceLock::new() }
    }
}

/// The transaction of a request, created when the handler first uses it: most requests only read.
pub struct RequestTransaction {
    host: Arc<HostContext>,
    plugin: Arc<ActivePlugin>,
    begun: OnceLock<Arc<PluginTransaction>>,
}

impl RequestTransaction {
    pub fn new(host: &Arc<HostContext>, plugin: &Arc<ActivePlugin>) -> Arc<Self> {
        Arc::new(Self { host: host.clone(), plugin: plugin.clone(), begun: OnceLock::new() })
    }

    pub fn begun(&self) -> Option<&Arc<PluginTransaction>> {
        self.begun.get()
    }

    pub fn begin(&self) -> &Arc<PluginTransaction> {
        let (scope, grants) = (&self.plugin.scope, &self.plugin.manifest.grants);
        let begin =
            || PluginTransaction::granting(&self.host, scope.clone(), TransactionOwner::Request, grants.clone());
        self.begun.get_or_init(begin)
    }
}

impl RequestHead {
    pub fn into_head_box(self) -> HeadBox {
        Head_TO::from_value(self, TD_Opaque)
    }
}

impl Head for RequestHead {
    fn method(&self) -> RStr<'_> {
        // GET and HEAD share a cached response.
        read_tracking::mark_uncacheable();
        self.parts.method.as_str().into()
    }

    fn path(&self) -> RStr<'_> {
        self.parts.uri.path().into()
    }

    fn query(&self) -> RStr<'_> {
        self.parts.uri.query().unwrap_or_default().into()
    }

    fn header(&self, name: RStr<'_>) -> ROption<RStr<'_>> {
        read_tracking::mark_uncacheable();
        let value = self.parts.headers.get(name.as_str()).and_then(|value| value.to_str().ok());
        value.map(RStr::from_str).into()
    }

    fn param(&self, position: u32) -> ROption<RStr<'_>> {
        self.params.get(position as usize).map(|param| RStr::from_str(param)).into()
    }

    fn signer(&self) -> ROption<RStr<'_>> {
        self.signer.as_deref().map(RStr::from_str).into()
    }

    fn client_ip(&self) -> RStr<'_> {
        read_tracking::mark_uncacheable();
        self.client_ip.text.get_or_init(|| self.client_ip.ip.to_string()).as_str().into()
    }

    fn request_id(&self) -> RStr<'_> {
        read_tracking::mark_uncacheable();
        self.parts.extensions.get::<RequestId>().map_or("", |id| &id.0).into()
    }

    fn transaction(&self) -> TransactionBox {
        read_tracking::mark_uncacheable();
        self.transaction.begin().transaction_box()
    }
}
