//! The request from which extractors read.

use super::Address;
use crate::abi::{self, FfiBytes, HeadBox};

pub struct Request {
    pub(crate) head: HeadBox,
    body: Option<FfiBytes>,
}

impl Request {
    pub(crate) fn new(request: abi::Request) -> Self {
        Self { head: request.head, body: Some(request.body) }
    }

    pub fn method(&self) -> &str {
        self.head.method().as_str()
    }

    pub fn path(&self) -> &str {
        self.head.path().as_str()
    }

    /// The query as sent, without the question mark.
    pub fn query(&self) -> &str {
        self.head.query().as_str()
    }

    /// The first header with this lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name.into()).into_option().map(Into::into)
    }

    /// The path parameter at this position.
    pub fn param(&self, position: u32) -> Option<&str> {
        self.head.param(position).into_option().map(Into::into)
    }

    /// The signer, on a signed route.
    pub fn signer(&self) -> Option<Address> {
        self.head.signer().into_option().and_then(|signer| signer.as_str().parse().ok())
    }

    /// Takes the body; a second call returns an empty one.
    pub fn take_body(&mut self) -> FfiBytes {
        self.body.take().unwrap_or_default()
    }
}
