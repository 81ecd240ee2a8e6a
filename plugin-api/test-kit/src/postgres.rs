//! Databases on the PostgreSQL server that `GATEWAY_TEST_POSTGRES` names (`cargo xtask test` starts one).

use sqlx::{Connection as _, Executor as _, PgConnection};
use url::Url;

/// The database of one test; [`Database::remove`] drops it.
#[derive(Clone, Debug)]
pub struct Database {
    server: String,
    name: String,
    pub url: String,
}

impl Database {
    /// `None` when no server is configured.
    pub async fn create() -> Option<Self> {
        let server = std::env::var("GATEWAY_TEST_POSTGRES").ok().filter(|url| !url.is_empty())?;
        let name = format!("test_{}", uuid::Uuid::now_v7().simple());
        run(&server, format!("CREATE DATABASE {name}")).await;
        let mut url = Url::parse(&server).unwrap_or_else(|error| panic!("GATEWAY_TEST_POSTGRES: {error}"));
        url.set_path(&name);
        Some(Self { url: url.to_string(), server, name })
    }

    pub async fn remove(self) {
        run(&self.server, format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).await;
    }
}

async fn run(server: &str, statement: String) {
    let mut connection =
        PgConnection::connect(server).await.unwrap_or_else(|error| panic!("GATEWAY_TEST_POSTGRES: {error}"));
    connection.execute(sqlx::AssertSqlSafe(statement)).await.unwrap_or_else(|error| panic!("test database: {error}"));
}
