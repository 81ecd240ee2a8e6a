//! The chapter of docs/scale.md with three gateways behind nginx, typed by somebody who has the programs: one gateway is killed
//! under load, no acknowledged write is lost or doubled, and streams through nginx resume without a gap.

use super::{send_unanswered_again, write_last};
use crate::{
    crash::{Dice, Ledger, Load, StoredRows, small_setup},
    e2e::{Part, Site, StreamReader},
};
use futures_util::future::join_all;
use gateway_tests::{
    postgres,
    process::{LIMIT, Setup, clean},
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use plugin_testing::{TestGateway, Wallet};
use reqwest::Method;
use std::{
    env,
    fs::{self, File},
    net::TcpListener,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    slice,
};
use tempfile::TempDir;

const PAGE: &str = include_str!("../../../docs/scale.md");
const CHAPTER: &str = "\n## Three gateways, step by step\n";
/// Of nginx, PostgreSQL, the gateways and their operator's listeners.
const PORTS: [&str; 8] = ["8080", "5433", "9001", "9002", "9003", "9101", "9102", "9103"];
const GATEWAY: &str = env!("CARGO_BIN_EXE_gateway-under-test");
/// As many as gateways: nginx spreads them, so one is at the gateway that is killed.
const READERS: usize = 3;
const LAST: &str = "the last word";

/// The chapter with ports that are free here.
fn chapter() -> (String, [u16; 8]) {
    let free = PORTS.map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = free.map(|listener| listener.local_addr().unwrap().port());
    let (_, rest) = PAGE.split_once(CHAPTER).expect("the chapter is there");
    let chapter = rest.split("\n## ").next().unwrap_or_default();
    // In one pass: a free port may be one of the page's.
    let mut text = String::new();
    let mut rest = chapter;
    while let Some((at, index)) = PORTS.iter().enumerate().filter_map(|(i, port)| Some((rest.find(port)?, i))).min() {
        text.push_str(&rest[..at]);
        text.push_str(&ports[index].to_string());
        rest = &rest[at + PORTS[index].len()..];
    }
    (text + rest, ports)
}

enum Block<'a> {
    /// Name and content.
    File(&'a str, &'a str),
    Commands(Vec<&'a str>),
}

fn blocks(chapter: &str) -> Vec<Block<'_>> {
    let blocks = chapter.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let read = |(language, text)| match language {
        "sh" => Block::Commands(str::lines(text).collect()),
        _ => {
            let name = text.lines().next().and_then(|line| line.strip_prefix("# "));
            Block::File(name.expect("a file's first line names it"), text)
        }
    };
    blocks.map(read).collect()
}

/// A process that runs until it is stopped, and the signal that stops it.
struct Running {
    child: Child,
    stop: Signal,
}

impl Drop for Running {
    fn drop(&mut self) {
        let pid = i32::try_from(self.child.id()).expect("a process id is small");
        // It may have ended.
        let _ = kill(Pid::from_raw(pid), self.stop);
        let _ = self.child.wait();
    }
}

/// Who types: the programs on PATH, and a folder to work in.
struct Operator {
    /// The last one is stopped first.
    running: Vec<Running>,
    home: TempDir,
    folder: PathBuf,
    /// For the rows, and with the plugins of the gateways.
    setup: Setup,
}

