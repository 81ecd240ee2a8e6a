//! Extension points and services: what a plugin contributes, provides and calls.

use super::Definition;
use crate::{
    abi::HostError,
    manifest::{ContributionSpec, ServiceSpec},
    sdk::{
        Plugin, PluginContext, Tx,
        answer::{ServiceFn, answer_fn, contained_answer},
        call_types::{call_types, service_spec},
        payload_references::referenced_payloads,
        point::{
            AUDIT, AuditInput, LABELLED_ADDRESSES, LabelledAddresses, NoInput, PAYLOAD_REFERENCES,
            PayloadReferencesInput, Point, Service,
        },
        write_scope,
    },
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use std::{collections::BTreeSet, future::Future, sync::Arc};

impl<P: Plugin> Definition<P> {
    /// Contributes to an extension point; see [`crate::point`] for those of the gateway.
    pub fn contributes<I, O, F, Fut>(mut self, point: Point<I, O>, answer: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(PluginContext<P>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HostError>> + Send + 'static,
    {
        let is_own = point.name().contains('.');
        let types = is_own.then(call_types::<I, O>);
        let spec = ContributionSpec { point: point.name().to_owned(), cached: false, types };
        self.contributions.push((spec, answer_fn(point.name(), answer)));
        self
    }

    /// Contributes a value that depends on the input and on stored data alone, by the rules of [`crate::Route::cached`]. The
    /// gateway may then cache it, and cached routes may collect it.
    pub fn contributes_cached<I, O, F, Fut>(self, point: Point<I, O>, answer: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(PluginContext<P>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HostError>> + Send + 'static,
    {
        let mut definition = self.contributes(point, answer);
        if let Some((spec, _)) = definition.contributions.last_mut() {
            spec.cached = true;
        }
        definition
    }

    /// Publishes a view of labelled addresses, which leaderboards and statistics leave out: [`crate::point::LABELLED_ADDRESSES`]. Its
    /// column `address` is checksummed, and an index finds it.
    ///
    /// ```
    /// # use plugin_api::{Definition, Plugin};
    /// fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.labels_addresses("robots_labelled_v1")
    /// }
    /// ```
    pub fn labels_addresses(self, view: &'static str) -> Self {
        let contribution =
            move |_: PluginContext<P>, _: NoInput| async move { Ok(LabelledAddresses { view: view.to_owned() }) };
        self.views(&[view]).contributes_cached(LABELLED_ADDRESSES, contribution)
    }

    /// An extension point of the plugin's own, to which others contribute and from which it collects.
    pub fn extension_point<I: JsonSchema, O: JsonSchema>(mut self, point: Point<I, O>) -> Self {
        self.manifest.points.push(service_spec::<I, O>(point.name()));
        self
    }

    /// Provides a service, which other plugins call. Of two plugins that provide the same one, only one starts.
    pub fn provides<I, O, F, Fut>(mut self, service: Service<I, O>, answer: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(PluginContext<P>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HostError>> + Send + 'static,
    {
        self.manifest.provides.push(service_spec::<I, O>(service.name()));
        self.services.push(ServiceFn::Outside(answer_fn(service.name(), answer)));
        self
    }

    /// Provides a service that is called within a transaction: what it writes is committed with what the caller writes, or not at all.
    ///
    /// `answer` gets the [`crate::Tx`] of the caller's transaction, in which it reaches the tables of this plugin. Like the closure of a
    /// [write](crate::HostHandle::write) it does nothing but statements on it, and it may run again. A caller in a write of its own uses
    /// [`crate::Tx::call`]; for others the gateway opens a transaction and commits it after the answer.
    ///
    /// ```
    /// use plugin_api::{Definition, Plugin, Query as _, point::Service, sql};
    ///
    /// /// Takes so many points from an account; the answer is whether there were enough.
    /// pub const SPEND: Service<u32, bool> = Service::new("points.spend");
    ///
    /// fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.provides_in_write(SPEND, async |_, tx, points| {
    ///         let spend = sql("UPDATE points_accounts SET points = points - $1 WHERE id = 1 AND points >= $1");
    ///         Ok(tx.execute(spend.bind(points)).await? == 1)
    ///     })
    /// }
    /// ```
    pub fn provides_in_write<I, O, F, Fut>(mut self, service: Service<I, O>, answer: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(PluginContext<P>, Tx, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HostError>> + Send + 'static,
    {
        let spec = ServiceSpec { in_write: true, ..service_spec::<I, O>(service.name()) };
        self.manifest.provides.push(spec);
        let answer = Arc::new(answer);
        self.services.push(ServiceFn::InWrite(Box::new(move |cx, input, tx| {
            let (answer, cx_of_call) = (answer.clone(), cx.clone());
            contained_answer(cx, service.name(), input, move |input| {
                write_scope::in_write(answer(cx_of_call, tx, input))
            })
        })));
        self
    }

    /// A service that the plugin calls by [`crate::HostHandle::call`]. The plugin starts without a provider, too.
    pub fn uses<I: JsonSchema, O: JsonSchema>(mut self, service: Service<I, O>) -> Self {
        self.manifest.uses.push(service_spec::<I, O>(service.name()));
        self
    }

    /// Says which stored texts may reference payloads, which are then not pruned: [`crate::point::PAYLOAD_REFERENCES`].
    ///
    /// Each statement selects rows `(key, text)` whose integer key is above `$1`, ordered by key, with a `LIMIT` that bounds a
    /// page to a few megabytes. Where the key is not unique, a page is all rows of the next key.
    ///
    /// ```
    /// use plugin_api::{Definition, Plugin};
    ///
    /// fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.references_payloads(&["SELECT id, text FROM notes_notes WHERE id > $1 ORDER BY id LIMIT 500"])
    /// }
    /// ```
    pub fn references_payloads(self, pages: &'static [&'static str]) -> Self {
        self.contributes(PAYLOAD_REFERENCES, move |cx, PayloadReferencesInput { hashes }| async move {
            let (db, candidates) = (cx.db(), hashes.into_iter().collect());
            let mut referenced = BTreeSet::new();
            for page in pages {
                referenced.extend(referenced_payloads(&db, &candidates, page).await?);
            }
            Ok(referenced)
        })
    }

    /// Contributes the events of these types (whole names) that an agent's owner caused to the agent's audit export:
    /// [`crate::point::AUDIT`]. The data of an event is public already.
    ///
    /// ```
    /// use plugin_api::{Definition, Plugin};
    ///
    /// fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
    ///     definition.publishes(&["note.create"]).audits(&["note.create"])
    /// }
    /// ```
    pub fn audits(self, event_types: &'static [&'static str]) -> Self {
        self.contributes(AUDIT, move |cx, input: AuditInput| async move { input.events(&cx.db(), event_types).await })
    }
}
