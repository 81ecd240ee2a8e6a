//! Runs PostgreSQL's own programs.
//!
//! The rule: no part of the database's address is on a command line, where every user of the machine could read it. The
//! programs get it in their environment.

use super::error::BackupError;
use crate::error::StorageError;
use percent_encoding::percent_decode_str;
use plugin_api::host::sanitize_line;
use secrecy::{ExposeSecret as _, SecretString};
use std::{ffi::OsStr, io::ErrorKind, process::Stdio};
use tokio::{
    io::{AsyncWriteExt as _, copy},
    process::{Child, ChildStdin, Command},
};
use url::Url;

const REASON_CHARS_MAX: usize = 600;

/// The programs with the address of one server, as libpq's environment variables.
pub(crate) struct PostgresPrograms(Vec<(&'static str, String)>);

impl PostgresPrograms {
    pub(crate) fn new(url: &SecretString) -> Result<Self, BackupError> {
        let url = Url::parse(url.expose_secret())
            .map_err(|_quotes_password| StorageError::Settings("the database's address is not valid".into()))?;
        let text = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let mut variables = Vec::new();
        let mut set = |name, value: String| {
            if !value.is_empty() {
                variables.push((name, value));
            }
        };
        set("PGHOST", text(url.host_str().unwrap_or_default()));
        set("PGPORT", url.port().map(|port| port.to_string()).unwrap_or_default());
        set("PGUSER", text(url.username()));
        set("PGPASSWORD", text(url.password().unwrap_or_default()));
        set("PGDATABASE", text(url.path().trim_start_matches('/')));
        // These override the parts above, so they are set later.
        for (key, value) in url.query_pairs() {
            if let Some(name) = variable_of(&key) {
                set(name, value.into_owned());
            }
        }
        Ok(Self(variables))
    }

    /// Runs a program to its end. Returns what it printed.
    pub(crate) async fn run<A: AsRef<OsStr>>(
        &self,
        program: &'static str,
        arguments: &[A],
    ) -> Result<Vec<u8>, BackupError> {
        let child = self.spawn(program, arguments, Stdio::null())?;
        let output = child.wait_with_output().await.map_err(|error| failed(program, &error.to_string()))?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(failed(program, &String::from_utf8_lossy(&output.stderr)))
        }
    }

    /// Runs one transaction in `psql`: `prologue`, then what the program `source` prints, and once that is complete
    /// `epilogue` and COMMIT. If any process ends earlier, the database stays as it was.
    pub(crate) async fn pipe_into_psql<A: AsRef<OsStr>>(
        &self,
        prologue: &str,
        source: (&'static str, &[A]),
        epilogue: &str,
    ) -> Result<(), BackupError> {
        const PSQL: &str = "psql";
        let flags = ["--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--output=/dev/null"];
        let mut psql = self.spawn(PSQL, &flags, Stdio::piped())?;
        let source_process = self.spawn(source.0, source.1, Stdio::null())?;
        let Some(stdin) = psql.stdin.take() else { return Err(failed(PSQL, "it takes no input")) };
        let (written, output) = tokio::join!(
            write_transaction(stdin, (prologue, epilogue), source.0, source_process),
            psql.wait_with_output()
        );
        let output = output.map_err(|error| failed(PSQL, &error.to_string()))?;
        // Checked first: when psql refuses a statement, the writer's error is only a closed pipe.
        if !output.status.success() {
            return Err(failed(PSQL, &String::from_utf8_lossy(&output.stderr)));
        }
        written
    }

    fn spawn<A: AsRef<OsStr>>(
        &self,
        program: &'static str,
        arguments: &[A],
        stdin: Stdio,
    ) -> Result<Child, BackupError> {
        let mut command = Command::new(program);
        command.args(arguments).envs(self.0.iter().map(|(name, value)| (name, value)));
        command.env("LC_ALL", "C").stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => BackupError::NoProgram { program },
            _ => failed(program, &error.to_string()),
        })
    }
}

async fn write_transaction(
    mut stdin: ChildStdin,
    (prologue, epilogue): (&str, &str),
    name: &'static str,
    mut source: Child,
) -> Result<(), BackupError> {
    let io_error = |error: std::io::Error| failed(name, &error.to_string());
    stdin.write_all(prologue.as_bytes()).await.map_err(io_error)?;
    let Some(mut stdout) = source.stdout.take() else { return Err(failed(name, "it prints nothing")) };
    let sink = &mut stdin;
    let copied = async move {
        // `stdout` is closed at the end of the block: otherwise the program could block on a full pipe after an error.
        copy(&mut stdout, sink).await
    };
    let (copied, output) = tokio::join!(copied, source.wait_with_output());
    let output = output.map_err(io_error)?;
    if !output.status.success() {
        return Err(failed(name, &String::from_utf8_lossy(&output.stderr)));
    }
    copied.map_err(io_error)?;
    stdin.write_all(format!("{epilogue}\nCOMMIT;\n").as_bytes()).await.map_err(io_error)?;
    stdin.shutdown().await.map_err(io_error)
}

fn variable_of(key: &str) -> Option<&'static str> {
    Some(match key {
        "host" => "PGHOST",
        "hostaddr" => "PGHOSTADDR",
        "port" => "PGPORT",
        "user" => "PGUSER",
        "password" => "PGPASSWORD",
        "dbname" => "PGDATABASE",
        "options" => "PGOPTIONS",
        "sslmode" | "ssl-mode" => "PGSSLMODE",
        "sslrootcert" | "ssl-root-cert" | "ssl-ca" => "PGSSLROOTCERT",
        "sslcert" | "ssl-cert" => "PGSSLCERT",
        "sslkey" | "ssl-key" => "PGSSLKEY",
        _ => return None,
    })
}

/// The program's own message on one line.
fn failed(program: &'static str, message: &str) -> BackupError {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    BackupError::Program { program, reason: sanitize_line(&lines.join("; "), REASON_CHARS_MAX) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn variables(url: &str) -> Vec<(&'static str, String)> {
        PostgresPrograms::new(&SecretString::from(url)).unwrap().0
    }

    #[test]
    fn an_address_becomes_an_environment() {
        let set = |pairs: &[(&'static str, &str)]| -> Vec<_> {
            pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
        };
        assert_eq!(
            variables("postgres://me:p%40ss@db.example:6543/main?sslmode=require&statement-cache-capacity=3"),
            set(&[
                ("PGHOST", "db.example"),
                ("PGPORT", "6543"),
                ("PGUSER", "me"),
                ("PGPASSWORD", "p@ss"),
                ("PGDATABASE", "main"),
                ("PGSSLMODE", "require"),
            ])
        );
        assert_eq!(
            variables("postgres://%2Frun%2Fpostgresql/main").first().unwrap(),
            &("PGHOST", "/run/postgresql".to_owned())
        );
        let socket = variables("postgres://me@localhost/main?host=/tmp/pg");
        assert_eq!(socket.last().unwrap(), &("PGHOST", "/tmp/pg".to_owned()));
    }

    #[tokio::test]
    async fn the_error_of_a_missing_program_names_its_package() {
        let programs = PostgresPrograms::new(&SecretString::from("postgres://localhost/x")).unwrap();
        let error = programs.run("pg_dump_of_another_world", &["--version"]).await.unwrap_err();
        assert!(error.to_string().contains("install the package postgresql-client"), "{error}");
    }
}
