//! The two kinds of database, whose SQL differs.

/// [`Dialect::now_ms`] of PostgreSQL, for `concat!`.
#[macro_export]
macro_rules! postgres_now_ms {
    () => {
        "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }

    /// An expression for the database's clock in Unix milliseconds, by which leases are: gateways share it.
    pub const fn now_ms(self) -> &'static str {
        match self {
            Self::Sqlite => "CAST(unixepoch('subsec') * 1000 AS BIGINT)",
            Self::Postgres => crate::postgres_now_ms!(),
        }
    }

    /// Its name in spans, by OpenTelemetry's conventions.
    pub(crate) const fn system_name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgresql",
        }
    }
}
