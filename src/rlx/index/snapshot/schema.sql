-- The catalog: every public environment and the tasks of those that were read. Written once, read immutable.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE envs (
  ord INTEGER PRIMARY KEY,      -- listing order, from 0
  key TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,           -- lower-cased org/name
  tasks INTEGER,                -- null: not counted
  modified REAL,                -- seconds since 1970
  downloads INTEGER,
  likes INTEGER,
  haystack TEXT NOT NULL,       -- folded (folding.py): id, heading, brief, tags
  card TEXT NOT NULL            -- JSON
);
CREATE TABLE env_facets (key TEXT, value TEXT, ords TEXT NOT NULL, PRIMARY KEY (key, value)) WITHOUT ROWID;
-- Case is gone already, so a match of three characters or more is exactly a substring.
CREATE VIRTUAL TABLE envs_fts USING fts5 (haystack, content = 'envs', content_rowid = 'ord', tokenize = 'trigram case_sensitive 1');
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY,       -- order of popularity, from 0
  env INTEGER NOT NULL,         -- envs.ord
  ref TEXT NOT NULL,
  title TEXT NOT NULL,
  brief TEXT NOT NULL,
  combo INTEGER NOT NULL        -- combos.id
);
CREATE TABLE combos (id INTEGER PRIMARY KEY, facets TEXT NOT NULL); -- JSON: facet to values; each combination once
CREATE TABLE columns (name TEXT PRIMARY KEY, data BLOB NOT NULL);  -- a number for each task, by id
-- Words are split and folded before they come here (words.py): whatever is no space is part of a token.
CREATE VIRTUAL TABLE tasks_fts USING fts5 (
  words, content = '', detail = none, columnsize = 0, prefix = '3 4',
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co Cn Cs'"
);
CREATE TABLE same (id INTEGER PRIMARY KEY, class INTEGER NOT NULL); -- tasks whose files are identical
CREATE TABLE alike (id INTEGER, other INTEGER, score REAL NOT NULL, PRIMARY KEY (id, other)) WITHOUT ROWID;
