//! Contributions are counted by counters, and are what a count of the log is: whatever was retracted, and whenever a gateway ended.

use super::{CONTRACTS, SIGNER, Site, claims, forged::endorsed, history, script, sites, sites_with};
use plugin_testing::{Builder, TestGateway};
use std::{collections::BTreeSet, time::Duration};

const LIMIT: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_secs(31);
/// Of whom agent 1 is.
const OWNER: u64 = 1;
/// Events of one transaction of the job.
const PAGE: u64 = 2_000;
const RUNS: &str =
    "SELECT runs FROM host_job_runs WHERE plugin = 'aicv' AND job = 'count_events' AND lease_holder IS NULL";

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

impl Site {
    /// Types and counts in the record of the agent.
    async fn counted(&self, agent: u64) -> BTreeSet<String> {
        let document = self.read(&format!("/api/cv/{agent}")).await;
        let counts = claims(&document, "Contribution");
        counts.iter().map(|claim| format!("{} {}", claim["kind"].as_str().unwrap(), claim["count"])).collect()
    }

    /// The types that are counted in it.
    async fn types(&self) -> Vec<String> {
        let document = self.read("/api/cv/1").await;
        let types = document["credentialSubject"]["recordMeta"]["scope"]["contributionTypes"].as_array().unwrap();
        types.iter().map(|kind| kind.as_str().unwrap().to_owned()).collect()
    }

    /// What the log itself has of the account.
    async fn logged(&self, account: u64, types: &[String]) -> BTreeSet<String> {
        let select = format!(
            "SELECT type || ' ' || count(*) FROM host_activity_v1 WHERE actor = '{}' AND type IN ('{}') GROUP BY type",
            script::account(account),
            types.join("', '")
        );
        let rows = self.gateway.rows(&select).await;
        rows.iter().map(|row| row.trim_start_matches("Text(\"").trim_end_matches("\")").to_owned()).collect()
    }

    async fn assert_counted(&self, types: &[String]) {
        assert_eq!(self.counted(1).await, self.logged(OWNER, types).await);
    }

    /// The counters have each event up to the cursor once.
    async fn assert_counters(&self) {
        let counters = "SELECT actor, type, event_count FROM aicv_event_counts ORDER BY actor, type";
        let log = "SELECT actor, type, count(*) FROM host_activity WHERE actor IS NOT NULL \
                   AND id <= (SELECT event_id FROM aicv_event_cursor) GROUP BY actor, type ORDER BY actor, type";
        assert_eq!(self.gateway.rows(counters).await, self.gateway.rows(log).await);
    }

    /// Lets time pass until the job is due. While it runs no time passes, which would end it.
    async fn pass_time(&self) {
        if self.gateway.rows(RUNS).await.len() == 1 {
            self.gateway.clock().advance(STEP).await;
        }
    }

    async fn is_folded(&self) -> bool {
        let behind = "SELECT count(*) FROM host_activity WHERE id > (SELECT event_id FROM aicv_event_cursor)";
        self.gateway.rows(behind).await == ["Int(0)"]
    }

    /// Lets the job run until the counters have the whole log.
    async fn fold(&self) {
        TestGateway::eventually(LIMIT, "all events are in the counters", async || {
            self.pass_time().await;
            self.is_folded().await
        })
        .await;
        self.assert_counters().await;
    }

    /// Lets a run of the job begin and end.
    async fn run_job(&self) {
        // The first of the two may have begun before.
        for _ in 0..2 {
            let before = self.gateway.rows(RUNS).await;
            TestGateway::eventually(LIMIT, "a run of the job", async || {
                self.pass_time().await;
                let runs = self.gateway.rows(RUNS).await;
                runs.len() == 1 && runs != before
            })
            .await;
        }
    }

    pub async fn restarted(self) -> Self {
        let Self { gateway, chain } = self;
        let gateway = gateway.restart().await;
        gateway.indexed(&chain).await;
        Self { gateway, chain }
    }

    /// Adds events to the log, as commits do: of the owner, of somebody else and of nobody, of any type, with gaps in the ids.
    async fn log_events(&self, random: &mut Random, types: &[String], count: u64) {
        let mut id = self.number("SELECT coalesce(max(id), 0) FROM host_activity").await;
        let mut rows = Vec::new();
        for _ in 0..count {
            id += 1 + random.below(20) / 17;
            let actor = match random.below(5) {
                0 => "NULL".to_owned(),
                1 => format!("'{}'", script::account(77)),
                _ => format!("'{}'", script::account(OWNER)),
            };
            let kind = usize::try_from(random.below(types.len() as u64 + 1)).unwrap();
            let kind = types.get(kind).map_or("job.requested", String::as_str);
            rows.push(format!("({id}, '{kind}', 7, {actor}, '{{}}')"));
        }
        for rows in rows.chunks(500) {
            let insert = "INSERT INTO host_activity (id, type, ts, actor, data) VALUES";
            self.gateway.execute(&format!("{insert} {}", rows.join(", "))).await;
        }
    }

