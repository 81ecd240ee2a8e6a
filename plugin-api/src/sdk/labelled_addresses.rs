//! Addresses that are not counted as use.

use super::point::{NoInput, Point};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Addresses that are the operator's own traffic and not use, such as the wallets of a load test: leaderboards and statistics leave
/// them out. Contribute with [`crate::Definition::labels_addresses`].
///
/// ```
/// use plugin_api::{Definition, Plugin, point::LABELLED_ADDRESSES};
///
/// /// Contributes to [`LABELLED_ADDRESSES`] the column `address` of this view.
/// fn define<P: Plugin>(definition: Definition<P>) -> Definition<P> {
///     definition.labels_addresses("notes_robots_v1")
/// }
/// ```
pub const LABELLED_ADDRESSES: Point<NoInput, LabelledAddresses> = Point::new("labelled-addresses");

/// Where the labelled addresses of a plugin are: in a view, so that what a reader pays does not grow with their number.
///
/// ```
/// use plugin_api::point::LabelledAddresses;
///
/// let robots = LabelledAddresses { view: "notes_robots_v1".to_owned() };
/// assert!(LabelledAddresses::leave_out(&[robots], "n.author").contains("FROM notes_robots_v1"));
/// assert_eq!(LabelledAddresses::leave_out(&[], "n.author"), "1 = 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabelledAddresses {
    /// A view that the plugin publishes, with a column `address` (checksummed) that an index finds.
    pub view: String,
}

impl LabelledAddresses {
    /// A condition of SQL that holds where the column's address is in none of these views; true without any.
    ///
    /// ```
    /// use plugin_api::{HostError, PluginContext, Query as _, point::LabelledAddresses, sql};
    ///
    /// async fn count_authors<P>(cx: PluginContext<P>) -> Result<i64, HostError> {
    ///     let counted = LabelledAddresses::leave_out(&cx.labelled_addresses().await?, "n.author");
    ///     cx.db().one(sql(format!("SELECT count(DISTINCT n.author) FROM notes_notes n WHERE {counted}"))).await
    /// }
    /// ```
    pub fn leave_out(all: &[Self], column: &str) -> String {
        let is_not_in = |view| format!("NOT EXISTS (SELECT 1 FROM {view} labelled WHERE labelled.address = {column})");
        let conditions: Vec<String> = all.iter().map(|labelled| is_not_in(&labelled.view)).collect();
        if conditions.is_empty() { "1 = 1".to_owned() } else { conditions.join(" AND ") }
    }
}