impl Operator {
    fn new(postgres_port: u16) -> Self {
        let home = tempfile::tempdir().unwrap();
        let bin = home.path().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(GATEWAY, bin.join("gateway")).unwrap();
        if let Some(user) = postgres::unprivileged_user(home.path()).unwrap() {
            for name in ["initdb", "postgres"] {
                let program = postgres::programs().unwrap().join(name);
                let script = format!(
                    "#!/bin/sh\nexec setpriv --reuid={user} --clear-groups -- '{}' \"$@\"\n",
                    program.display()
                );
                fs::write(bin.join(name), script).unwrap();
                fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        let url = format!("postgres://gateway@127.0.0.1:{postgres_port}/gateway");
        let folder = home.path().to_owned();
        Self { running: Vec::new(), home, folder, setup: small_setup().set("database.url", url) }
    }

    fn shell(&self, line: &str) -> Command {
        let mut shell = clean("sh");
        let path = format!(
            "{}:{}:/usr/sbin:{}",
            self.home.path().join("bin").display(),
            postgres::programs().unwrap().display(),
            env::var("PATH").unwrap()
        );
        shell.args(["-euc", line]).current_dir(&self.folder).env("PATH", path).stdin(Stdio::null());
        // Few plugins, and no limits that one machine with many clients would reach.
        for key in ["plugins.dir", "limits.allow", "limits.write_interval_ms"] {
            let name = format!("GATEWAY_{}", key.replace('.', "__").to_uppercase());
            shell.env(name, self.setup.get(key).unwrap());
        }
        shell
    }

    fn enter(&mut self, folder: &str) {
        self.folder.push(folder);
        postgres::unprivileged_user(&self.folder).unwrap();
    }

    /// Runs a line to its end; what it says when it fails.
    fn try_line(&self, line: &str) -> Result<(), String> {
        let output = self.shell(line).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        output.status.success().then_some(()).ok_or_else(|| format!("{line}\n{}", String::from_utf8_lossy(&said)))
    }

    /// Starts what runs until it is stopped.
    fn start(&mut self, line: &str, stop: Signal) {
        let log = File::options().create(true).append(true).open(self.log()).unwrap();
        let mut shell = self.shell(&format!("exec {line}"));
        let child = shell.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        self.running.push(Running { child, stop });
    }

    fn log(&self) -> PathBuf {
        self.home.path().join("log")
    }

    async fn types(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["cd", folder] => self.enter(folder),
            ["postgres", ..] => self.start(line, Signal::SIGINT),
            ["nginx", ..] => self.start(line, Signal::SIGTERM),
            ["sh", ..] if line.contains("exec gateway run") => self.start(line, Signal::SIGKILL),
            // The server may still be starting.
            ["createdb", ..] => {
                TestGateway::eventually(LIMIT, "the database is made", async || self.try_line(line).is_ok()).await;
            }
            ["curl", "--fail", url] => answers(url).await,
            _ => self.try_line(line).unwrap(),
        }
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        while let Some(last) = self.running.pop() {
            drop(last);
        }
        if std::thread::panicking() {
            eprintln!("--- what the programs logged:\n{}---", fs::read_to_string(self.log()).unwrap_or_default());
        }
    }
}

async fn answers(url: &str) {
    let site = Site::at(url);
    let is_answered = async || site.request(Method::GET, "").send().await.is_ok_and(|answer| answer.status() == 200);
    TestGateway::eventually(LIMIT, url, is_answered).await;
}

/// Ids of all events up to the last write, and how often the stream broke off.
async fn listen(site: &Site, mut stream: StreamReader) -> (Vec<i64>, usize) {
    let (mut ids, mut breaks) = (Vec::new(), 0);
    loop {
        match stream.try_next().await {
            Ok(Some(Part::Event(event))) => {
                ids.push(event.id);
                if event.data.to_string().contains(LAST) {
                    return (ids, breaks);
                }
            }
            Ok(Some(Part::Comment(_))) => {}
            Ok(None) | Err(_) => {
                breaks += 1;
                let position = ids.last().copied().unwrap_or_default().to_string();
                stream = site.follow("/api/stream", Some(position.as_bytes())).await;
            }
        }
    }
}

/// Writes and reads streams while `disturb` happens. Compares what is stored with what clients were told.
async fn under_load(site: &Site, setup: &Setup, disturb: impl AsyncFnOnce()) -> Ledger {
    let wallets: Vec<Wallet> = (0..10).map(Wallet::new).collect();
    let (dice, mut ledger) = (Dice::new(), Ledger::default());
    // One after the other, while nothing else is asked for: so nginx gives each of them to another gateway.
    let mut streams = Vec::new();
    for _ in 0..READERS {
        streams.push(site.follow("/api/stream?sinceId=0", None).await);
    }
    let writes = async {
        let load = Load::new(slice::from_ref(site), "through nginx");
        let disturbance = async {
            load.reached(150).await;
            disturb().await;
            load.reached(350).await;
            load.end();
        };
        let (written, ()) = tokio::join!(load.run(&wallets, &dice, Vec::new()), disturbance);
        ledger.writes.extend(written);
        send_unanswered_again(slice::from_ref(site), &mut ledger, &wallets, &dice).await;
        write_last(site, &mut ledger, LAST).await;
    };
    let ((), heard) = tokio::join!(writes, join_all(streams.into_iter().map(|stream| listen(site, stream))));

    let stored = StoredRows::read_sequenced(setup).await;
    ledger.compare(&stored);
    for (ids, _) in &heard {
        assert_eq!(*ids, stored.event_ids, "in order, and without a gap");
    }
    let breaks: usize = heard.iter().map(|(_, breaks)| breaks).sum();
    assert!(breaks > 0, "no stream was at the gateway that was killed");
    ledger
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_about_several_machines_works_as_it_is_written() {
    assert!(Path::new("/usr/sbin/nginx").exists(), "nginx is not installed: apt-get install nginx-light");
    let (chapter, ports) = chapter();
    let [nginx, postgres, gateways @ .., _, _, _] = ports;
    let mut operator = Operator::new(postgres);
    let (setup, site) = (operator.setup.clone(), Site::at(&format!("http://127.0.0.1:{nginx}")));
    let mut ledger = None;
    for block in blocks(&chapter) {
        match block {
            Block::File(name, text) => fs::write(operator.folder.join(name), text).unwrap(),
            Block::Commands(lines) => {
                for line in lines {
                    if line.starts_with("nginx ") {
                        // One that does not answer yet would get no streams for a moment.
                        all_answer(&gateways).await;
                    }
                    if line.starts_with("kill ") {
                        let killed = async || operator.types(line).await;
                        ledger = Some(under_load(&site, &setup, killed).await);
                    } else {
                        operator.types(line).await;
                    }
                }
            }
        }
    }
    let mut ledger = ledger.expect("the page kills a gateway");

    // The killed one has started again.
    all_answer(&gateways).await;
    let stored = StoredRows::read_sequenced(&setup).await;
    ledger.replay(&site, &stored).await;
    ledger.compare(&StoredRows::read_sequenced(&setup).await);
}

async fn all_answer(gateways: &[u16]) {
    for port in gateways {
        answers(&format!("http://127.0.0.1:{port}/api/health")).await;
    }
}
