-- How many records of each kind there are: lists and counters count nothing.
{{row_counts economy_streams (cancelled)}}
{{row_counts economy_plans (active)}}
{{row_counts economy_subs (cancelled)}}
{{row_counts economy_disputes (closed)}}
{{row_counts economy_tokens ()}}
{{row_counts economy_accounts ()}}
