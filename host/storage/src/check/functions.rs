//! The functions that plugins may call. The list names what is allowed, because a list of dangerous functions is never
//! complete (`ts_stat`, `ts_rewrite` and `query_to_xml` all run SQL from a text).
//!
//! The rule: a listed function only reads, and has no access to files, settings, the catalogue or other sessions.

/// Sorted, lower case.
const FUNCTIONS: &[&str] = &[
    "abs",
    "array_agg",
    "array_length",
    "array_position",
    "array_to_string",
    "avg",
    "bit_and",
    "bit_length",
    "bit_or",
    "bm25",
    "bool_and",
    "bool_or",
    "btrim",
    "cardinality",
    "cast",
    "ceil",
    "ceiling",
    "char",
    "char_length",
    "character_length",
    "chr",
    "coalesce",
    "concat",
    "concat_ws",
    "convert_from",
    "convert_to",
    "count",
    "cume_dist",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "date_part",
    "date_trunc",
    "datetime",
    "decode",
    "dense_rank",
    "div",
    "encode",
    "every",
    "exp",
    "extract",
    "first_value",
    "floor",
    "format",
    "get_byte",
    "glob",
    "greatest",
    "group_concat",
    "hex",
    "highlight",
    "ifnull",
    "iif",
    "initcap",
    "instr",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "least",
    "left",
    "length",
    "like",
    "ln",
    "log",
    "lower",
    "ltrim",
    "make_date",
    "max",
    "md5",
    "min",
    "mod",
    "now",
    "nth_value",
    "ntile",
    "nullif",
    "numnode",
    "octet_length",
    "overlay",
    "percent_rank",
    "percentile_cont",
    "percentile_disc",
    "phraseto_tsquery",
    "plainto_tsquery",
    "position",
    "pow",
    "power",
    "printf",
    "quote",
    "random",
    "randomblob",
    "rank",
    "regexp_match",
    "regexp_replace",
    "replace",
    "reverse",
    "right",
    "round",
    "row",
    "row_number",
    "row_to_json",
    "rtrim",
    "setweight",
    "sha256",
    "sign",
    "snippet",
    "split_part",
    "sqrt",
    "starts_with",
    "statement_timestamp",
    "stddev",
    "strftime",
    "string_agg",
    "string_to_array",
    "strip",
    "strpos",
    "substr",
    "substring",
    "sum",
    "time",
    "timediff",
    "to_char",
    "to_hex",
    "to_json",
    "to_jsonb",
    "to_number",
    "to_timestamp",
    "to_tsquery",
    "to_tsvector",
    "total",
    "transaction_timestamp",
    "translate",
    "trim",
    "trunc",
    "ts_headline",
    "ts_rank",
    "ts_rank_cd",
    "tsquery_phrase",
    "typeof",
    "unhex",
    "unicode",
    "unixepoch",
    "unnest",
    "upper",
    "variance",
    "websearch_to_tsquery",
    "width_bucket",
    "zeroblob",
];

/// Functions whose result may depend on more than their arguments. (`date('now')` shares its name with
/// `date(created_at)`.)
const VOLATILE: &[&str] = &[
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "julianday",
    "now",
    "random",
    "randomblob",
    "statement_timestamp",
    "strftime",
    "time",
    "timediff",
    "transaction_timestamp",
    "unixepoch",
];

/// Whether the result may depend on the clock or on a random number.
pub(crate) fn is_volatile(name: &str) -> bool {
    VOLATILE.contains(&name)
}

/// Functions that are used in place of a table.
const TABLE_FUNCTIONS: &[&str] = &["generate_series", "json_each", "json_tree", "unnest"];

pub(crate) fn is_function(name: &str) -> bool {
    FUNCTIONS.binary_search(&name).is_ok() || is_json(name)
}

pub(crate) fn is_table_function(name: &str) -> bool {
    TABLE_FUNCTIONS.contains(&name) || is_json(name)
}

/// Both databases have many JSON functions, and all of them use only their arguments.
fn is_json(name: &str) -> bool {
    name == "json" || name == "jsonb" || name.starts_with("json_") || name.starts_with("jsonb_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(FUNCTIONS.is_sorted());
    }

    #[test]
    fn functions_that_run_sql_or_reach_out_are_not_listed() {
        for name in [
            "ts_stat",
            "ts_rewrite",
            "query_to_xml",
            "pg_sleep",
            "pg_read_file",
            "lo_import",
            "dblink",
            "set_config",
            "current_setting",
            "load_extension",
            "readfile",
            "nextval",
            "setval",
            "pragma_table_info",
            "fts3_tokenizer",
            "sqlite_version",
            "current_user",
        ] {
            assert!(!is_function(name) && !is_table_function(name), "{name}");
        }
    }
}
