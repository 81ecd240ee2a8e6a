//! A gateway that ends between two steps: no two checkpoints contradict each other.

use super::{audit, checkpoint, close, gateways, kept, passing, publish, signed};

/// No run of the job that signs is going on.
const IDLE: &str =
    "SELECT 1 FROM host_job_runs WHERE plugin = 'transparency' AND job = 'sign_checkpoint' AND lease_holder IS NULL";

/// What was signed and could not be committed was seen by nobody; the next run signs what is there then.
#[tokio::test]
async fn a_signature_that_was_not_committed_is_not_shown() {
    for gateway in gateways().await {
        publish(&gateway, 2).await;
        let shown = signed(&gateway, 2).await;
        let before = audit(&gateway).await;
        // The transaction that appends fails, after the signature was made.
        gateway
            .execute("INSERT INTO transparency_leaves (epoch, leaf, event_id, entry) SELECT epoch, 2, -1, entry FROM transparency_leaves WHERE leaf = 0")
            .await;
        publish(&gateway, 1).await;
        let token = async || gateway.rows("SELECT token FROM transparency_origins").await;
        let earlier = token().await;
        passing(&gateway, "a run of the job", async || token().await != earlier && gateway.rows(IDLE).await.len() == 1)
            .await;
        assert_eq!((checkpoint(&gateway).await, kept(&gateway)), (shown.clone(), shown));
        gateway.execute("DELETE FROM transparency_leaves WHERE event_id = -1").await;
        let gateway = gateway.restart().await;
        publish(&gateway, 1).await;
        signed(&gateway, 4).await;
        audit(&gateway).await.continues(&before.checkpoint);
        close(gateway).await;
    }
}

/// The file is written after the commit, and before anybody sees the checkpoint.
#[tokio::test]
async fn a_checkpoint_that_was_committed_and_not_kept_is_kept_before_it_is_shown() {
    for gateway in gateways().await {
        publish(&gateway, 2).await;
        let old = signed(&gateway, 2).await;
        publish(&gateway, 1).await;
        let new = signed(&gateway, 3).await;
        let mut gateway = gateway;
        for earlier in [Some(&old), None] {
            match earlier {
                Some(note) => std::fs::write(super::kept_file(&gateway), note).unwrap(),
                None => std::fs::remove_file(super::kept_file(&gateway)).unwrap(),
            }
            gateway = gateway.restart().await;
            assert_eq!(checkpoint(&gateway).await, new);
            assert_eq!(kept(&gateway), new);
        }
        close(gateway).await;
    }
}

/// A job that slept until another one had begun: the trigger takes the next token as soon as the job has taken its own.
#[tokio::test]
async fn a_job_that_was_overtaken_writes_nothing() {
    for gateway in gateways().await {
        publish(&gateway, 1).await;
        let shown = signed(&gateway, 1).await;
        let before = audit(&gateway).await;
        gateway.gateway().database.execute_batch(overtaking(gateway.dialect())).await.unwrap();
        publish(&gateway, 1).await;
        let tokens = async || gateway.rows("SELECT token FROM transparency_origins").await;
        let earlier = tokens().await;
        passing(&gateway, "a run of the job", async || {
            tokens().await != earlier && gateway.rows(IDLE).await.len() == 1
        })
        .await;
        assert_eq!(gateway.rows("SELECT max(size) FROM transparency_checkpoints").await, ["Int(1)"]);
        assert_eq!(gateway.rows("SELECT count(*) FROM transparency_leaves").await, ["Int(1)"]);
        assert_eq!(checkpoint(&gateway).await, shown);
        let table = if gateway.dialect() == "sqlite" { "" } else { " ON transparency_origins" };
        gateway.gateway().database.execute_batch(&format!("DROP TRIGGER overtaken{table}")).await.unwrap();
        signed(&gateway, 2).await;
        audit(&gateway).await.continues(&before.checkpoint);
        close(gateway).await;
    }
}

fn overtaking(dialect: &str) -> &'static str {
    if dialect == "sqlite" {
        return "CREATE TRIGGER overtaken AFTER UPDATE OF token ON transparency_origins WHEN new.token = old.token + 1 \
                BEGIN UPDATE transparency_origins SET token = new.token + 2; END";
    }
    "CREATE FUNCTION overtake() RETURNS trigger LANGUAGE plpgsql AS \
     'BEGIN UPDATE transparency_origins SET token = token + 2; RETURN NULL; END'; \
     CREATE TRIGGER overtaken AFTER UPDATE OF token ON transparency_origins FOR EACH ROW \
     WHEN (new.token = old.token + 1) EXECUTE FUNCTION overtake()"
}
