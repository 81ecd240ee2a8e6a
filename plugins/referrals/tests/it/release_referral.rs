//! `POST /api/referrals/payouts/release`. What it does is in `limits.rs` and `failures.rs`.

use super::{each, is, newcomer, operator, paying, refusal};
use plugin_testing::json;

#[tokio::test]
async fn without_operators_nobody_releases() {
    each(json!({}), async |site| {
        site.claimed().await;
        assert_eq!(refusal(&site.release(&operator(), 1, json!({})).await), is(503, "disabled"));
    })
    .await;
}

#[tokio::test]
async fn only_an_operator_releases_what_there_is() {
    each(paying(), async |site| {
        site.claimed().await;
        assert_eq!(refusal(&site.release(&newcomer(), 1, json!({})).await), is(403, "not_operator"));
        assert_eq!(refusal(&site.release(&operator(), 9, json!({})).await), is(404, "not_found"));
        assert_eq!(refusal(&site.release(&operator(), 1, json!({ "side": "both" })).await), is(400, "bad_request"));
        assert_eq!(
            refusal(&site.release(&operator(), 1, json!({ "side": "new" })).await),
            is(409, "nothing_to_release")
        );
        let released = site.release(&operator(), 1, json!({})).await;
        assert_eq!((released.status, &released.json()["status"]), (200, &json!("registered")));
        assert_eq!(site.gateway.rows("SELECT count(*) FROM referrals_claims WHERE released_at > 0").await, ["Int(1)"]);
    })
    .await;
}
