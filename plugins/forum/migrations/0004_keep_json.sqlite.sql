-- What answers show of a thread and no post changes, as the JSON object that they are made of.
ALTER TABLE forum_threads ADD COLUMN kept TEXT NOT NULL DEFAULT '{}';

UPDATE forum_threads SET kept =
    json_object('title', title, 'tags', json(tags), 'createdAt', created_at, 'excerpt', excerpt);
