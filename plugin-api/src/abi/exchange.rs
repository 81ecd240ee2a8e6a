//! A request on its way into a plugin and the answer on its way out.

use super::{Fault, FfiBytes, TransactionBox};
use abi_stable::{
    StableAbi, sabi_trait,
    std_types::{RBox, RCowStr, ROption, RResult, RStr, RVec, Tuple2},
};
use async_ffi::{FfiContext, FfiPoll};

/// One call of a route: the number of the route in the manifest, a view of the head, and the whole body.
/// The body of a signed route is the canonical JSON of what was signed, without the envelope.
#[repr(C)]
#[derive(StableAbi)]
pub struct Request {
    pub route: u32,
    pub head: HeadBox,
    pub body: FfiBytes,
}

/// The gateway's request head: nothing is copied until asked for.
#[sabi_trait]
pub trait Head: Send + Sync {
    fn method(&self) -> RStr<'_>;
    /// The path as sent, without the query.
    fn path(&self) -> RStr<'_>;
    /// The query as sent, without the question mark; empty when there is none.
    fn query(&self) -> RStr<'_>;
    /// The first header of that (lower-case) name, when it is visible ASCII.
    fn header(&self, name: RStr<'_>) -> ROption<RStr<'_>>;
    /// The path parameter at that position, percent-decoded.
    fn param(&self, position: u32) -> ROption<RStr<'_>>;
    /// The checksummed address that signed this request; none on routes without signature.
    fn signer(&self) -> ROption<RStr<'_>>;
    /// The caller's address behind the trusted proxies.
    fn client_ip(&self) -> RStr<'_>;
    fn request_id(&self) -> RStr<'_>;
    /// The request's own transaction: the gateway commits it after an answer below 400, else rolls it back.
    #[sabi(last_prefix_field)]
    fn transaction(&self) -> TransactionBox;
}
pub type HeadBox = Head_TO<'static, RBox<()>>;

/// What a route answers. A header name or value that HTTP does not allow makes the answer a fault.
#[repr(C)]
#[derive(StableAbi)]
pub struct Response {
    pub status: u16,
    pub headers: RVec<Tuple2<RCowStr<'static>, RCowStr<'static>>>,
    pub body: Body,
}

#[repr(C, u8)]
#[derive(StableAbi)]
pub enum Body {
    Full(FfiBytes),
    /// Chunks that the plugin makes as they are asked for.
    Stream(BodyStreamBox),
    /// Server-sent events of a topic, served by the gateway itself; the bytes are a JSON [`crate::manifest::Subscription`].
    Topic(FfiBytes),
}

/// A body made chunk by chunk: polled only when the reader has room, dropped when the reader leaves.
#[sabi_trait]
pub trait BodyStream: Send {
    #[sabi(last_prefix_field)]
    fn poll_next(&mut self, context: &mut FfiContext<'_>) -> FfiPoll<ROption<RResult<FfiBytes, Fault>>>;
}
pub type BodyStreamBox = BodyStream_TO<'static, RBox<()>>;
