//! The page docs/day-of-an-operator.md, typed by somebody who has the program `gateway`: every command does what it says, and a
//! restore brings back what the backup has.

use super::{Site, THREADS, setup_with_all_plugins};
use gateway_tests::process::{LIMIT, clean};
use plugin_testing::{TestGateway, Wallet};
use std::{
    env, fs,
    net::TcpListener,
    os::unix::fs::symlink,
    path::PathBuf,
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

const PAGE: &str = include_str!("../../../docs/day-of-an-operator.md");
const GATEWAY: &str = env!("CARGO_BIN_EXE_gateway-under-test");
const PLUGINS: [&str; 3] = ["activity", "forum", "memory"];
const RUN: &str = "sh -c 'echo $$ > gateway.pid; exec gateway run'";
const STOP: &str = "kill \"$(cat gateway.pid)\"";

/// Who types: the program on PATH, a folder to work in, and the gateway that runs in another terminal.
struct OperatorShell {
    home: TempDir,
    folder: PathBuf,
    plugins: String,
    public: u16,
    admin: u16,
    gateway: Option<Child>,
}

impl Drop for OperatorShell {
    fn drop(&mut self) {
        if let Some(gateway) = &mut self.gateway {
            // It may have ended.
            let _ = gateway.kill();
            let _ = gateway.wait();
        }
    }
}

impl OperatorShell {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let (bin, plugins, folder) = (home.path().join("bin"), home.path().join("plugins"), home.path().join("work"));
        for folder in [&bin, &plugins, &folder] {
            fs::create_dir(folder).unwrap();
        }
        symlink(GATEWAY, bin.join("gateway")).unwrap();
        let of_build = setup_with_all_plugins().with_only(&PLUGINS).unwrap();
        for library in fs::read_dir(of_build.get("plugins.dir").unwrap()).unwrap().map(Result::unwrap) {
            symlink(library.path().canonicalize().unwrap(), plugins.join(library.file_name())).unwrap();
        }
        let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [public, admin] = ports.map(|listener| listener.local_addr().unwrap().port());
        Self { folder, plugins: plugins.display().to_string(), public, admin, gateway: None, home }
    }

    fn site(&self) -> Site {
        Site::at(&format!("http://127.0.0.1:{}", self.public))
    }

    /// The page's ports are those of a machine without other gateways.
    fn shell(&self, line: &str) -> Command {
        let line = line.replace("127.0.0.1:8080", &format!("127.0.0.1:{}", self.public));
        let line = line.replace("127.0.0.1:8081", &format!("127.0.0.1:{}", self.admin));
        let mut shell = clean("sh");
        shell.args(["-euc", &line]).current_dir(&self.folder).stdin(Stdio::null());
        shell.env("PATH", format!("{}:{}", self.home.path().join("bin").display(), env::var("PATH").unwrap()));
        shell.env("GATEWAY_HTTP__LISTEN", format!("127.0.0.1:{}", self.public));
        shell.env("GATEWAY_ADMIN__LISTEN", format!("127.0.0.1:{}", self.admin));
        shell.env("GATEWAY_PLUGINS__DIR", &self.plugins).env("TMPDIR", self.home.path());
        shell
    }

    /// Runs a line to its end; what it prints.
    fn types(&self, line: &str) -> String {
        let output = self.shell(line).output().unwrap();
        let printed = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{line}\n{printed}\n{}", self.log());
        printed
    }

    fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }

    async fn starts(&mut self) {
        let log = fs::File::options().create(true).append(true).open(self.home.path().join("log")).unwrap();
        self.gateway = Some(self.shell(RUN).stdout(Stdio::null()).stderr(log).spawn().unwrap());
        let is_ready = async || self.shell("gateway status").output().unwrap().status.success();
        TestGateway::eventually(LIMIT, "the gateway is ready", is_ready).await;
    }

    fn stops(&mut self) {
        self.types(STOP);
        let ended = self.gateway.take().expect("it runs").wait().unwrap();
        assert!(ended.success(), "{ended}\n{}", self.log());
    }
}

fn commands(page: &str) -> Vec<&str> {
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    blocks.flat_map(str::lines).collect()
}

#[tokio::test]
async fn the_day_of_an_operator_works_as_it_is_written() {
    let mut operator = OperatorShell::new();
    let (mut runs, mut threads) = (0, Vec::new());
    for line in commands(PAGE) {
        match line {
            RUN => {
                operator.starts().await;
                runs += 1;
            }
            STOP => operator.stops(),
            "cd market" => operator.folder.push("market"),
            "kill -HUP \"$(cat gateway.pid)\"" => {
                operator.types(line);
                let is_read = async || operator.log().contains("limits.per_ip_per_minute");
                TestGateway::eventually(LIMIT, "the limit is applied", is_read).await;
            }
            "gateway backup monday.backup" => {
                threads.push(operator.site().open_thread(&Wallet::new(1), "Before the backup").await);
                operator.types(line);
                threads.push(operator.site().open_thread(&Wallet::new(2), "After the backup").await);
            }
            line => {
                let printed = operator.types(line);
                let expected = match line {
                    "gateway check" => "no problems",
                    "gateway status" => "ready      yes",
                    "gateway config show --set" => "network_name = \"Northern Market\"",
                    "gateway plugins disable forum" => "forum: disabled",
                    "gateway plugins enable forum" => "forum: serving",
                    "curl --fail http://127.0.0.1:8081/audit" => "\"disable\"",
                    _ => "",
                };
                assert!(printed.contains(expected), "{line}\n{printed}");
            }
        }
    }
    assert_eq!((runs, threads.len()), (5, 2), "the page starts it five times and backs it up");
    let statuses = [threads[0], threads[1]].map(|thread| format!("{THREADS}/{thread}"));
    assert_eq!(operator.site().get(&statuses[0]).await.status, 200, "the backup has it");
    assert_eq!(operator.site().get(&statuses[1]).await.status, 404, "it was written later");
    operator.stops();
}
