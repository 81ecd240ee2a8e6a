-- A search (`q`) finds rows by their texts.
{{search_index forum_threads (title)}}
{{search_index forum_posts (body)}}
