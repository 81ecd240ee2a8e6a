//! The public listener over TLS: real clients, renewal while it serves, and pairs that are wrong.

use super::{setup, site::Site};
use gateway_tests::process::{GatewayProcess, LIMIT, Setup};
use plugin_testing::{TestGateway, Value, Wallet};
use reqwest::{Method, Version};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

const HELLO: &str = "/api/hello/world";

/// Without `CA:FALSE` it would be the certificate of an authority, which rustls takes from no server.
const OPENSSL_CONFIG: &str = "[req]\ndistinguished_name = name\nx509_extensions = extensions\n[name]\n[extensions]\n\
                              basicConstraints = critical, CA:FALSE\n\
                              subjectAltName = IP:127.0.0.1, DNS:gateway.example\n";

/// A self-signed certificate for 127.0.0.1 and its key.
pub(super) struct CertifiedKey {
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
}

impl CertifiedKey {
    pub(super) fn new(folder: &Path, days: &str) -> Self {
        let at = |name: &str| folder.join(name).display().to_string();
        fs::write(at("openssl.cnf"), OPENSSL_CONFIG).unwrap();
        let mut made = Command::new("openssl");
        made.args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            days,
        ]);
        made.args(["-subj", "/CN=gateway", "-config", &at("openssl.cnf")]);
        made.args(["-keyout", &at("new.key"), "-out", &at("new.pem")]);
        assert!(made.output().expect("openssl is installed").status.success());
        Self { certificate: fs::read(at("new.pem")).unwrap(), key: fs::read(at("new.key")).unwrap() }
    }
}

/// The files that the configuration names.
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn of(setup: &Setup) -> Self {
        let at = |name: &str| setup.folder().join(name);
        Self { certificate: at("fullchain.pem"), key: at("privkey.pem") }
    }

    /// As a tool that renews certificates does: one file after the other.
    fn write(&self, certificate: &[u8], key: &[u8]) {
        for (path, text) in [(&self.certificate, certificate), (&self.key, key)] {
            let draft = path.with_extension("draft");
            fs::write(&draft, text).unwrap();
            fs::set_permissions(&draft, fs::Permissions::from_mode(0o600)).unwrap();
            fs::rename(draft, path).unwrap();
        }
    }
}

fn with_tls(setup: Setup) -> (Setup, Files, CertifiedKey) {
    let files = Files::of(&setup);
    let pair = CertifiedKey::new(setup.folder(), "90");
    files.write(&pair.certificate, &pair.key);
    let setup = setup.set("http.tls.certificate", files.certificate.display()).set("http.tls.key", files.key.display());
    (setup, files, pair)
}

/// Whether a new connection is served by this certificate.
async fn shows(gateway: &GatewayProcess, pair: &CertifiedKey) -> bool {
    let site = Site::over_tls(gateway.base_url(), &pair.certificate, true);
    site.request(Method::GET, HELLO).send().await.is_ok_and(|response| response.status() == 200)
}

#[tokio::test]
async fn http1_http2_writes_and_a_stream() {
    let (setup, _files, pair) = with_tls(setup());
    let gateway = setup.start().await.unwrap();
    assert!(gateway.base_url().starts_with("https://127.0.0.1:"), "{}", gateway.base_url());
    for is_http1 in [true, false] {
        let site = Site::over_tls(gateway.base_url(), &pair.certificate, is_http1);
        let response = site.request(Method::GET, HELLO).send().await.unwrap();
        let version = if is_http1 { Version::HTTP_11 } else { Version::HTTP_2 };
        assert_eq!((response.status().as_u16(), response.version()), (200, version));
        let mut stream = site.follow("/api/stream", None).await;
        // One address writes once a second.
        let [author, reader] = if is_http1 { [1, 2] } else { [3, 4] }.map(Wallet::new);
        let thread = site.open_thread(&author, "Over TLS").await;
        site.reply(&reader, thread, "Encrypted").await;
        assert_eq!(stream.events(2).await.len(), 2);
    }
    let manifest = Site::over_tls(gateway.base_url(), &pair.certificate, true).get("/api").await;
    assert!(manifest.text().contains(gateway.base_url()), "what is told to clients begins with https");
    let plain = Site::at(&gateway.base_url().replacen("https", "http", 1)).get(HELLO).await;
    assert_eq!((plain.status, &plain.json()["code"]), (400, &Value::from("plain_http")));
}

