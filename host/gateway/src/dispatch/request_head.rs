//! A request's head as a plugin reads it through the ABI.

use super::body_parts::BodyParts;
use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{ROption, RResult, RStr},
};
use async_ffi::{FfiFuture, FutureExt as _};
use gateway_http::RequestId;
use gateway_plugins::{
    ActivePlugin, CommitMode, PluginTransaction, RequestCharge, SignedWriteRecord, TransactionContext,
    refused_transaction, undeclared_transaction,
};
use gateway_storage::{Scope, read_tracking};
use http::request::Parts;
use parking_lot::Mutex;
use plugin_api::{
    abi::{FfiBytes, Head, Head_TO, HeadBox, HostError, HostErrorCode, TransactionBox},
    payment::Payment,
};
use std::{
    net::IpAddr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

/// Why a function that says what a request costs cannot write.
const PRICE_ONLY_READS: &str = "a function that says what a request costs only reads";

pub(crate) struct AbiRequestHead {
    pub parts: Parts,
    pub params: Vec<String>,
    pub signer: Option<String>,
    pub client_ip: ClientIpText,
    pub transaction: Arc<RequestTransaction>,
    /// The body of a route that reads it in parts.
    pub body_parts: Option<Arc<BodyParts>>,
    pub paid: Option<Arc<PaidRequest>>,
}

/// The payment that is reserved for a request.
pub(crate) struct PaidRequest {
    /// [`Payment`] as JSON, which the plugin reads.
    json: String,
    /// Why the plugin releases it.
    released: Mutex<Option<String>>,
}

impl PaidRequest {
    pub(crate) fn new(payment: &Payment) -> Arc<Self> {
        let json = serde_json::to_string(payment).unwrap_or_default();
        Arc::new(Self { json, released: Mutex::default() })
    }

    pub(crate) fn released(&self) -> Option<String> {
        self.released.lock().clone()
    }
}

/// Formatted when the plugin reads it.
pub(crate) struct ClientIpText {
    ip: IpAddr,
    text: OnceLock<String>,
}

impl From<IpAddr> for ClientIpText {
    fn from(ip: IpAddr) -> Self {
        Self { ip, text: OnceLock::new() }
    }
}

/// What a request writes, created when the handler first uses it: most requests only read.
pub(crate) struct RequestTransaction {
    context: Arc<TransactionContext>,
    plugin: Arc<ActivePlugin>,
    /// What a signed write uses up.
    guard: Option<Arc<SignedWriteRecord>>,
    /// The one write that the handler declared; of several attempts the last.
    write: Mutex<Option<Arc<PluginTransaction>>>,
    /// How many attempts it took so far.
    attempts: AtomicU32,
    /// The transaction of a plugin that declares `own_transactions`: it cannot run again, and the gateway commits it.
    own: OnceLock<Arc<PluginTransaction>>,
    /// Of a signed write with a price.
    charge: Option<Arc<RequestCharge>>,
    /// A price is asked: nothing may be written.
    is_read_only: bool,
}

impl RequestTransaction {
    pub(crate) fn new(
        context: &Arc<TransactionContext>,
        plugin: &Arc<ActivePlugin>,
        guard: Option<Arc<SignedWriteRecord>>,
        charge: Option<Arc<RequestCharge>>,
    ) -> Arc<Self> {
        Arc::new(Self { guard, charge, ..Self::empty(context, plugin) })
    }

    /// Of the question what a request costs.
    pub(crate) fn read_only(context: &Arc<TransactionContext>, plugin: &Arc<ActivePlugin>) -> Arc<Self> {
        Arc::new(Self { is_read_only: true, ..Self::empty(context, plugin) })
    }

    fn empty(context: &Arc<TransactionContext>, plugin: &Arc<ActivePlugin>) -> Self {
        Self {
            context: context.clone(),
            plugin: plugin.clone(),
            guard: None,
            write: Mutex::default(),
            attempts: AtomicU32::new(0),
            own: OnceLock::new(),
            charge: None,
            is_read_only: false,
        }
    }

    /// Whether the write could not be charged, in its last attempt: then it is not its plugin's fault that it failed.
    pub(crate) fn is_charge_refused(&self) -> bool {
        self.charge.as_ref().is_some_and(|charge| charge.is_refused())
    }

    pub(crate) fn write(&self) -> Option<Arc<PluginTransaction>> {
        self.write.lock().clone()
    }

    /// Begins an attempt of the write: the first one, or one after a conflict.
    pub(crate) fn begin_write(&self) -> Result<Arc<PluginTransaction>, HostError> {
        if self.is_read_only {
            return Err(HostError::new(HostErrorCode::Refused, PRICE_ONLY_READS));
        }
        let mut write = self.write.lock();
        if write.as_ref().is_some_and(|earlier| !earlier.has_conflict()) {
            let message = "a request writes once: put all of its statements into one `write`";
            return Err(HostError::new(HostErrorCode::Refused, message));
        }
        let mode = CommitMode::Write(self.guard.clone());
        let attempt = match &self.charge {
            None => self.transaction(mode),
            Some(charge) => {
                let (scope, manifest) = (self.plugin.scope.clone(), &self.plugin.manifest);
                PluginTransaction::with_charge(&self.context, scope, mode, manifest, charge.clone())
            }
        };
        let number = self.attempts.fetch_add(1, Relaxed) + 1;
        attempt.set_permit(|| self.plugin.handle.writes.nth(number));
        *write = Some(attempt.clone());
        Ok(attempt)
    }

    /// A transaction for the guard alone: in the gateway's own tables, where it conflicts with no write of the plugin.
    pub(crate) fn guard_transaction(&self) -> Option<Arc<PluginTransaction>> {
        self.guard.as_ref()?;
        Some(PluginTransaction::new(&self.context, Scope::Host, CommitMode::Request(self.guard.clone())))
    }

    pub(crate) fn own(&self) -> Option<&Arc<PluginTransaction>> {
        self.own.get()
    }

    /// The same as the plugin gets it, which has to declare that it uses it.
    fn begin_own(&self) -> TransactionBox {
        if self.is_read_only {
            return refused_transaction(PRICE_ONLY_READS);
        }
        if self.plugin.manifest.own_transactions { self.open_own().transaction_box() } else { undeclared_transaction() }
    }

    fn open_own(&self) -> &Arc<PluginTransaction> {
        self.own.get_or_init(|| self.transaction(CommitMode::Request(self.guard.clone())))
    }

    fn transaction(&self, mode: CommitMode) -> Arc<PluginTransaction> {
        PluginTransaction::of_plugin(&self.context, self.plugin.scope.clone(), mode, &self.plugin.manifest)
    }
}

impl AbiRequestHead {
    pub(crate) fn into_head_box(self) -> HeadBox {
        Head_TO::from_value(self, TD_Opaque)
    }
}

impl Head for AbiRequestHead {
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

    fn payment(&self) -> ROption<RStr<'_>> {
        self.paid.as_ref().map(|paid| RStr::from_str(&paid.json)).into()
    }

    fn release_payment(&self, reason: RStr<'_>) {
        if let Some(paid) = &self.paid {
            paid.released.lock().get_or_insert_with(|| reason.as_str().to_owned());
        }
    }
}
