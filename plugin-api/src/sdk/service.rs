//! Services: functions that one plugin provides and others call.

use std::marker::PhantomData;

/// A service: a function that at most one enabled plugin provides, and that others call without knowing which. Its name, and the
/// types of what the caller asks and of what the provider answers.
///
/// Provider and callers share the constant and its types: in `plugin-api`, or in a crate of the plugin that has the idea, whose name
/// then begins the service's, `PLUGIN.NAME`. The gateway does not start a plugin whose types differ from those of the provider. What
/// the provider may refuse is part of the answer's type; an error of its handler is a fault of the provider.
///
/// ```
/// use plugin_api::{Definition, HostError, JsonSchema, Plugin, PluginContext, point::Service};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// pub struct Text {
///     pub text: String,
/// }
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// pub enum Translation {
///     Text(String),
///     UnknownLanguage,
/// }
///
/// pub const TRANSLATE: Service<Text, Translation> = Service::new("essays.translate");
///
/// fn translator<P: Plugin>(definition: Definition<P>) -> Definition<P> {
///     definition.provides(TRANSLATE, async |_, asked| Ok(Translation::Text(asked.text)))
/// }
///
/// fn reader<P: Plugin>(definition: Definition<P>) -> Definition<P> {
///     definition.uses(TRANSLATE)
/// }
///
/// /// Without a provider that serves the error is [`plugin_api::HostErrorCode::Disabled`], which a handler answers as 503 `disabled`.
/// async fn translate<P>(cx: PluginContext<P>, text: String) -> Result<Option<String>, HostError> {
///     Ok(match cx.call(TRANSLATE, &Text { text }).await? {
///         Translation::Text(text) => Some(text),
///         Translation::UnknownLanguage => None,
///     })
/// }
/// ```
pub struct Service<I, O> {
    name: &'static str,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O> Service<I, O> {
    /// The name of a plugin's own service is `PLUGIN.NAME`; those without a dot are the gateway's.
    pub const fn new(name: &'static str) -> Self {
        Self { name, types: PhantomData }
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<I, O> Clone for Service<I, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, O> Copy for Service<I, O> {}
