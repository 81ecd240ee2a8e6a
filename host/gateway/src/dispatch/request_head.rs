//! A request's head as a plugin reads it through the ABI.

use super::body_parts::BodyParts;
use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{ROption, RResult, RStr},
};
use async_ffi::{FfiFuture, FutureExt as _};
use gateway_http::RequestId;
use gateway_plugins::{
    ActivePlugin, HostContext, PluginTransaction, TransactionOwner, WriteGuard, undeclared_transaction,
};
use gateway_storage::{Scope, read_tracking};
use http::request::Parts;
use parking_lot::Mutex;
use plugin_api::abi::{FfiBytes, Head, Head_TO, HeadBox, HostError, HostErrorCode, TransactionBox};
use std::{
    net::IpAddr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

pub struct RequestHead {
    pub parts: Parts,
    pub params: Vec<String>,
    pub signer: Option<String>,
    pub client_ip: ClientIpText,
    pub transaction: Arc<RequestTransaction>,
    /// The body of a route that reads it in parts.
    pub body_parts: Option<Arc<BodyParts>>,
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

/// What a request writes, created when the handler first uses it: most requests only read.
pub struct RequestTransaction {
    host: Arc<HostContext>,
    plugin: Arc<ActivePlugin>,
    /// What a signed write uses up.
    guard: Option<Arc<WriteGuard>>,
    /// The one write that the handler declared; of several attempts the last.
    write: Mutex<Option<Arc<PluginTransaction>>>,
    /// How many attempts it took so far.
    attempts: AtomicU32,
    /// The transaction of the older form, which the gateway commits.
    begun: OnceLock<Arc<PluginTransaction>>,
}

impl RequestTransaction {
    pub fn new(host: &Arc<HostContext>, plugin: &Arc<ActivePlugin>, guard: Option<Arc<WriteGuard>>) -> Arc<Self> {
        let (write, begun) = (Mutex::default(), OnceLock::new());
        Arc::new(Self { host: host.clone(), plugin: plugin.clone(), guard, write, attempts: AtomicU32::new(0), begun })
    }

    pub fn guard(&self) -> Option<&WriteGuard> {
        self.guard.as_deref()
    }

    pub fn write(&self) -> Option<Arc<PluginTransaction>> {
        self.write.lock().clone()
    }

    /// Begins an attempt of the write: the first one, or one after a conflict.
    pub fn begin_write(&self) -> Result<Arc<PluginTransaction>, HostError> {
        let mut write = self.write.lock();
        if write.as_ref().is_some_and(|earlier| !earlier.has_conflict()) {
            let message = "a request writes once: put all of its statements into one `write`";
            return Err(HostError::new(HostErrorCode::Refused, message));
        }
        let attempt = self.transaction(TransactionOwner::Write(self.guard.clone()));
        let number = self.attempts.fetch_add(1, Relaxed) + 1;
        attempt.take_turn(|| self.plugin.handle.writes.nth(number));
        *write = Some(attempt.clone());
        Ok(attempt)
    }

    /// A transaction for the guard alone: in the gateway's own tables, where no write of the plugin can be in the way.
    pub fn guard_transaction(&self) -> Arc<PluginTransaction> {
        PluginTransaction::new(&self.host, Scope::Host, TransactionOwner::Request)
    }

    pub fn begun(&self) -> Option<&Arc<PluginTransaction>> {
        self.begun.get()
    }

    /// The transaction of the older form as the plugin gets it, which has to declare that it uses it.
    fn begin_own(&self) -> TransactionBox {
        if self.plugin.manifest.own_transactions { self.begin().transaction_box() } else { undeclared_transaction() }
    }

    fn begin(&self) -> &Arc<PluginTransaction> {
        self.begun.get_or_init(|| self.transaction(TransactionOwner::Request))
    }

    fn transaction(&self, owner: TransactionOwner) -> Arc<PluginTransaction> {
        PluginTransaction::of_plugin(&self.host, self.plugin.scope.clone(), owner, &self.plugin.manifest)
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
        self.transaction.begin_own()
    }

    fn begin_write(&self) -> RResult<TransactionBox, HostError> {
        read_tracking::mark_uncacheable();
        self.transaction.begin_write().map(|attempt| attempt.transaction_box()).into()
    }

    fn next_body_part(&self) -> FfiFuture<RResult<ROption<FfiBytes>, HostError>> {
        let parts = self.body_parts.clone();
        async move {
            let Some(parts) = parts else {
                return RResult::RErr(HostError::new(
                    HostErrorCode::Refused,
                    "the route does not declare `streams_body`",
                ));
            };
            parts.next().await.map(|part| part.map(FfiBytes::from_owner).into()).into()
        }
        .into_ffi()
    }
}
