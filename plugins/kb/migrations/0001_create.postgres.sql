-- Pages: what lists show and sort by. A body stands in its revision.
CREATE TABLE kb_pages (
    id {{id}},
    slug TEXT NOT NULL UNIQUE,
    -- Sorted by the numbers of its characters on both databases.
    title TEXT COLLATE "C" NOT NULL,
    -- The current revision.
    rev BIGINT NOT NULL,
    -- Checksummed addresses. The zero address is the network itself.
    created_by TEXT NOT NULL,
    updated_by TEXT NOT NULL,
    -- Unix seconds.
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- Words that the index counts.
    words BIGINT NOT NULL,
    -- What answers show of the page and only a write changes, as the JSON object that they are made of.
    kept TEXT NOT NULL
);

-- One index per sort.
CREATE INDEX kb_pages_updated ON kb_pages (updated_at DESC, id DESC);
CREATE INDEX kb_pages_title ON kb_pages (title, id DESC);

-- Every write, for ever.
CREATE TABLE kb_revisions (
    id {{id}},
    page_id BIGINT NOT NULL REFERENCES kb_pages (id),
    rev BIGINT NOT NULL,
    author TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- Markdown, as it was sent.
    body TEXT NOT NULL,
    -- As in kb_pages.
    kept TEXT NOT NULL,
    UNIQUE (page_id, rev)
);

CREATE INDEX kb_revisions_created ON kb_revisions (created_at);

-- How much there is: lists and ranks count nothing.
CREATE TABLE kb_totals (
    pages BIGINT NOT NULL,
    words BIGINT NOT NULL
);

INSERT INTO kb_totals (pages, words) VALUES (0, 0);

-- The words of the current revisions, as model/words.rs makes them. The one position of a word is its count, weighted by where
-- it stands.
CREATE TABLE kb_search (
    page_id BIGINT NOT NULL PRIMARY KEY,
    words TSVECTOR NOT NULL,
    -- Words in all.
    length BIGINT NOT NULL
);

CREATE INDEX kb_search_words ON kb_search USING gin (words);
