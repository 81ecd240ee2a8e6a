//! The published views that other plugins join.

use super::{
    script::{PAUSED, account, agent, done, feedback, feedback_revoked, hash, status, validated, validation_requested},
    sites,
};

#[tokio::test]
async fn each_view_has_the_columns_that_are_documented() {
    let readme = include_str!("../../README.md");
    for site in sites(vec![agent(1)]).await {
        for view in ["agents_v1", "jobs_v1", "validations_v1", "feedback_v1"] {
            let line = readme.lines().find(|line| line.starts_with(&format!("| `{view}` |"))).expect(view);
            let documented: Vec<&str> = line.split('`').skip(3).step_by(2).collect();
            let columns = documented.join(", ");
            // Databases compare rows of equal width only, so this checks the number of columns.
            let other =
                format!("SELECT count(*) FROM (SELECT {columns} FROM {view} EXCEPT SELECT * FROM {view}) AS other");
            assert_eq!(site.gateway.rows(&other).await, ["Int(0)"], "{view}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn views_have_the_data_of_the_routes() {
    let blocks = vec![
        [agent(1), vec![status(1, PAUSED)], done(1, 1, 50, "10", 4)].concat(),
        vec![validation_requested(8, 1, "u", 3), feedback(1, 50, 1, "-5"), feedback(1, 50, 2, "6")],
        vec![validated(8, 1, 3, 0), feedback_revoked(1, 50, 1)],
    ];
    for site in sites(blocks).await {
        let rows = async |statement: &str| site.gateway.rows(statement).await;
        let text = |text: &str| format!("Text({text:?})");
        assert_eq!(
            rows("SELECT owner, slug, status, paid_jobs, payers, earned, online FROM agents_v1").await,
            [format!("{} Text(\"agent-1\") Text(\"Paused\") Int(1) Int(1) Text(\"10\") Int(0)", text(&account(1)))]
        );
        assert_eq!(
            rows("SELECT agent_name, agent_owner, client, status, rating, agent_payout, fee FROM jobs_v1").await,
            [format!(
                "Text(\"agent 1\") {} {} Text(\"Completed\") Int(4) Text(\"10\") Text(\"1\")",
                text(&account(1)),
                text(&account(50))
            )]
        );
        let validation = rows("SELECT request_hash, response, tag FROM validations_v1").await;
        assert_eq!(validation, [format!("{} Int(0) Text(\"quality\")", text(&hash(3)))]);
        assert_eq!(
            rows("SELECT feedback_index, value, revoked FROM feedback_v1 ORDER BY feedback_index").await,
            ["Int(1) Text(\"-5\") Int(1)", "Int(2) Text(\"6\") Int(0)"]
        );
        site.close().await;
    }
}
