//! Kind and meaning of each metric that the gateway records through the macros of `metrics`: a test of the repository compares
//! them with what is recorded.
//!
//! A scrape names them all from the first start on, also those without a sample yet, so that alerts and dashboards can be
//! checked against any gateway.

/// Name, kind, meaning.
pub(crate) const RECORDED: [(&str, &str, &str); 42] = [
    ("gateway_activity_sequencer_batches_total", "counter", "Batches of events that got their ids here"),
    ("gateway_activity_sequencer_events_total", "counter", "Events that got their ids here"),
    (
        "gateway_activity_sequencer_standstill_seconds",
        "gauge",
        "How long events have waited for an id while none got one",
    ),
    ("gateway_activity_sequencer_takeovers_total", "counter", "Times that this gateway began to give ids to events"),
    ("gateway_chain_events_total", "counter", "Contract events that an index of a plugin took in"),
    ("gateway_chain_head_block", "gauge", "Number of the newest block of the chain"),
    (
        "gateway_chain_indexed_block",
        "gauge",
        "Block up to which the plugin's index of the chain is complete; NaN while the index is off",
    ),
    ("gateway_chain_reorganisations_total", "counter", "Reorganisations that an index of a plugin undid"),
    ("gateway_chain_rpc_server_latency_seconds", "gauge", "Time of the latest answer of an RPC server"),
    ("gateway_chain_rpc_server_up", "gauge", "1 while the RPC server answers well, else 0"),
    (
        "gateway_database_conflicts_total",
        "counter",
        "Attempts of writes that the database rolled back because of another transaction",
    ),
    ("gateway_database_file_bytes", "gauge", "Size of the file of SQLite"),
    ("gateway_database_free_disk_bytes", "gauge", "What can still be written on the disk of SQLite"),
    ("gateway_database_pool_connections", "gauge", "Connections to PostgreSQL by state"),
    ("gateway_database_pool_waiting", "gauge", "Calls that wait for a connection to PostgreSQL"),
    (
        "gateway_database_slow_statements_total",
        "counter",
        "Statements that took database.slow_statement_ms or longer, by plugin (host: the gateway's own)",
    ),
    ("gateway_database_wal_bytes", "gauge", "Size of SQLite's write-ahead log"),
    ("gateway_database_writes_given_up_total", "counter", "Writes that were given up after too many such attempts"),
    ("gateway_egress_fetches_total", "counter", "Outbound calls of plugins by their outcome"),
    ("gateway_http_heads_refused_total", "counter", "Requests refused before any plugin saw them, by code"),
    ("gateway_job_duration_seconds", "histogram", "Time of a run of a job"),
    ("gateway_job_runs_total", "counter", "Runs of jobs by their result"),
    ("gateway_limits_refused_total", "counter", "Requests, connections and streams that were refused, by limit"),
    ("gateway_plugin_faults_total", "counter", "Panics, errors, timeouts and held threads of a plugin, by operation"),
    (
        "gateway_plugin_operations_paused",
        "gauge",
        "Operations of the plugin that are paused because they failed too often",
    ),
    ("gateway_plugin_threads_lost", "gauge", "Threads that calls of the plugin hold and do not give back"),
    (
        "gateway_queue_attempts_total",
        "counter",
        "Calls of a queue's handler that ended, each with one result: ok (it returned, whatever it decided about its task), failed, lost (with its lease)",
    ),
    ("gateway_queue_dead_tasks_total", "counter", "Tasks of a queue that this gateway moved to the dead tasks"),
    (
        "gateway_queue_expired_leases_total",
        "counter",
        "Leases of a queue that this gateway ended for any gateway, because they expired or the gateway ended",
    ),
    ("gateway_queue_keys", "gauge", "Keys of a queue with tasks, by state"),
    (
        "gateway_queue_oldest_task_seconds",
        "gauge",
        "How long the key of a queue has waited that has been due the longest; tasks for later do not count",
    ),
    ("gateway_queue_tasks", "gauge", "Tasks of a queue by state"),
    (
        "gateway_read_replica_reads_total",
        "counter",
        "Reads that a standby was meant for, by who answered, or why not it",
    ),
    (
        "gateway_spans_total",
        "counter",
        "Spans by what became of them: exported, failed at the collector, dropped because too many waited",
    ),
    ("gateway_streams_open", "gauge", "Open streams by operation"),
    (
        "gateway_tls_certificate_end_seconds",
        "gauge",
        "When the certificate of the public listener ends, in seconds since 1970",
    ),
    (
        "gateway_tls_handshakes_failed_total",
        "counter",
        "Connections of the TLS port that came to no request, by reason",
    ),
    ("gateway_tx_balance_wei", "gauge", "Balance of a key that sends transactions"),
    ("gateway_tx_oldest_age_seconds", "gauge", "Age of the oldest transaction of the key that is in no block"),
    ("gateway_tx_pending", "gauge", "Transactions of the key that are signed and in no block"),
    ("gateway_tx_queued", "gauge", "Transactions of the key that wait to be signed"),
    ("gateway_version_reads_total", "counter", "Times that the versions of cached answers were read from the database"),
];

/// What plugins count gets this prefix, and their label `plugin`.
const PLUGIN_PREFIX: &str = "plugin_";

/// The meaning of a metric, for those that nothing else describes.
pub(crate) fn help(name: &str) -> Option<&'static str> {
    let described = RECORDED.iter().find(|(known, ..)| *known == name).map(|(_, _, help)| *help);
    described.or_else(|| name.starts_with(PLUGIN_PREFIX).then_some("Counted by a plugin: see its README"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_is_described_once_and_by_its_kind() {
        assert!(RECORDED.is_sorted_by(|one, next| one.0 < next.0), "sorted, each once");
        for (name, kind, _) in RECORDED {
            assert!(name.starts_with("gateway_"), "{name}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name} is a {kind}");
        }
        assert_eq!((help("gateway_unknown"), help("plugin_sold_total").is_some()), (None, true));
    }
}