    async fn number(&self, select: &str) -> u64 {
        let row = self.gateway.rows(select).await.remove(0);
        row.trim_start_matches("Int(").trim_end_matches(')').parse().unwrap()
    }

    /// Retracts some of the newest events, as a reorganisation does.
    async fn retract(&self, random: &mut Random, newest: u64, part: u64) {
        let select = format!("SELECT id FROM host_activity_v1 ORDER BY id DESC LIMIT {newest}");
        for row in self.gateway.rows(&select).await {
            let id = row.trim_start_matches("Int(").trim_end_matches(')');
            if random.below(part) == 0 {
                let retract =
                    "INSERT INTO host_activity_retracted (id, actor, type) SELECT id, actor, type FROM host_activity";
                self.gateway.execute(&format!("{retract} WHERE id = {id}")).await;
            }
        }
    }
}

#[tokio::test]
async fn contributions_are_those_of_a_count_of_the_log() {
    for mut site in sites().await {
        let types = site.types().await;
        let some: Vec<String> = types.iter().take(4).cloned().collect();
        assert!(some.len() == 4, "{types:?}");
        let mut random = Random(22);
        for round in 0..24 {
            let count = random.below(40);
            site.log_events(&mut random, &some, count).await;
            // Events that are in the counters, and such that are not.
            site.retract(&mut random, 60, 10).await;
            match random.below(4) {
                0 => site.fold().await,
                1 => site.pass_time().await,
                _ if round % 7 == 6 => site = site.restarted().await,
                _ => {}
            }
            site.assert_counted(&types).await;
            // A client has sixty calls in a minute.
            site.gateway.clock().advance(Duration::from_secs(2)).await;
        }
        assert!(!site.counted(1).await.is_empty());
        site.fold().await;
        site.assert_counted(&types).await;
        site.close().await;
    }
}

#[tokio::test]
async fn what_a_reorganisation_undoes_is_not_counted() {
    for mut site in sites().await {
        site.mine(script::registered(2, 2, "Sorter", "https://sorter.example")).await;
        // Counted before they are undone, and undone before they are counted.
        for is_folded in [true, false] {
            site.mine(vec![endorsed(1, 1, "digging"), endorsed(2, 1, "sorting"), endorsed(3, 9, "other")]).await;
            assert_eq!(site.counted(2).await, ["endorsement.given 3".to_owned()].into());
            if is_folded {
                site.fold().await;
                assert_eq!(site.counted(2).await, ["endorsement.given 3".to_owned()].into());
            }
            site.chain.reorg(4);
            site.chain.mine_empty(5);
            site.gateway.indexed(&site.chain).await;
            assert_eq!(site.counted(2).await, BTreeSet::new(), "{}: {is_folded}", site.gateway.dialect());
            site.fold().await;
            assert_eq!(site.counted(2).await, BTreeSet::new());
            site = site.restarted().await;
            site.mine(vec![endorsed(4, 1, "digging")]).await;
            assert_eq!(site.counted(2).await, ["endorsement.given 1".to_owned()].into());
            site.fold().await;
            assert_eq!(site.counted(2).await, ["endorsement.given 1".to_owned()].into());
            // For the next round.
            site.chain.reorg(4);
            site.chain.mine_empty(5);
            site.gateway.indexed(&site.chain).await;
        }
        site.close().await;
    }
}

/// A log that was there before the counters is counted in several transactions, and one that fails in between takes nothing with it.
#[tokio::test]
async fn a_gateway_that_ends_between_two_pages_counts_nothing_twice() {
    for mut site in sites().await {
        let types = site.types().await;
        site.fold().await;
        let mut random = Random(7);
        site.log_events(&mut random, &types, 2 * PAGE + 500).await;
        site.gateway.gateway().database.execute_batch(&killing(&site).await).await.unwrap();
        let cursor = async |site: &Site| site.gateway.rows("SELECT event_id FROM aicv_event_cursor").await;
        let before = cursor(&site).await;
        site.run_job().await;
        let first = cursor(&site).await;
        assert_ne!(first, before, "the first page");
        assert!(!site.is_folded().await);
        site.assert_counters().await;
        site.assert_counted(&types).await;
        site = site.restarted().await;
        site.run_job().await;
        assert_eq!(cursor(&site).await, first, "the second page fails again");
        site.assert_counters().await;
        site.assert_counted(&types).await;
        let table = if site.gateway.dialect() == "sqlite" { "" } else { " ON aicv_event_counts" };
        site.gateway.gateway().database.execute_batch(&format!("DROP TRIGGER killed{table}")).await.unwrap();
        site.fold().await;
        site.assert_counted(&types).await;
        site.gateway.stop().await;
    }
}

