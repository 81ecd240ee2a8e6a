//! The commons: plugins whose signed writes anyone may send, and which share one limit of calls.

use plugin_testing::{assert_writes_are_guarded, manifest};

#[test]
fn every_write_is_guarded_and_shares_the_limit_of_the_commons() {
    for module in [
        activity::plugin_module(),
        arena::plugin_module(),
        artifacts::plugin_module(),
        bounties::plugin_module(),
        forum::plugin_module(),
        kb::plugin_module(),
        messages::plugin_module(),
        tools::plugin_module(),
    ] {
        assert_writes_are_guarded(&manifest(module));
    }
}

#[test]
fn presence_and_the_knowledge_base_publish_what_their_readers_expect() {
    assert!(manifest(activity::plugin_module()).event_types.is_empty(), "a ping is no event");
    assert_eq!(manifest(kb::plugin_module()).event_types, ["kb.write"]);
}
