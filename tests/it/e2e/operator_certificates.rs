//! The operator's listener over TLS, with certificates of operators: who shows one is in the audit, who shows none or a stranger's gets nowhere.

use super::{answer, setup, site::Site, tls::CertifiedKey};
use gateway_tests::process::{LIMIT, Setup};
use plugin_testing::{TestGateway, json};
use reqwest::Method;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

const TOKEN: &str = "5f0e1c9a7b3d4e6f5f0e1c9a7b3d4e6f";

fn openssl(folder: &Path, arguments: &str) {
    let output = Command::new("openssl").current_dir(folder).args(arguments.split(' ')).output();
    let output = output.expect("openssl is installed");
    assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

const NEW_KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

/// An authority `NAME-ca.pem`, and `NAME.pem` with `NAME.key` of the operator who is called so.
fn authority(folder: &Path, name: &str) {
    fs::write(folder.join("leaf.cnf"), "basicConstraints = critical, CA:FALSE\nextendedKeyUsage = clientAuth\n")
        .unwrap();
    openssl(
        folder,
        &format!("req -x509 {NEW_KEY} -days 9 -subj /CN={name}-ca -keyout {name}-ca.key -out {name}-ca.pem"),
    );
    openssl(folder, &format!("req {NEW_KEY} -subj /O=desk/CN={name} -keyout {name}.key -out {name}.csr"));
    let sign = format!("x509 -req -in {name}.csr -CA {name}-ca.pem -CAkey {name}-ca.key -CAcreateserial -days 9");
    openssl(folder, &format!("{sign} -extfile leaf.cnf -out {name}.pem"));
}

struct Desk {
    setup: Setup,
    listener: CertifiedKey,
    folder: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let setup = setup();
        let folder = setup.folder().to_owned();
        let listener = CertifiedKey::new(&folder, "90");
        let desk = Self { setup, listener, folder };
        desk.install(&desk.listener);
        authority(&desk.folder, "ann");
        authority(&desk.folder, "stranger");
        let setup = desk
            .setup
            .clone()
            .set("admin.tls.certificate", desk.at("listener.pem"))
            .set("admin.tls.key", desk.at("listener.key"))
            .set("admin.tls.client_ca", desk.at("ann-ca.pem"));
        Self { setup, ..desk }
    }

    fn at(&self, file: &str) -> String {
        self.folder.join(file).display().to_string()
    }

    fn install(&self, pair: &CertifiedKey) {
        for (name, text) in [("listener.pem", &pair.certificate), ("listener.key", &pair.key)] {
            let draft = self.folder.join("draft");
            fs::write(&draft, text).unwrap();
            fs::set_permissions(&draft, fs::Permissions::from_mode(0o600)).unwrap();
            fs::rename(draft, self.folder.join(name)).unwrap();
        }
    }

    fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.folder.join(file)).unwrap()
    }

    /// A client that shows this operator's certificate.
    fn client(&self, url: &str, name: &str) -> Site {
        let shown = [self.read(&format!("{name}.pem")), self.read(&format!("{name}.key"))].concat();
        Site::with_certificate(url, &self.listener.certificate, &shown)
    }

    fn with_command(&self, setup: Setup, name: &str) -> Setup {
        let file = |kind: &str| self.at(&format!("{name}.{kind}"));
        setup.set("admin.tls.command_certificate", file("pem")).set("admin.tls.command_key", file("key"))
    }
}

#[tokio::test]
async fn an_operator_is_known_by_the_certificate_and_stands_in_the_audit() {
    let desk = Desk::new();
    let gateway = desk.setup.start().await.unwrap();
    let url = gateway.admin_url().to_owned();
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");

    let nobody = Site::over_tls(&url, &desk.listener.certificate, true);
    for path in ["/", "/plugins", "/metrics", "/audit"] {
        let refused = nobody.get(path).await;
        assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("certificate")), "{path}");
    }
    for path in ["/live", "/ready"] {
        assert_eq!(nobody.get(path).await.status, 200, "{path}");
    }
    let stranger = desk.client(&url, "stranger");
    assert!(stranger.request(Method::GET, "/live").send().await.is_err(), "the handshake fails");
    let plain = Site::at(&url.replacen("https", "http", 1));
    assert!(plain.request(Method::GET, "/live").send().await.is_err(), "it speaks no HTTP without TLS");

    let ann = desk.client(&url, "ann");
    assert_eq!(ann.get("/").await.status, 200);
    let change = ann.request(Method::POST, "/plugins/hello/disable");
    assert_eq!(answer(change).await.status, 403, "a certificate does not replace the header of a change");
    let change = ann.request(Method::POST, "/plugins/hello/disable").header("x-gateway-admin", "1");
    assert_eq!(answer(change).await.status, 200);
    let audit = ann.get("/audit").await.json();
    assert!(audit[0]["who"].as_str().unwrap().starts_with("ann (127.0.0.1:"), "{audit}");
}