/// Everything but the next page fails.
async fn killing(site: &Site) -> String {
    let cursor = site.number("SELECT event_id FROM aicv_event_cursor").await;
    let is_second = format!("(SELECT event_id FROM aicv_event_cursor) > {cursor}");
    if site.gateway.dialect() == "sqlite" {
        return format!(
            "CREATE TRIGGER killed BEFORE INSERT ON aicv_event_counts WHEN {is_second} BEGIN SELECT RAISE(ABORT, 'killed'); END"
        );
    }
    format!(
        "CREATE FUNCTION kill_second() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN IF {is_second} THEN RAISE EXCEPTION ''killed''; END IF; RETURN NEW; END'; \
         CREATE TRIGGER killed BEFORE INSERT ON aicv_event_counts FOR EACH ROW EXECUTE FUNCTION kill_second()"
    )
}

/// A job that slept until another gateway's had counted the same events: the trigger moves the cursor after the job has read it.
#[tokio::test]
async fn a_job_that_was_overtaken_counts_nothing() {
    for site in sites().await {
        let types = site.types().await;
        site.fold().await;
        site.log_events(&mut Random(3), &types, 50).await;
        let counters =
            async || site.gateway.rows("SELECT actor, type, event_count FROM aicv_event_counts ORDER BY 1, 2").await;
        let before = counters().await;
        site.gateway.gateway().database.execute_batch(overtaking(site.gateway.dialect())).await.unwrap();
        site.run_job().await;
        assert_eq!(counters().await, before);
        assert!(!site.is_folded().await);
        site.assert_counted(&types).await;
        let table = if site.gateway.dialect() == "sqlite" { "" } else { " ON aicv_event_counts" };
        site.gateway.gateway().database.execute_batch(&format!("DROP TRIGGER overtaken{table}")).await.unwrap();
        site.fold().await;
        assert_ne!(counters().await, before);
        site.assert_counted(&types).await;
        site.close().await;
    }
}

fn overtaking(dialect: &str) -> &'static str {
    if dialect == "sqlite" {
        return "CREATE TRIGGER overtaken BEFORE INSERT ON aicv_event_counts \
                BEGIN UPDATE aicv_event_cursor SET event_id = event_id + 1; END";
    }
    "CREATE FUNCTION overtake() RETURNS trigger LANGUAGE plpgsql AS \
     'BEGIN UPDATE aicv_event_cursor SET event_id = event_id + 1; RETURN NEW; END'; \
     CREATE TRIGGER overtaken BEFORE INSERT ON aicv_event_counts FOR EACH ROW EXECUTE FUNCTION overtake()"
}

#[tokio::test]
async fn two_gateways_count_each_event_once() {
    // Two gateways with plugins that seal would have to share their key.
    let plugins =
        || vec![agents::plugin_module(), x402::plugin_module(), audit::plugin_module(), aicv::plugin_module()];
    for site in sites_with(history(), plugins, |builder| builder).await {
        if site.gateway.dialect() != "postgres" {
            site.close().await;
            continue;
        }
        let url = site.gateway.gateway().config.database.url.clone();
        let builder = plugins().into_iter().fold(TestGateway::builder(), Builder::plugin);
        let builder = builder.config("agents", plugin_testing::json!({ "probe_interval_s": 86_400 }));
        let builder = builder.signer("gateway", SIGNER).configure(|config| config.database.url = url);
        let other = builder.chain(&site.chain, &CONTRACTS).start().await;
        let types = site.types().await;
        let mut random = Random(5);
        for _ in 0..6 {
            site.log_events(&mut random, &types, PAGE / 2).await;
            site.retract(&mut random, 20, 4).await;
            TestGateway::eventually(LIMIT, "one of them counts", async || {
                // Both jobs are due at once.
                if site.gateway.rows(RUNS).await.len() == 1 {
                    tokio::join!(site.gateway.clock().advance(STEP), other.clock().advance(STEP));
                }
                site.is_folded().await
            })
            .await;
            site.assert_counters().await;
            site.assert_counted(&types).await;
            let text = site.get("/api/cv/1").await.text();
            assert_eq!(other.get("/api/cv/1").await.text(), text);
        }
        assert_eq!(other.faults().await, Vec::<String>::new());
        other.stop().await;
        site.close().await;
    }
}
