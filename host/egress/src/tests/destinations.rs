//! Limits by destination, without a network.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use rstest::rstest;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

fn table() -> Arc<Destinations> {
    Destinations::new(&EgressSettings::default(), RECORDS_MAX)
}

fn name(name: &str) -> Destination {
    Destination::Name(name.to_owned())
}

fn address(last: u8) -> Destination {
    Destination::Address(IpAddr::from([203, 0, 113, last]))
}

/// A call that somebody waits for.
fn call(table: &Arc<Destinations>, destination: &Destination, now: Instant) -> Result<DestinationSlot, LimitExceeded> {
    table.admit(vec![destination.clone()], &mut VisitedDestinations::default(), now)
}

fn probe(table: &Arc<Destinations>, destination: &Destination, now: Instant) -> Result<DestinationSlot, LimitExceeded> {
    table.admit(vec![destination.clone()], &mut VisitedDestinations::new(true), now)
}

/// A call that was answered with 2xx.
fn answered(table: &Arc<Destinations>, destination: &Destination, now: Instant) {
    let mut visited = VisitedDestinations::default();
    drop(table.admit(vec![destination.clone()], &mut visited, now).unwrap());
    table.record_answer(&visited, now);
}

/// How many calls are in progress when the next one is refused, and how.
fn concurrent(table: &Arc<Destinations>, destination: &Destination, now: Instant) -> (usize, LimitExceeded) {
    let mut slots = Vec::new();
    loop {
        match call(table, destination, now) {
            Ok(slot) => slots.push(slot),
            Err(refusal) => return (slots.len(), refusal),
        }
    }
}

/// How many calls, one after the other, begin at that time before one is refused, and how.
fn successive(table: &Arc<Destinations>, destination: &Destination, now: Instant) -> (usize, LimitExceeded) {
    for calls in 0.. {
        if let Err(refusal) = call(table, destination, now) {
            return (calls, refusal);
        }
    }
    unreachable!("the range has no end")
}

#[test]
fn a_destination_gets_eight_calls_at_once() {
    let (table, now, one) = (table(), Instant::now(), name("one.test"));
    let refusal = LimitExceeded { limit: DestinationLimit::Concurrency(8), retry_after: SECOND };
    assert_eq!(concurrent(&table, &one, now), (8, refusal));
    // They ended with the count.
    let mut slots: Vec<_> = (0..8).map(|_| call(&table, &one, now + SECOND).unwrap()).collect();
    assert_eq!(call(&table, &one, now + SECOND).unwrap_err(), refusal);
    assert!(call(&table, &name("two.test"), now + SECOND).is_ok(), "another one is not concerned");
    slots.pop();
    assert!(call(&table, &one, now + SECOND).is_ok(), "one of them has ended");
}

#[test]
fn a_destination_gets_twenty_calls_in_any_second() {
    let (table, now, one) = (table(), Instant::now(), address(1));
    let at = |ms| now + Duration::from_millis(ms);
    let refusal = |retry_after_ms| {
        let retry_after = Duration::from_millis(retry_after_ms);
        LimitExceeded { limit: DestinationLimit::Rate(20), retry_after }
    };
    for ms in [0, 0, 0, 0, 0, 500, 500, 500, 500, 500] {
        assert!(call(&table, &one, at(ms)).is_ok());
    }
    assert_eq!(successive(&table, &one, at(900)), (10, refusal(100)));
    assert_eq!(successive(&table, &one, at(999)), (0, refusal(1)));
    assert_eq!(successive(&table, &one, at(1000)), (5, refusal(500)), "the first five have left the window");
    assert_eq!(successive(&table, &one, at(1500)), (5, refusal(400)));
}

#[test]
fn one_that_answered_lately_gets_more() {
    let (table, now, one) = (table(), Instant::now(), name("one.test"));
    answered(&table, &one, now);
    assert_eq!(concurrent(&table, &one, now + SECOND).0, 64);
    assert_eq!(successive(&table, &one, now + 2 * SECOND).0, 200);
    let last = now + MINUTE - SECOND / 2;
    assert_eq!(successive(&table, &one, last).0, 200);
    // The calls of the last half second count, too.
    let refusal = LimitExceeded { limit: DestinationLimit::Rate(20), retry_after: SECOND / 2 };
    assert_eq!(successive(&table, &one, now + MINUTE), (0, refusal));
    let later = last + SECOND;
    assert_eq!((concurrent(&table, &one, later).0, successive(&table, &one, later + SECOND).0), (8, 20));
    answered(&table, &one, later + 2 * SECOND);
    assert_eq!(successive(&table, &one, later + 3 * SECOND).0, 200, "it has recovered");
}

