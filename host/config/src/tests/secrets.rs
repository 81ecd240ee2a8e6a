//! Passwords: which layers may hold them, and that they are never shown.

use rstest::rstest;
use secrecy::ExposeSecret;

use super::{ConfigFixture, file, variable};
use crate::{Config, DatabaseTarget, Problem, Source};

const SECRET: &str = "hunter2";
const URL: &str = "postgres://user:hunter2@db.example/name";

fn url_of(config: &Config) -> String {
    match config.database_target().unwrap() {
        DatabaseTarget::Postgres(url) => url.expose_secret().to_owned(),
        DatabaseTarget::Sqlite(path) => format!("sqlite:{}", path.display()),
    }
}

#[test]
fn the_environment_and_a_file_of_its_own_may_hold_a_password() {
    assert_eq!(url_of(&variable("GATEWAY_DATABASE__URL", URL).config()), URL);
    let start = ConfigFixture::new();
    std::fs::write(start.path("secret"), format!("{URL}\n")).unwrap();
    let path = start.path("secret").display().to_string();
    assert_eq!(url_of(&start.file(&format!("database.url_file = '{path}'")).config()), URL);
}

#[rstest]
#[case(URL)]
#[case("postgres://db.example/name?password=hunter2")]
#[case("postgresql://user:hunter2@/name")]
fn the_configuration_file_and_flags_may_not(#[case] url: &str) {
    let start = file(&format!("database.url = '{url}'"));
    let problems = start.problems();
    let is_exposed = |problem: &&Problem| problem.message.contains("holds a password");
    let problem = problems.iter().find(is_exposed).unwrap();
    assert_eq!(problem.key, "database.url");
    assert_eq!(problem.source, Source::File(start.path("gateway.toml")));
    assert!(problem.hint.contains("GATEWAY_DATABASE__URL") && problem.hint.contains("database.url_file"), "{problem}");
    assert!(!format!("{problems:?}").contains(SECRET));
    let by_flag = ConfigFixture::new().flags(|flags| flags.database_url = Some(url.into())).problems();
    let problem = by_flag.iter().find(is_exposed).unwrap();
    assert_eq!(problem.source, Source::Flag("--database-url".to_owned()));
}

#[test]
fn a_password_of_the_listening_connection_stands_in_the_environment_only() {
    let problem = file(&format!("database.listen_url = '{URL}'")).problem();
    assert_eq!(problem.key, "database.listen_url");
    assert!(problem.hint.ends_with("GATEWAY_DATABASE__LISTEN_URL"), "{problem}");
    assert!(!format!("{problem:?}").contains(SECRET));
    let config = variable("GATEWAY_DATABASE__LISTEN_URL", URL).config();
    assert_eq!(config.database.listen_url.unwrap().expose_secret(), URL);
    // An empty one takes back what the file says: the gateway listens to nobody.
    let config = file("database.listen_url = ''").config();
    assert_eq!(config.database.listen_url.unwrap().expose_secret(), "");
}

#[test]
fn a_password_of_a_read_replica_stands_in_the_environment_only() {
    let start =
        file(&format!("database.url = 'postgres://db/name'\ndatabase.read_urls = ['postgres://db/name', '{URL}']"));
    let problem = start.problem();
    assert_eq!(problem.key, "database.read_urls");
    assert!(problem.hint.ends_with("GATEWAY_DATABASE__READ_URLS"), "{problem}");
    assert!(!format!("{problem:?}").contains(SECRET));
    let start = file("database.url = 'postgres://db/name'");
    let config = start.variable("GATEWAY_DATABASE__READ_URLS", &format!("{URL}, postgres://db/name")).config();
    let read: Vec<&str> = config.database.read_urls.iter().map(ExposeSecret::expose_secret).collect();
    assert_eq!(read, [URL, "postgres://db/name"]);
}

#[test]
fn a_password_in_the_file_is_refused_even_when_a_variable_hides_it() {
    let problem = file(&format!("database.url = '{URL}'")).variable("GATEWAY_DATABASE__URL", "sqlite:a.db").problem();
    assert_eq!(problem.key, "database.url");
}