#[tokio::test]
async fn the_token_stands_in_for_a_certificate() {
    let desk = Desk::new();
    let gateway = desk.setup.clone().set("admin.token", TOKEN).start().await.unwrap();
    let nobody = Site::over_tls(gateway.admin_url(), &desk.listener.certificate, true);
    assert_eq!(nobody.get("/plugins").await.status, 401);
    let with_token = nobody.request(Method::GET, "/plugins").bearer_auth(TOKEN);
    assert_eq!(answer(with_token).await.status, 200);
    assert_eq!(desk.client(gateway.admin_url(), "ann").get("/plugins").await.status, 200);
}

#[tokio::test]
async fn the_command_line_shows_its_certificate_and_talks_to_that_listener_only() {
    let desk = Desk::new();
    let gateway = desk.setup.start().await.unwrap();
    let run = async |setup: Setup| {
        let admin = gateway.admin_url().to_owned();
        let work = move || setup.run(&["plugins", "list", "--admin", &admin]).unwrap();
        tokio::task::spawn_blocking(work).await.unwrap()
    };
    let with = run(desk.with_command(desk.setup.clone(), "ann")).await;
    assert_eq!(with.code, Some(0), "{with:?}");
    let without = run(desk.setup.clone()).await;
    assert!(without.code == Some(1) && without.stderr.contains("admin.tls.command_certificate"), "{without:?}");
    let stranger = run(desk.with_command(desk.setup.clone(), "stranger")).await;
    assert_eq!(stranger.code, Some(1), "{stranger:?}");
    // Somebody else at that address, whose certificate is not the one of the configuration.
    let other = desk.with_command(desk.setup.clone(), "ann").set("admin.tls.certificate", desk.at("ann-ca.pem"));
    let refused = run(other).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("invalid peer certificate"), "{refused:?}");
}

#[tokio::test]
async fn files_are_read_again_and_wrong_ones_are_not_used() {
    let desk = Desk::new();
    let gateway = desk.setup.start().await.unwrap();
    let renewed = CertifiedKey::new(&desk.folder, "90");
    let serves = async |pair: &CertifiedKey| {
        let site = Site::over_tls(gateway.admin_url(), &pair.certificate, true);
        site.request(Method::GET, "/live").send().await.is_ok()
    };
    assert!(serves(&desk.listener).await && !serves(&renewed).await);
    desk.install(&CertifiedKey { certificate: renewed.certificate.clone(), key: desk.listener.key.clone() });
    let is_logged = async || gateway.setup().log().contains("admin.tls.key");
    TestGateway::eventually(LIMIT, "the log says that the pair does not go together", is_logged).await;
    assert!(serves(&desk.listener).await, "it is not used");
    let check = desk.setup.run(&["check"]).unwrap();
    assert!(
        check.code == Some(3) && [check.stdout, check.stderr].concat().contains("admin.tls.key"),
        "exit code {:?}",
        check.code
    );
    desk.install(&renewed);
    TestGateway::eventually(LIMIT, "the renewed one serves", async || serves(&renewed).await).await;
    assert!(!serves(&desk.listener).await);
}

/// No session of the old one is resumed.
#[tokio::test]
async fn an_operator_is_kept_out_by_another_authority() {
    let desk = Desk::new();
    let gateway = desk.setup.start().await.unwrap();
    let (ann, stranger) = (desk.client(gateway.admin_url(), "ann"), desk.client(gateway.admin_url(), "stranger"));
    assert_eq!(ann.get("/plugins").await.status, 200);
    let read = || gateway.setup().log().matches("the certificate of the listener is read").count();
    let before = read();
    gateway.sighup().unwrap();
    TestGateway::eventually(LIMIT, "files that have not changed are read at SIGHUP", async || read() > before).await;
    fs::rename(desk.folder.join("stranger-ca.pem"), desk.folder.join("ann-ca.pem")).unwrap();
    let is_let_in = async |site: &Site| site.request(Method::GET, "/plugins").send().await.is_ok();
    TestGateway::eventually(LIMIT, "the new authority counts", async || is_let_in(&stranger).await).await;
    assert!(!is_let_in(&ann).await, "the old one counts no more");
}
