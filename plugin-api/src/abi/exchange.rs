//! Requests to a plugin's routes, and their responses.

use super::{Fault, FfiBytes, HostError, TransactionBox};
use abi_stable::{
    StableAbi, sabi_trait,
    std_types::{RBox, RCowStr, ROption, RResult, RStr, RVec, Tuple2},
};
use async_ffi::{FfiContext, FfiFuture, FfiPoll};

/// One call of a route: the index of the route in the manifest, a view of the head, and the whole body.
/// The body of a signed route is the canonical JSON of the payload, without the envelope.
#[repr(C)]
#[derive(StableAbi)]
pub struct Request {
    pub route: u32,
    pub head: HeadBox,
    /// Empty on a route that reads its body in parts: [`Head::next_body_part`].
    pub body: FfiBytes,
}

/// The gateway's request head. Only the parts that the plugin reads are copied.
#[sabi_trait]
pub trait Head: Send + Sync {
    fn method(&self) -> RStr<'_>;
    /// The path as sent, without the query.
    fn path(&self) -> RStr<'_>;
    /// The query as sent, without the question mark; empty when there is none.
    fn query(&self) -> RStr<'_>;
    /// The first header with this (lower-case) name, when its value is visible ASCII.
    fn header(&self, name: RStr<'_>) -> ROption<RStr<'_>>;
    /// The path parameter at this position, percent-decoded.
    fn param(&self, position: u32) -> ROption<RStr<'_>>;
    /// The checksummed address that signed this request; none on routes without signature.
    fn signer(&self) -> ROption<RStr<'_>>;
    /// The client's IP address behind the trusted proxies.
    fn client_ip(&self) -> RStr<'_>;
    fn request_id(&self) -> RStr<'_>;
    /// The request's own transaction: the gateway commits it when the status is below 400, otherwise rolls it back. As for
    /// [`crate::abi::Host::begin`], the manifest has to say that the plugin uses it.
    fn transaction(&self) -> TransactionBox;
    /// One attempt of the request's write, which the plugin declares to be repeatable: what it does between this call and
    /// `commit` reaches nothing but this transaction. `commit` adds the replay guard of a signed route. What an attempt wrote,
    /// published and recorded belongs to its own transaction and is discarded with it. The next call begins the next attempt:
    /// allowed only after a [`crate::HostErrorCode::Conflict`], otherwise refused. From the third attempt on its first
    /// statement waits until no other write of the plugin runs in this gateway. A request whose last attempt conflicted is answered by the gateway.
    fn begin_write(&self) -> RResult<TransactionBox, HostError>;
    /// The next bytes of the body, on a route with [`crate::manifest::RouteSpec::streams_body`]; none at its end. After an
    /// error (the body is too large, too slow or cut off) the client gets the gateway's own response, whatever the plugin
    /// answers, unless the request's write is committed.
    #[sabi(last_prefix_field)]
    fn next_body_part(&self) -> FfiFuture<RResult<ROption<FfiBytes>, HostError>>;
    /// The payment that is reserved for this request: a JSON [`crate::payment::Payment`]. None where nothing is paid, and on a signed
    /// write, which charges in its transaction.
    fn payment(&self) -> ROption<RStr<'_>> {
        ROption::RNone
    }
    /// Releases the reserved payment when the handler has answered, whatever its status: the work failed for this reason, of at most
    /// 120 characters.
    fn release_payment(&self, _: RStr<'_>) {}
}
pub type HeadBox = Head_TO<'static, RBox<()>>;

/// The response of a route. A header name or value that HTTP does not allow turns it into a fault.
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
    /// JSON in which [`AUTHOR_MARK`] and the 20 bytes of an address stand for each author: the gateway writes the object
    /// `{address, name, agentId}` there, after the commit.
    JsonWithAuthors(FfiBytes),
    /// Chunks that the plugin produces on demand.
    Stream(BodyStreamBox),
    /// Server-sent events of a topic, served by the gateway itself; the bytes are a JSON [`crate::manifest::Subscription`].
    Topic(FfiBytes),
}

/// Marks an author in [`Body::JsonWithAuthors`]. No JSON contains this byte: strings have it escaped.
pub const AUTHOR_MARK: u8 = 1;

/// A body that is produced chunk by chunk: polled only when the client can take more, dropped when it disconnects. The head is
/// sent with the first chunk, and at once when that one is empty.
#[sabi_trait]
pub trait BodyStream: Send {
    #[sabi(last_prefix_field)]
    fn poll_next(&mut self, context: &mut FfiContext<'_>) -> FfiPoll<ROption<RResult<FfiBytes, Fault>>>;
}
pub type BodyStreamBox = BodyStream_TO<'static, RBox<()>>;
