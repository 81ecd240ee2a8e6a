//! PostgreSQL: the databases of the contestants, and what the server does meanwhile.

use crate::{load, server};
use anyhow::{Context as _, Result, ensure};
use gateway_tests::postgres::PrivatePostgres;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _};
use std::{fs, net::SocketAddr, time::Duration};

/// The kernel counts the time of ended processes in these.
const TICKS_PER_S: u32 = 100;
/// Fields of /proc/PID/stat behind the program's name: user and system time of children that have ended.
const ENDED_CHILDREN: [usize; 2] = [13, 14];

/// A running server of this job's own.
pub struct Server {
    postgres: PrivatePostgres,
    postmaster: i32,
}

/// One of its databases.
#[derive(Clone, Copy)]
pub struct Database<'a> {
    pub server: &'a Server,
    pub name: &'static str,
}

impl Server {
    pub fn start() -> Result<Self> {
        let postgres = PrivatePostgres::start()?;
        let postmaster = postgres.postmaster()?;
        let server = Self { postgres, postmaster };
        let is_durable = "SELECT bool_and(setting = 'on')::text FROM pg_settings \
            WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes')";
        ensure!(server.text(is_durable)?.as_deref() == Some("true"), "this PostgreSQL does not write durably");
        Ok(server)
    }

    pub fn postgres(&self) -> &PrivatePostgres {
        &self.postgres
    }

    /// Folder of the data.
    pub fn folder(&self) -> Result<String> {
        self.text("SHOW data_directory")?.context("the server has a folder")
    }

    pub fn version(&self) -> Result<String> {
        let text = self.text("SHOW server_version")?.unwrap_or_default();
        Ok(text.split(' ').next().unwrap_or_default().to_owned())
    }

    /// CPU time of all processes, of ended ones too, but for the one that samples.
    pub fn cpu_time(&self, sampling: i32) -> Result<Duration> {
        let backends = server::children(self.postmaster)?.into_iter().filter(|pid| *pid != sampling);
        // One that ends meanwhile is with the ended ones the next time.
        let running: Duration = backends.filter_map(|pid| server::cpu_time(pid).ok()).sum();
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.postmaster))?;
        Ok(server::cpu_time(self.postmaster)? + running + ended(&stat).context("/proc/PID/stat has another form")?)
    }

    pub fn execute(&self, sql: &str) -> Result<()> {
        let sql = AssertSqlSafe(sql.to_owned());
        load::block_on(async {
            let mut connection = PgConnection::connect(&self.postgres.url("postgres")).await?;
            connection.execute(sql).await?;
            Ok(connection.close().await?)
        })?
    }

    fn text(&self, sql: &'static str) -> Result<Option<String>> {
        Database { server: self, name: "postgres" }.text(sql)
    }
}

impl<'a> Database<'a> {
    pub fn create(server: &'a Server, name: &'static str) -> Result<Self> {
        server.execute(&format!("CREATE DATABASE {name}"))?;
        Ok(Self { server, name })
    }

    /// A copy of this one, which nobody is connected to.
    pub fn copy(self, name: &'static str) -> Result<Self> {
        self.server.execute(&format!("CREATE DATABASE {name} TEMPLATE {}", self.name))?;
        Ok(Self { name, ..self })
    }

    /// Its address without a proxy.
    pub fn url(self) -> String {
        self.server.postgres.url(self.name)
    }

    pub fn url_through(self, proxy: SocketAddr) -> String {
        format!("postgres://postgres@{proxy}/{}?sslmode=disable", self.name)
    }

    pub fn threads(self) -> Result<u64> {
        self.number("SELECT count(*)::text FROM forum_threads")
    }

    /// Transactions that were rolled back. Connections report late, at their end at the latest.
    pub fn rolled_back(self) -> Result<u64> {
        self.number("SELECT xact_rollback::text FROM pg_stat_database WHERE datname = current_database()")
    }

    /// Connections of pgbench.
    pub fn pgbench_clients(self) -> Result<u64> {
        self.number(
            "SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pgbench'",
        )
    }

    fn number(self, sql: &'static str) -> Result<u64> {
        Ok(self.text(sql)?.context("a number")?.parse()?)
    }

    /// The one text that a query answers.
    fn text(self, sql: &'static str) -> Result<Option<String>> {
        load::block_on(async {
            let mut connection = PgConnection::connect(&self.url()).await?;
            let row = sqlx::query(sql).fetch_one(&mut connection).await?;
            let text = row.try_get(0)?;
            connection.close().await?;
            Ok(text)
        })?
    }
}

fn ended(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks: Option<u64> = ENDED_CHILDREN.into_iter().map(|index| fields.get(index)?.parse::<u64>().ok()).sum();
    Some(Duration::from_secs(ticks?) / TICKS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_ended_processes_is_read_behind_any_name() {
        let stat = "7 (post) gres) S 1 7 7 0 -1 4194560 3000 90000 1 2 11 12 250 130 20 0 1 0 555 1000 200";
        assert_eq!(ended(stat), Some(Duration::from_millis(3800)));
        assert_eq!(ended("7 (postgres"), None);
        assert!(fs::read_to_string("/proc/self/stat").is_ok_and(|own| ended(&own).is_some()));
    }
}
