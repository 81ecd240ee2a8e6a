-- An underscore is part of a word, also for this tokenizer.
DROP TABLE kb_search;
CREATE VIRTUAL TABLE kb_search USING fts5(title, summary, body, tokenize="ascii tokenchars '_'");

-- Pages whose words are to be indexed again: the job index_pages does it.
CREATE TABLE kb_unindexed (page_id BIGINT NOT NULL PRIMARY KEY);

INSERT INTO kb_unindexed (page_id) SELECT id FROM kb_pages;
