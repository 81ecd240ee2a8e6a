-- A search (`q`) finds rows by their texts.
{{search_index bounties_bounties (title, brief)}}
