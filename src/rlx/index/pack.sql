-- What task pages show, de-duplicated: one copy of each masked text, whatever tasks hold it.
CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  text BLOB NOT NULL,           -- zlib
  size INTEGER NOT NULL,        -- bytes of the text
  masked TEXT NOT NULL,         -- JSON: line numbers
  withheld TEXT NOT NULL        -- JSON
);
CREATE TABLE tasks (
  ord INTEGER PRIMARY KEY,
  settings BLOB NOT NULL,       -- zlib JSON
  files BLOB NOT NULL,          -- zlib JSON
  withheld TEXT NOT NULL,       -- JSON
  texts TEXT NOT NULL           -- JSON: path to texts.id
);
-- While an index fills in: what the second pass wants of each task that was read.
CREATE TABLE unfinished (ord INTEGER PRIMARY KEY, record BLOB NOT NULL);
