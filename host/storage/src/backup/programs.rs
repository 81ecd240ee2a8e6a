//! PostgreSQL's own programs. Rule: nothing of the database's address is on a command line, where every user of the machine
//! could read it: the programs get it in their environment.

use super::BackupError;
use crate::StorageError;
use percent_encoding::percent_decode_str;
use secrecy::{ExposeSecret as _, SecretString};
use std::{ffi::OsStr, io::ErrorKind, process::Stdio};
use tokio::{
    io::{AsyncWriteExt as _, copy},
    process::{Child, ChildStdin, Command},
};
use url::Url;

const REASON_CHARS_MAX: usize = 600;

/// How the programs find the server: variables of libpq.
pub struct Server(Vec<(&'static str, String)>);

impl Server {
    pub fn of(url: &SecretString) -> Result<Self, BackupError> {
        let url = Url::parse(url.expose_secret())
            .map_err(|_quotes_password| StorageError::Unavailable("the database's address is not valid".into()))?;
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
        // Stronger than the parts before, and therefore set later.
        for (key, value) in url.query_pairs() {
            if let Some(name) = variable(&key) {
                set(name, value.into_owned());
            }
        }
        Ok(Self(variables))
    }

    /// Runs a program to its end; answers what it printed.
    pub async fn run<A: AsRef<OsStr>>(&self, program: &'static str, arguments: &[A]) -> Result<Vec<u8>, BackupError> {
        let child = self.start(program, arguments, Stdio::null())?;
        let output = child.wait_with_output().await.map_err(|error| failed(program, &error.to_string()))?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(failed(program, &String::from_utf8_lossy(&output.stderr)))
        }
    }

    /// Lets `psql` take one transaction: `opening`, what `source` prints, and COMMIT once that is complete. Whatever ends
    /// before leaves the database as it was.
    pub async fn pour<A: AsRef<OsStr>>(&self, opening: &str, source: (&'static str, &[A])) -> Result<(), BackupError> {
        const PSQL: &str = "psql";
        let flags = ["--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--output=/dev/null"];
        let mut sink = self.start(PSQL, &flags, Stdio::piped())?;
        let from = self.start(source.0, source.1, Stdio::null())?;
        let Some(stdin) = sink.stdin.take() else { return Err(failed(PSQL, "it takes no input")) };
        let (poured, ended) = tokio::join!(feed(stdin, opening, source.0, from), sink.wait_with_output());
        let ended = ended.map_err(|error| failed(PSQL, &error.to_string()))?;
        // When psql refuses a statement, whoever feeds it sees no more than a closed pipe.
        if !ended.status.success() {
            return Err(failed(PSQL, &String::from_utf8_lossy(&ended.stderr)));
        }
        poured
    }

    fn start<A: AsRef<OsStr>>(
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

async fn feed(mut to: ChildStdin, opening: &str, name: &'static str, mut from: Child) -> Result<(), BackupError> {
    let closed = |error: std::io::Error| failed(name, &error.to_string());
    to.write_all(opening.as_bytes()).await.map_err(closed)?;
    let Some(mut printed) = from.stdout.take() else { return Err(failed(name, "it prints nothing")) };
    let sink = &mut to;
    let copied = async move {
        // Closed at the end of the block: a program that nobody reads any more must not wait for a reader.
        copy(&mut printed, sink).await
    };
    let (copied, ended) = tokio::join!(copied, from.wait_with_output());
    let ended = ended.map_err(closed)?;
    if !ended.status.success() {
        return Err(failed(name, &String::from_utf8_lossy(&ended.stderr)));
    }
    copied.map_err(closed)?;
    to.write_all(b"\nCOMMIT;\n").await.map_err(closed)?;
    to.shutdown().await.map_err(closed)
}

fn variable(key: &str) -> Option<&'static str> {
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

/// The program's own words on one line.
fn failed(program: &'static str, said: &str) -> BackupError {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let reason = lines.join("; ").chars().filter(|character| !character.is_control()).take(REASON_CHARS_MAX).collect();
    BackupError::Program { program, reason }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn variables(url: &str) -> Vec<(&'static str, String)> {
        Server::of(&SecretString::from(url)).unwrap().0
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
    async fn a_program_that_is_not_there_is_named() {
        let server = Server::of(&SecretString::from("postgres://localhost/x")).unwrap();
        let error = server.run("pg_dump_of_another_world", &["--version"]).await.unwrap_err();
        assert!(error.to_string().contains("install the package postgresql-client"), "{error}");
    }
}
