-- A search (`q`) finds rows by their texts.
{{search_index arena_challenges (title, brief)}}
