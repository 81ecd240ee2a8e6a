//! The context of a request: the plugin's own, and the request's write, payment and client.

use super::{
    ApiError, Db, HandlerError, PluginContext, Tx, client_network, db::NextPage, payment::Payment, write, write_scope,
};
use crate::abi::{FfiBytes, HeadBox, HostError};
use abi_stable::std_types::ROption;
use alloy_primitives::hex;
use std::{future::Future, ops::Deref};

/// A request handler's first argument: the [`PluginContext`], by deref, and this request's own write.
///
/// ```
/// use plugin_api::{HandlerError, Json, Query, RequestContext, sql};
///
/// # struct Notes;
/// async fn count_notes(cx: RequestContext<Notes>) -> Result<Json<i64>, HandlerError> {
///     Ok(Json(cx.db().one(sql("SELECT count(*) FROM notes_notes")).await?))
/// }
/// ```
pub struct RequestContext<P> {
    cx: PluginContext<P>,
    head: HeadBox,
    next_page: NextPage,
}

impl<P> RequestContext<P> {
    pub(crate) fn new(cx: PluginContext<P>, head: HeadBox, next_page: NextPage) -> Self {
        Self { cx, head, next_page }
    }

    /// Reads on a snapshot. The page of a list that is read by it is the response's: a link leads to the next one.
    pub fn db(&self) -> Db {
        Db { next_page: Some(self.next_page.clone()), ..self.cx.db() }
    }

    /// The request's write. Runs `work` in a transaction and commits: when this returns `Ok`, rows, events, intents and the
    /// replay guard of a signed route are durable, and reads see them. An error of `work` rolls everything back and nothing is
    /// published; so does a request that ends in the middle of it (time limit, client gone).
    ///
    /// What `work` reads and decides holds at the commit, as if no other transaction of the plugin had run at the same time. On
    /// SQLite one runs at a time. On PostgreSQL they run at the same time, and `work` may run more than once: when the database
    /// refuses an attempt because of another write, all that the attempt wrote, published and recorded is discarded, and `work`
    /// begins again. Each attempt has its own transaction; from the third on it runs alone among the plugin's writes in this
    /// gateway. After sixteen the error is a [`HostErrorCode::Conflict`](crate::HostErrorCode::Conflict), which is answered by 503 `busy`.
    ///
    /// So `work` must do nothing but statements, [`super::Event::publish`] and [`super::TransactionRequest::record`] on its `tx`,
    /// and use `tx.now_s()` as time, which stays the same in each attempt. It must not fetch, sign, call a chain, spawn, collect,
    /// look up authors, count or read with `cx.db()`: these would happen
    /// once per attempt, also of one that is discarded, they would not see the transaction's own rows, and on SQLite all other
    /// writers would wait for them. Do that before the write and move what it returned into the closure, or do it after.
    /// Therefore `work` owns what it uses (`async move`): it cannot borrow `cx`, and must not get a clone of the context either.
    /// A captured reference is a compile error, even `&'static str` ("implementation of `Send` is not general enough").
    ///
    /// A request writes once: a second call fails. To refuse, return the error from `work`: a response of 400 or more that a
    /// handler makes after its write cannot undo it.
    ///
    /// ```
    /// # use plugin_api::{Created, HandlerError, JsonSchema, Query as _, RequestContext, Signed, sql, stream::EventBuilder};
    /// # struct Notes;
    /// # #[derive(serde::Deserialize, JsonSchema)]
    /// # struct NewNote { text: String }
    /// async fn create_note(
    ///     cx: RequestContext<Notes>,
    ///     Signed { signer, payload }: Signed<NewNote>,
    /// ) -> Result<Created<i64>, HandlerError> {
    ///     let id = cx
    ///         .write(async move |tx| {
    ///             let insert = sql("INSERT INTO notes_notes (author, text, created_at) VALUES ($1, $2, $3) RETURNING id");
    ///             let id: i64 = tx.one(insert.bind(signer).bind(&payload.text).bind(tx.now_s())).await?;
    ///             EventBuilder::new("notes.create", &id).actor(signer).publish(tx)?;
    ///             Ok(id)
    ///         })
    ///         .await?;
    ///     Ok(Created(id))
    /// }
    /// # plugin_api::Route::<Notes>::post("/api/notes/notes", create_note);
    /// ```
    pub async fn write<T, E: ApiError>(
        &self,
        work: impl AsyncFn(&Tx) -> Result<T, HandlerError<E>> + Send + Sync + 'static,
    ) -> Result<T, HandlerError<E>> {
        write::write(self.now_ms(), || self.head.begin_write().into_result(), work).await
    }

