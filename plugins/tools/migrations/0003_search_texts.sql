-- A search (`q`) finds rows by their texts.
{{search_index tools_tools (name, description, url)}}