#[test]
fn a_url_without_a_password_may_stand_in_the_file() {
    assert_eq!(url_of(&file("database.url = 'postgres://user@db/name'").config()), "postgres://user@db/name");
    assert_eq!(url_of(&file("database.url = 'sqlite:./x.db'").config()), "sqlite:./x.db");
    assert_eq!(url_of(&file("database.url = 'sqlite:///x/y.db'").config()), "sqlite:/x/y.db");
    assert_eq!(url_of(&ConfigFixture::new().config()), "sqlite:./data/gateway.db");
}

#[test]
fn nothing_prints_a_secret() {
    let config = variable("GATEWAY_DATABASE__URL", URL).variable("GATEWAY_PLUGINS__HOOKS__KEY", SECRET).config();
    assert_eq!(config.plugins.settings("hooks").config["key"], SECRET);
    assert!(!format!("{config:?}").contains(SECRET));
    assert!(!format!("{config:#?}").contains(SECRET));
    assert!(!serde_json::to_string(&config).unwrap().contains(SECRET));
}

/// A message about a wrong URL or a broken file must not repeat the text.
#[rstest]
#[case("GATEWAY_DATABASE__URL", "mysql://user:hunter2@h/d")]
#[case("GATEWAY_DATABASE__URL", "postgres://user:hunter2@h:port/d")]
#[case("GATEWAY_DATABASE__URL", "hunter2")]
#[case("GATEWAY_DATABASE__URI", "hunter2")]
fn no_problem_repeats_a_secret(#[case] name: &str, #[case] value: &str) {
    let report = format!("{:?}", variable(name, value).problems());
    assert!(!report.contains(SECRET), "{report}");
}

#[rstest]
#[case("database.url = 'postgres://user:hunter2@h\nchain_id = 3")]
#[case("database.url = 'postgres://user:hunter2@h' x")]
#[case("[database]\nurl = \"postgres://user:hunter2@h\\q\"")]
#[case("hunter2 hunter2")]
fn a_broken_file_is_not_quoted(#[case] text: &str) {
    let problem = file(text).problem();
    assert!(problem.message.contains("line "), "{problem}");
    assert!(!problem.message.contains(SECRET), "{problem}");
}

#[test]
fn url_and_url_file_in_one_layer_contradict_each_other() {
    let problem = file("[database]\nurl = 'sqlite:a.db'\nurl_file = '/x'").problem();
    assert_eq!(problem.key, "database.url_file");
    assert!(problem.hint.contains("one of the two"), "{problem}");
}

#[test]
fn of_url_and_url_file_the_stronger_layer_wins() {
    let start = ConfigFixture::new();
    std::fs::write(start.path("secret"), URL).unwrap();
    let path = start.path("secret").display().to_string();
    let by_variable = file("database.url_file = '/nowhere'").variable("GATEWAY_DATABASE__URL", "sqlite:b.db");
    assert_eq!(url_of(&by_variable.config()), "sqlite:b.db");
    let by_file = start.file("database.url = 'sqlite:a.db'").variable("GATEWAY_DATABASE__URL_FILE", &path);
    assert_eq!(url_of(&by_file.config()), URL);
}

#[test]
fn a_url_file_is_there_and_holds_a_url() {
    let missing = file("database.url_file = '/nowhere/secret'").problem();
    assert_eq!(missing.key, "database.url_file");
    assert!(missing.message.contains("/nowhere/secret cannot be read"), "{missing}");
    for (content, message) in [(" \n", "is empty"), ("hunter2", "neither sqlite: nor postgres://")] {
        let start = ConfigFixture::new();
        std::fs::write(start.path("secret"), content).unwrap();
        let path = start.path("secret").display().to_string();
        let problem = start.file(&format!("database.url_file = '{path}'")).problem();
        assert_eq!(problem.key, "database.url_file");
        assert!(problem.message.contains(message), "{problem}");
        assert!(!problem.message.contains(SECRET), "{problem}");
    }
}
