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

    /// When an upsert of `row`, a table or its alias with the columns `holder` and `lease_until_ms`, may take its lease: nobody has it, the
    /// same gateway has it, or it is over by the database's clock. On SQLite there is one gateway, so an earlier holder is gone.
    pub fn may_take_lease(self, row: &str) -> String {
        match self {
            Self::Sqlite => "TRUE".to_owned(),
            // A lease that ends later than a new one was given before the database's clock went back.
            Self::Postgres => format!(
                "{row}.holder IS NULL OR {row}.holder = excluded.holder OR {row}.lease_until_ms < {} \
                 OR {row}.lease_until_ms > excluded.lease_until_ms",
                self.now_ms()
            ),
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
