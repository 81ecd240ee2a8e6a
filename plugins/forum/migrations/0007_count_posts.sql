-- How many posts there are.
{{row_counts forum_posts ()}}
