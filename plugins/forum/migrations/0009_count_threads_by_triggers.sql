-- The gateway counts the threads, in all and by tag: on PostgreSQL no two writes change the same row.
DROP TABLE forum_thread_counts;
{{row_counts forum_threads ()}}
{{row_counts forum_thread_tags (tag)}}
