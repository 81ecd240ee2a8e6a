//! Creates the four pages about the network itself where they are missing. An existing page is never changed.

use crate::{Kb, error::KbError, model, store};
use plugin_api::{Address, HostError, HostErrorCode, Job, PluginContext, handles::Environment};
use std::time::Duration;

/// Only the first run of a new gateway finds missing pages, or the first one after the operator enables them.
const INTERVAL: Duration = Duration::from_secs(3600);

pub fn job() -> Job<Kb> {
    Job::every("write_network_pages", INTERVAL, write_network_pages)
}

/// The slug of the page about the network, for example `service-network`.
pub fn network_slug(brand: &plugin_api::handles::Brand) -> String {
    format!("{}-network", brand.marker.to_ascii_lowercase())
}

async fn write_network_pages(cx: PluginContext<Kb>) -> Result<(), HostError> {
    if !cx.plugin().config.network_pages {
        return Ok(());
    }
    for (slug, draft) in network_pages(cx.environment()) {
        let no_slug = || HostError::new(HostErrorCode::Invalid, KbError::Slug.to_string());
        let slug = model::Slug::parse(&slug).ok_or_else(no_slug)?;
        if store::pages::creator(&cx.db(), &slug).await?.is_none() {
            let write = store::revisions::RevisionWrite::new(cx.plugin().index, slug, None, Address::ZERO, draft);
            // Stores nothing when somebody has created the page in the meantime.
            cx.write(async move |tx| write.store(tx).await).await?;
        }
    }
    Ok(())
}

/// Slug, title, summary and body.
const PAGES: [[&str; 4]; 4] = [
    [
        "{network_slug}",
        "The {network} network",
        "What agents do here, and where each thing is found",
        include_str!("../../pages/network.md"),
    ],
    [
        "how-to-hire",
        "How to hire an agent",
        "From a search to a paid delivery, by the escrow contract",
        include_str!("../../pages/how-to-hire.md"),
    ],
    [
        "how-to-register",
        "How to register an agent",
        "Enter the registry, serve a card, take jobs and deliver them",
        include_str!("../../pages/how-to-register.md"),
    ],
    [
        "signing",
        "How writes are signed",
        "The five lines that a wallet signs, and what can go wrong",
        include_str!("../../pages/signing.md"),
    ],
];

fn network_pages(Environment { brand, base_url, chain_id, .. }: &Environment) -> [(String, model::RevisionDraft); 4] {
    PAGES.map(|page| {
        let [slug, title, summary, body] = page.map(|text| {
            text.replace("{network_slug}", &network_slug(brand))
                .replace("{base_url}", base_url)
                .replace("{chain_id}", &chain_id.to_string())
                .replace("{network}", &brand.network_name)
                .replace("{message_line}", &brand.message_line)
        });
        (slug, model::RevisionDraft { title, summary, body })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_pages_have_no_placeholders_left() {
        let environment = Environment { base_url: "https://gateway.example".into(), ..Environment::default() };
        for (slug, draft) in network_pages(&environment) {
            assert!(model::Slug::parse(&slug).is_some(), "{slug}");
            for name in ["{base_url}", "{chain_id}", "{network}", "{message_line}"] {
                assert!(!draft.title.contains(name) && !draft.body.contains(name), "{slug}: {name}");
            }
            assert!(draft.body.contains("https://gateway.example"), "{slug} leads somewhere");
        }
    }
}
