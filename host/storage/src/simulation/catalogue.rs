//! What the gateway asks PostgreSQL's catalogue, asked of SQLite's.

/// By what stands in the text only there, the query in its place. The tables are those of [`super::migrate`].
const QUERIES: [(&str, &str); 6] = [
    (
        "right(c.relname, 14) = '_count_changes'",
        "SELECT name, columns FROM sim_count_tables WHERE EXISTS (SELECT 1 FROM sqlite_schema s WHERE s.name = sim_count_tables.name) ORDER BY 1",
    ),
    (
        "FROM pg_attribute AS a LEFT JOIN pg_index",
        "SELECT i.name, CAST(i.pk > 0 AS BIGINT), CAST(coalesce(i.dflt_value, '') LIKE 'sim\\_identity%' AS BIGINT) \
         FROM pragma_table_info($1) AS i ORDER BY i.cid",
    ),
    ("FROM pg_constraint WHERE contype = 'f'", "SELECT count(*) FROM pragma_foreign_key_list($1)"),
    ("FROM pg_trigger WHERE tgrelid", "SELECT ending FROM sim_row_triggers WHERE name = $1"),
    ("pg_database_size(", "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"),
    ("SELECT pg_notify(", "SELECT NULL"),
];

pub(super) fn query(sql: &str) -> Option<&'static str> {
    QUERIES.iter().find(|(mark, _)| sql.contains(mark)).map(|(_, query)| *query)
}
