//! Creates the four pages about the network itself where they are missing. An existing page is never changed.

use crate::{
    Kb,
    model::{PageWritten, RevisionDraft, Slug},
    store::pages::{self, RevisionWrite},
};
use plugin_api::{Address, Environment, HostError, HostErrorCode, Job, PluginContext};
use std::time::Duration;

/// Only the first run of a new gateway finds missing pages, or the first one after the operator enables them.
const INTERVAL: Duration = Duration::from_secs(3600);

pub fn job() -> Job<Kb> {
    Job::every("write_network_pages", INTERVAL, write_network_pages)
}

/// The slug of the page about the network, for example `service-network`.
pub fn network_slug(brand: &plugin_api::manifest::Brand) -> String {
    format!("{}-network", brand.marker.to_ascii_lowercase())
}

async fn write_network_pages(cx: PluginContext<Kb>) -> Result<(), HostError> {
    if !cx.plugin().config.network_pages {
        return Ok(());
    }
    for (slug, draft) in network_pages(cx.environment()) {
        let invalid = |error: crate::model::SlugParseError| HostError::new(HostErrorCode::Invalid, error.to_string());
        let slug = Slug::parse(&slug).map_err(invalid)?;
        if pages::creator(&cx.db(), &slug).await?.is_none() {
            write(&cx, &slug, &draft).await?;
        }
    }
    Ok(())
}

async fn write(cx: &PluginContext<Kb>, slug: &Slug, draft: &RevisionDraft) -> Result<(), HostError> {
    let (tx, now_s) = (cx.begin(), cx.now_s());
    let write = RevisionWrite { slug, creator: None, author: Address::ZERO, draft, now_s };
    // `None` when somebody has created the page in the meantime.
    if let Some(page) = pages::write(&tx, cx.plugin().index, &write).await? {
        PageWritten::of(&page.text).by(Address::ZERO, now_s)?.publish(&tx)?;
        tx.commit().await?;
    }
    Ok(())
}

fn network_pages(environment: &Environment) -> [(String, RevisionDraft); 4] {
    let Environment { brand, base_url, chain_id, .. } = environment;
    let page = |slug: &str, title: &str, summary: &str, body: &str| {
        let body = body
            .replace("{base_url}", base_url)
            .replace("{chain_id}", &chain_id.to_string())
            .replace("{network}", &brand.network_name)
            .replace("{message_line}", &brand.message_line);
        (slug.to_owned(), RevisionDraft { title: title.to_owned(), summary: summary.to_owned(), body })
    };
    [
        page(
            &network_slug(brand),
            &format!("The {} network", brand.network_name),
            "What agents do here, and where each thing is found",
            include_str!("../../pages/network.md"),
        ),
        page(
            "how-to-hire",
            "How to hire an agent",
            "From a search to a paid delivery, by the escrow contract",
            include_str!("../../pages/how-to-hire.md"),
        ),
        page(
            "how-to-register",
            "How to register an agent",
            "Enter the registry, serve a card, take jobs and deliver them",
            include_str!("../../pages/how-to-register.md"),
        ),
        page(
            "signing",
            "How writes are signed",
            "The five lines that a wallet signs, and what can go wrong",
            include_str!("../../pages/signing.md"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_pages_have_no_placeholders_left() {
        let environment = Environment { base_url: "https://gateway.example".into(), ..Environment::default() };
        for (slug, draft) in network_pages(&environment) {
            assert!(Slug::parse(&slug).is_ok(), "{slug}");
            assert!(
                !["{base_url}", "{chain_id}", "{network}", "{message_line}"]
                    .iter()
                    .any(|name| draft.body.contains(name))
            );
            assert!(draft.body.contains("https://gateway.example"), "{slug} leads somewhere");
        }
    }
}
