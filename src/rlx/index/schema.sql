-- The index of one environment at one revision: a row a task. Written once, read immutable.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tasks (
  ord INTEGER PRIMARY KEY,      -- listing order, from 0
  ref TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  brief TEXT NOT NULL,
  facets TEXT NOT NULL,         -- JSON: facet to values
  problem TEXT,                 -- JSON text, when it is no ordinary task
  digest TEXT NOT NULL,         -- of its files' names and contents: tells a changed task between revisions; '' unknown
  search TEXT NOT NULL          -- folded (folding.py): ref, title, brief and what else is searched
);
CREATE TABLE facets (key TEXT, value TEXT, ord INTEGER, PRIMARY KEY (key, value, ord)) WITHOUT ROWID;
CREATE TABLE numbers (key TEXT, ord INTEGER, value REAL NOT NULL, PRIMARY KEY (key, ord)) WITHOUT ROWID;
CREATE TABLE reviews (ord INTEGER PRIMARY KEY, value TEXT NOT NULL);
