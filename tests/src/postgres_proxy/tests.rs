//! What the proxy makes of messages, without a server.

use super::{
    database,
    frames::{BIND, BIND_COMPLETE, COMMAND_COMPLETE, ERROR_RESPONSE, Frame, PARSE, PARSE_COMPLETE},
    session::{Fault, Passage, Session, Transaction, Watch},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

struct Conversation {
    watch: Arc<Mutex<Watch>>,
    session: Session,
}

impl Conversation {
    fn new(marker: &str, faults: &[Fault]) -> Self {
        let faults = faults.iter().copied().collect();
        let watch = Arc::new(Mutex::new(Watch { marker: marker.to_owned(), faults, ..Watch::default() }));
        Self { session: Session::new(watch.clone(), "test".to_owned()), watch }
    }

    fn ask(&mut self, frames: &[Frame]) -> Passage {
        self.session.pass_requests(frames).unwrap()
    }

    fn answer(&mut self, frames: &[Frame]) -> Passage {
        self.session.pass_answers(frames)
    }

    fn transactions(&self) -> Vec<Transaction> {
        self.watch.lock().unwrap().transactions.clone()
    }
}

fn query(sql: &str) -> Frame {
    Frame::query(sql).unwrap()
}

/// A statement with a name is parsed once, and bound with a parameter each time.
fn parse(name: &str, sql: &str) -> Frame {
    Frame::new(PARSE, format!("{name}\0{sql}\0\0\0").as_bytes()).unwrap()
}

fn bind(name: &str, parameter: &str) -> Frame {
    Frame::new(BIND, format!("\0{name}\0{parameter}").as_bytes()).unwrap()
}

fn tag(text: &str) -> Frame {
    Frame::new(COMMAND_COMPLETE, format!("{text}\0").as_bytes()).unwrap()
}

fn message(kind: u8) -> Frame {
    Frame::new(kind, &[]).unwrap()
}

fn bytes(frames: &[Frame]) -> Vec<u8> {
    frames.iter().flat_map(|frame| frame.bytes().to_vec()).collect()
}

#[test]
fn a_transaction_is_found_by_a_parameter_that_comes_with_its_begin() {
    let mut conversation = Conversation::new("0xme", &[]);
    let other = [query("BEGIN"), parse("guard", "INSERT INTO guards VALUES ($1)"), bind("guard", "0xyou")];
    assert_eq!(conversation.ask(&other).bytes, bytes(&other));
    conversation.answer(&[tag("BEGIN"), tag("INSERT 0 1")]);
    assert!(conversation.transactions().is_empty());

    conversation.ask(&[query("begin isolation level serializable"), bind("guard", "0xme")]);
    conversation.ask(&[query("COMMIT")]);
    let answers = [tag("BEGIN"), tag("INSERT 0 1"), tag("COMMIT")];
    let passage = conversation.answer(&answers);
    assert_eq!((passage.bytes, passage.is_cut), (bytes(&answers), false));
    let [seen] = &conversation.transactions()[..] else { panic!("one transaction has the marker") };
    let sql = ["begin isolation level serializable", "INSERT INTO guards VALUES ($1)", "COMMIT"];
    assert_eq!(seen.statements, sql);
    assert_eq!(seen.answers, ["BEGIN", "INSERT 0 1", "COMMIT"]);
    assert_eq!((seen.marked_at, seen.was_hit), (1, false));
}

#[test]
fn a_marker_that_comes_later_marks_what_follows() {
    let mut conversation = Conversation::new("notes", &[Fault::BeforeStatement(1)]);
    assert!(!conversation.ask(&[query("BEGIN")]).is_cut);
    assert!(!conversation.ask(&[query("INSERT INTO notes VALUES (1)")]).is_cut);
    let [seen] = &conversation.transactions()[..] else { panic!("it is seen") };
    assert_eq!((seen.marked_at, seen.was_hit), (2, false), "its first statement had gone");
}

#[test]
fn the_server_does_not_get_a_statement_before_which_the_connection_breaks() {
    let mut conversation = Conversation::new("notes", &[Fault::BeforeStatement(3)]);
    let frames = [query("BEGIN"), query("INSERT INTO notes VALUES (1)"), query("COMMIT")];
    let passage = conversation.ask(&frames);
    assert_eq!((passage.bytes, passage.is_cut), (bytes(&frames[..2]), true));
    assert!(conversation.transactions()[0].was_hit);
}

#[test]
fn the_client_does_not_get_an_answer_before_which_the_connection_breaks() {
    for (fault, passed) in [(Fault::BeforeAnswer(2), 1), (Fault::LostCommit, 2)] {
        let mut conversation = Conversation::new("notes", &[fault]);
        assert!(!conversation.ask(&[query("BEGIN"), query("INSERT INTO notes VALUES (1)"), query("COMMIT")]).is_cut);
        let answers = [tag("BEGIN"), tag("INSERT 0 1"), tag("COMMIT")];
        let passage = conversation.answer(&answers);
        assert_eq!((passage.bytes, passage.is_cut), (bytes(&answers[..passed]), true), "{fault:?}");
        assert!(conversation.transactions()[0].was_hit);
    }
}

#[test]
fn each_transaction_meets_its_own_fault() {
    let mut conversation = Conversation::new("notes", &[Fault::LostCommit, Fault::BeforeStatement(2)]);
    let frames = [query("BEGIN"), query("INSERT INTO notes VALUES (1)"), query("COMMIT")];
    assert!(!conversation.ask(&frames).is_cut);
    assert!(conversation.answer(&[tag("BEGIN"), tag("INSERT 0 1"), tag("COMMIT")]).is_cut);
    assert!(conversation.ask(&frames).is_cut);
    assert!(!conversation.ask(&frames).is_cut, "there is no third fault");
    assert_eq!(conversation.transactions().iter().map(|seen| seen.was_hit).collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn a_conflict_takes_the_place_of_a_simple_query() {
    let mut conversation = Conversation::new("notes", &[Fault::Conflict(1), Fault::Conflict(2)]);
    let passage = conversation.ask(&[query("BEGIN; INSERT INTO notes VALUES (1)")]);
    let text = String::from_utf8(passage.bytes).unwrap();
    assert!(text.contains("BEGIN; DO $$") && text.contains("serialization_failure") && !text.contains("notes"));

    conversation.ask(&[query("BEGIN; SELECT 1 FROM notes")]);
    let passage = conversation.ask(&[query("COMMIT")]);
    assert!(!String::from_utf8(passage.bytes).unwrap().contains("COMMIT"));
}

/// The client gets answers to its own messages and the error, and none to what the proxy added.
#[test]
fn a_conflict_comes_before_a_prepared_statement() {
    let mut conversation = Conversation::new("0xme", &[Fault::Conflict(2)]);
    let insert = [parse("note", "INSERT INTO notes VALUES ($1)"), bind("note", "0xme"), message(b'E'), message(b'S')];
    let passage = conversation.ask(&[&[query("BEGIN")][..], &insert].concat());
    let text = String::from_utf8_lossy(&passage.bytes).into_owned();
    let (own, injected) = (text.find("0xme").unwrap(), text.find("DO $$").unwrap());
    assert!(text.find("INSERT").unwrap() < injected && injected < own, "{text}");

    let error = Frame::new(ERROR_RESPONSE, b"C40001\0Ma conflict that the proxy made\0\0").unwrap();
    let (parsed, bound, ready) = (message(PARSE_COMPLETE), message(BIND_COMPLETE), message(b'Z'));
    // The answer to the BEGIN ends with a message that says that the server is ready, too.
    let answers = [&tag("BEGIN"), &ready, &parsed, &parsed, &bound, &error, &ready].map(Frame::clone);
    let passage = conversation.answer(&answers);
    assert_eq!(passage.bytes, bytes(&[tag("BEGIN"), ready.clone(), parsed.clone(), error, ready.clone()]));
    // Later answers pass.
    let answers = [bound, tag("SELECT 1"), ready];
    assert_eq!(conversation.answer(&answers).bytes, bytes(&answers));
}

#[test]
fn every_second_commit_of_serializable_transactions_fails() {
    let mut proxied = Conversation::new("", &[]);
    proxied.watch.lock().unwrap().commits = Some(HashMap::new());
    let mut injected = |begin: &str| {
        proxied.ask(&[query(begin)]);
        proxied.answer(&[tag("BEGIN")]);
        let sent = proxied.ask(&[query("COMMIT")]).bytes;
        proxied.answer(&[tag("COMMIT")]);
        sent != query("COMMIT").bytes()
    };
    let serializable = "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE";
    let found = [serializable, "BEGIN", serializable, "BEGIN", serializable, serializable].map(&mut injected);
    assert_eq!(found, [true, false, false, false, true, false]);
}

#[test]
fn the_first_message_names_the_database() {
    let startup = [&[0; 8][..], b"user\0postgres\0database\0test_1\0\0"].concat();
    assert_eq!((database(&startup).as_str(), database(b"\0\0").as_str()), ("test_1", ""));
}
