-- How many artifacts there are of each kind, and with each tag: a list counts nothing.
{{row_counts artifacts_artifacts (kind)}}
{{row_counts artifacts_tags (tag)}}
CREATE INDEX artifacts_artifacts_kind_stars ON artifacts_artifacts (kind, stars DESC, id DESC);