#[test]
fn one_that_never_answered_gets_a_probe_a_minute() {
    let (table, now, one) = (table(), Instant::now(), name("one.test"));
    assert!(probe(&table, &one, now).is_ok());
    let refusal = |retry_after| LimitExceeded { limit: DestinationLimit::Unanswered(MINUTE), retry_after };
    assert_eq!(probe(&table, &one, now).unwrap_err(), refusal(MINUTE));
    assert!(call(&table, &one, now).is_ok(), "somebody waits for this one");
    assert_eq!(probe(&table, &one, now + MINUTE - SECOND).unwrap_err(), refusal(SECOND));
    assert!(probe(&table, &one, now + MINUTE).is_ok());
    assert!(probe(&table, &one, now + MINUTE).is_err());
    answered(&table, &one, now + MINUTE);
    for seconds in [60, 61, 100_000] {
        assert!(probe(&table, &one, now + Duration::from_secs(seconds)).is_ok(), "it has answered once");
    }
}

/// Many names of one address are one destination, and so are many addresses of one name.
#[test]
fn a_call_counts_against_name_and_address_or_against_none() {
    let (table, now) = (table(), Instant::now());
    let admit =
        |names: &str, last| table.admit(vec![name(names), address(last)], &mut VisitedDestinations::new(true), now);
    let first = admit("a.test", 1).unwrap();
    assert!(admit("b.test", 1).is_err(), "the address had its probe");
    assert!(admit("a.test", 2).is_err(), "the name had its probe");
    assert!(admit("b.test", 2).is_ok(), "neither refusal was counted against these two");
    drop(first);
    let calls: Vec<_> = (0..8).map(|_| call(&table, &address(3), now).unwrap()).collect();
    assert!(admit("c.test", 3).is_err());
    drop(calls);
    assert!(admit("c.test", 3).is_ok());
}

#[test]
fn redirects_of_a_probe_belong_to_it() {
    let (table, now) = (table(), Instant::now());
    let mut visited = VisitedDestinations::new(true);
    let admit = |visited: &mut VisitedDestinations, names: &str| table.admit(vec![name(names)], visited, now).is_ok();
    assert!(admit(&mut visited, "a.test") && admit(&mut visited, "a.test") && admit(&mut visited, "b.test"));
    let mut other = VisitedDestinations::new(true);
    assert!(!admit(&mut other, "a.test") && !admit(&mut other, "b.test"));
    assert!(admit(&mut other, "c.test"));
    assert!(!admit(&mut visited, "c.test"), "this one had its probe");
    // The answer counts for both that led to it.
    table.record_answer(&visited, now);
    for names in ["a.test", "b.test"] {
        assert!(probe(&table, &name(names), now).is_ok(), "{names}");
    }
    assert!(probe(&table, &name("c.test"), now).is_err());
}

#[test]
fn the_longest_unused_is_forgotten_but_no_call_in_progress() {
    let (table, now) = (Destinations::new(&EgressSettings::default(), 4), Instant::now());
    let in_progress: Vec<_> = (0..8).map(|_| call(&table, &address(0), now).unwrap()).collect();
    for last in 1..=100 {
        assert!(probe(&table, &address(last), now).is_ok());
        if last > 3 {
            assert!(probe(&table, &address(last - 1), now).is_err(), "{last}: it is remembered");
        }
    }
    assert!((0..=100).filter(|last| table.has_record(&address(*last))).count() <= 4);
    assert!(probe(&table, &address(1), now).is_ok(), "a forgotten one counts as new");
    assert!(call(&table, &address(0), now).is_err(), "its eight calls are still in progress");
    drop(in_progress);
    assert!(call(&table, &address(0), now).is_ok());
    for last in 1..=4 {
        drop(call(&table, &address(last), now + MINUTE));
    }
    assert!(!table.has_record(&address(0)), "it is not kept for ever");
}

#[rstest]
#[case::two("http://a.test/", &[], "a.test 203.0.113.9")]
#[case::neither_path_nor_query("http://a.test/x?y#z", &[], "a.test 203.0.113.9")]
#[case::nor_port_and_scheme("https://A.TEST:8443/", &[], "a.test 203.0.113.9")]
#[case::an_address("http://203.0.113.9/", &[], "203.0.113.9")]
#[case::an_allowed_name("http://a.test/", &["a.test"], "203.0.113.9")]
#[case::an_allowed_address("http://a.test/", &["203.0.113.0/24"], "a.test")]
#[case::both("http://a.test/", &["a.test", "203.0.113.9:80"], "")]
#[case::another_port("http://a.test/", &["a.test:81", "203.0.113.9:81"], "a.test 203.0.113.9")]
fn what_the_operator_names_is_not_counted(#[case] url: &str, #[case] allowed: &[&str], #[case] expected: &str) {
    let (url, allow) = (Url::parse(url).unwrap(), AllowList::parse(allowed).unwrap());
    let port = url.port_or_known_default().unwrap();
    let destinations = Destination::of_call(&url, SocketAddr::from(([203, 0, 113, 9], port)), &allow);
    let counted: Vec<String> = destinations
        .into_iter()
        .map(|destination| match destination {
            Destination::Name(name) => name,
            Destination::Address(address) => address.to_string(),
        })
        .collect();
    assert_eq!(counted.join(" "), expected);
}
