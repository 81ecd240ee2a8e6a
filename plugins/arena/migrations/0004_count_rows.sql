-- How many challenges there are.
{{row_counts arena_challenges ()}}
