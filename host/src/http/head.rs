//! A request's head as a plugin sees it.

use crate::{plugins::PluginTransaction, provenance};
use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{ROption, RStr},
};
use http::request::Parts;
use plugin_api::abi::{Head, Head_TO, HeadBox, TransactionBox};
use std::sync::Arc;

pub struct RequestHead {
    pub parts: Parts,
    pub params: Vec<String>,
    pub signer: Option<String>,
    pub client_ip: String,
    pub request_id: Arc<str>,
    pub transaction: Arc<PluginTransaction>,
}

impl RequestHead {
    pub fn handle(self) -> HeadBox {
        Head_TO::from_value(self, TD_Opaque)
    }
}

impl Head for RequestHead {
    fn method(&self) -> RStr<'_> {
        // GET and HEAD share an answer.
        provenance::spoil();
        self.parts.method.as_str().into()
    }

    fn path(&self) -> RStr<'_> {
        self.parts.uri.path().into()
    }

    fn query(&self) -> RStr<'_> {
        self.parts.uri.query().unwrap_or_default().into()
    }

    fn header(&self, name: RStr<'_>) -> ROption<RStr<'_>> {
        provenance::spoil();
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
        provenance::spoil();
        self.client_ip.as_str().into()
    }

    fn request_id(&self) -> RStr<'_> {
        provenance::spoil();
        (*self.request_id).into()
    }

    fn transaction(&self) -> TransactionBox {
        provenance::spoil();
        self.transaction.handle()
    }
}