    /// A transaction that runs once, unlike [`Self::write`]. The gateway adds the replay guard of a signed route and
    /// commits when the status is below 400. On any other status, or when the client disconnects, it rolls everything back.
    ///
    /// The plugin declares it: [`super::Definition::own_transactions`]. Without that, every call of the transaction fails with
    /// [`HostErrorCode::Refused`](crate::HostErrorCode::Refused).
    pub fn transaction(&self) -> Tx {
        Tx::new(self.head.transaction(), self.now_ms())
    }

    /// The future borrows nothing of the context, which is not `Sync` for every plugin.
    pub(crate) fn next_body_part(&self) -> impl Future<Output = Result<Option<FfiBytes>, HostError>> + Send + use<P> {
        let next = self.head.next_body_part();
        async move {
            write_scope::check_outside("a part of the body")?;
            next.await.into_result().map(ROption::into_option)
        }
    }

    /// The first header with this lower-case name: for a name that depends on the deployment, such as one that begins with
    /// [`crate::handles::Brand::header_prefix`]. For a name that is known, [`crate::extract::HeaderValue`] documents the parameter.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name.into()).into_option().map(Into::into)
    }

    /// The payment that is reserved for this request: `None` where nothing is paid. A signed write charges in its transaction instead:
    /// [`Tx::charge`].
    pub fn payment(&self) -> Option<Payment> {
        let payment = self.head.payment().into_option()?;
        serde_json::from_str(payment.as_str()).ok()
    }

    /// The paid work failed for this reason: when the handler has answered, whatever its status, the gateway releases the payment and
    /// tells the client why. A response of 400 or more does that without this call.
    pub fn release_payment(&self, reason: &str) {
        self.head.release_payment(reason.into());
    }

    /// The client's network, for limits: a host with IPv6 has a whole /64 of addresses.
    pub fn client_network(&self) -> String {
        let ip = self.client_ip();
        ip.parse().map_or_else(|_no_address| ip.to_owned(), |ip| client_network::client_network(ip).to_string())
    }

    /// The client's IPv6 /48, for limits beside those of [`Self::client_network`], of which it has 65,536; `None` with IPv4.
    pub fn client_site(&self) -> Option<String> {
        client_network::client_site(self.client_ip().parse().ok()?).map(|site| site.to_string())
    }

    /// Keyed hashes of [`Self::client_network`] and, with IPv6, of [`Self::client_site`], as hex digits: what limits are counted by, without
    /// an address that anybody could read. `secret` names the plugin's own key ([`HostHandle::secret`](crate::HostHandle::secret), with its grant).
    pub async fn client_hashes(&self, secret: &str) -> Result<(String, Option<String>), HostError> {
        let (network, site, secret) = (self.client_network(), self.client_site(), self.secret(secret));
        let site = match site {
            Some(site) => Some(hex::encode(secret.hmac(format!("{site}/48")).await?)),
            None => None,
        };
        Ok((hex::encode(secret.hmac(network).await?), site))
    }

    /// The client's IP address behind the trusted proxies. Count by [`Self::client_network`].
    pub fn client_ip(&self) -> &str {
        self.head.client_ip().as_str()
    }

    /// `GET`, `POST` and so on, on a route for any method.
    pub fn method(&self) -> &str {
        self.head.method().as_str()
    }

    pub fn request_id(&self) -> &str {
        self.head.request_id().as_str()
    }

    pub fn plugin_context(&self) -> &PluginContext<P> {
        &self.cx
    }
}

impl<P> Deref for RequestContext<P> {
    type Target = PluginContext<P>;

    fn deref(&self) -> &PluginContext<P> {
        &self.cx
    }
}