#[tokio::test]
async fn curl_and_node_reach_it() {
    let (setup, files, _pair) = with_tls(setup());
    let gateway = setup.start().await.unwrap();
    let url = format!("{}{HELLO}", gateway.base_url());
    let authority = files.certificate.display().to_string();
    for (flag, version) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--fail", "--noproxy", "*", "--cacert", &authority, flag, "--output", "/dev/null"]);
        let output = curl.args(["--write-out", "%{http_version}", &url]).output().expect("curl is installed");
        assert_eq!(String::from_utf8_lossy(&output.stdout), version, "{output:?}");
    }
    let script = "fetch(process.argv[1]).then(answer => console.log(answer.status))";
    let mut node = Command::new("node");
    let output = node.env("NODE_EXTRA_CA_CERTS", &authority).args(["-e", script, &url]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "200", "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_drops_no_request() {
    let (setup, files, first) = with_tls(setup());
    let gateway = setup.start().await.unwrap();
    let renewed = CertifiedKey::new(setup.folder(), "90");
    let both = [&first.certificate[..], &renewed.certificate].concat();
    let (is_over, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    let kept = [true, false].map(|is_http1| Site::over_tls(gateway.base_url(), &first.certificate, is_http1));
    let keep = |site: &Site| {
        let site = site.clone();
        let (is_over, calls) = (&is_over, &calls);
        async move { site.keep_calling(HELLO, is_over, calls).await }
    };
    // Each request on a connection of its own, by a client that trusts either.
    let connect_again = async {
        while !is_over.load(SeqCst) {
            let site = Site::over_tls(gateway.base_url(), &both, true);
            assert_eq!(site.get(HELLO).await.status, 200);
            calls.fetch_add(1, SeqCst);
        }
    };
    let renew = async {
        assert!(shows(&gateway, &first).await);
        files.write(&renewed.certificate, &renewed.key);
        TestGateway::eventually(LIMIT, "the new certificate is shown", async || shows(&gateway, &renewed).await).await;
        assert!(!shows(&gateway, &first).await);
        is_over.store(true, SeqCst);
    };
    tokio::join!(keep(&kept[0]), keep(&kept[1]), connect_again, renew);
    assert!(calls.load(SeqCst) > 20, "{calls:?}");
    assert!(!gateway.setup().log().contains("is not used"), "no half of a pair was tried");
}

#[tokio::test]
async fn a_broken_pair_keeps_the_one_of_before_and_check_tells() {
    let (setup, files, first) = with_tls(setup());
    let gateway = setup.start().await.unwrap();
    let other = CertifiedKey::new(setup.folder(), "90");
    files.write(&other.certificate, &first.key);
    let is_logged = async || gateway.setup().log().contains("is not the key of the first certificate");
    TestGateway::eventually(LIMIT, "the log says why", is_logged).await;
    assert!(shows(&gateway, &first).await);
    let checked = setup.run(&["check", "--json"]).unwrap();
    let problems = checked.json().unwrap()["problems"].clone();
    assert_eq!((checked.code, &problems[0]["key"]), (Some(3), &Value::from("http.tls.key")), "{problems}");
    files.write(&other.certificate, &other.key);
    TestGateway::eventually(LIMIT, "the new pair is used", async || shows(&gateway, &other).await).await;
    // SIGHUP reads them also when they have not changed: after the start and the renewal, a third time.
    let are_read = async |times| {
        let count = || gateway.setup().log().matches("the certificate of the listener is read").count();
        TestGateway::eventually(LIMIT, "the files are read", async || count() == times).await;
    };
    are_read(2).await;
    gateway.sighup().unwrap();
    are_read(3).await;
    assert!(!gateway.setup().log().contains("PRIVATE KEY"), "no key is logged");
}

#[test]
fn a_wrong_pair_is_refused_at_the_start() {
    let (setup, files, pair) = with_tls(setup());
    let other = CertifiedKey::new(setup.folder(), "90");
    let refusal = |expected: &str| {
        let ended = setup.run(&["run"]).unwrap();
        assert_eq!(ended.code, Some(3), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{expected:?}: {ended:?}");
        let checked = setup.run(&["check"]).unwrap();
        assert_eq!(checked.code, Some(3), "{checked:?}");
        assert!(format!("{checked:?}").contains(expected), "{expected:?}: {checked:?}");
    };
    files.write(&pair.certificate, &other.key);
    refusal("it is not the key of the first certificate in the chain");
    files.write(b"", &pair.key);
    refusal("it holds no certificate in PEM form");
    files.write(&pair.certificate, b"secret");
    refusal("it holds no private key in PEM form");
    files.write(&pair.certificate, &pair.key);
    fs::set_permissions(&files.key, fs::Permissions::from_mode(0o640)).unwrap();
    refusal("can be used by others than its owner");
    fs::remove_file(&files.key).unwrap();
    refusal("privkey.pem cannot be read");
}

#[test]
fn check_notes_what_clients_would_refuse() {
    let notes = |setup: &Setup| {
        let checked = setup.run(&["check", "--json"]).unwrap();
        assert_eq!(checked.code, Some(0), "{checked:?}");
        checked.json().unwrap()["notes"].to_string()
    };
    let (setup, files, _pair) = with_tls(setup());
    let right = notes(&setup.clone().set("base_url", "https://gateway.example"));
    assert!(!right.contains("http.tls") && !right.contains("base_url"), "{right}");
    let other = notes(&setup.clone().set("base_url", "https://other.example"));
    assert!(other.contains("it is not for other.example"), "{other}");
    let soon = CertifiedKey::new(setup.folder(), "3");
    files.write(&soon.certificate, &soon.key);
    let ends = notes(&setup);
    assert!(ends.contains("it ends in 2 days") || ends.contains("it ends in 3 days"), "{ends}");
    let without = setup.unset("http.tls.certificate").unset("http.tls.key").set("base_url", "https://gateway.example");
    assert!(notes(&without).contains("http.trusted_proxy_hops = 0"), "{}", notes(&without));
    let behind_one = notes(&without.set("http.trusted_proxy_hops", 1));
    assert!(!behind_one.contains("trusted_proxy_hops"), "{behind_one}");
}
