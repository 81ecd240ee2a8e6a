//! Contributions to extension points.

use crate::{
    Loadtest,
    store::{blocks, wallets},
};
use plugin_api::{
    HostError, PluginContext,
    point::{NoInput, ServiceStatus, members},
};
use std::collections::BTreeMap;

/// Not ok while membership cannot be believed.
pub async fn status(cx: PluginContext<Loadtest>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (db, is_on) = (cx.db(), cx.plugin().branch.is_some());
    let problem = wallets::branch(&db).await?.and_then(|branch| branch.problem);
    let numbers = members([
        ("wallets", wallets::last(&db).await?.unwrap_or(0).into()),
        ("planned", cx.plugin().config.wallets.into()),
        ("followedBlock", blocks::last(&db).await?.map(|block| block.number).into()),
    ]);
    let status = ServiceStatus { ok: problem.is_none(), enabled: Some(is_on), detail: problem, numbers };
    Ok(status.named("loadtest"))
}
