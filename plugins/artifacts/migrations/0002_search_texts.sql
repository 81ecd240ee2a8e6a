-- A search (`q`) finds rows by their texts.
{{search_index artifacts_artifacts (name, description, url)}}
