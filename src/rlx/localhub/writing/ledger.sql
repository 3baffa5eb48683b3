-- What was written to a local hub. Bytes of files lie beside it, by SHA-256.
CREATE TABLE IF NOT EXISTS repos (
  key TEXT PRIMARY KEY,
  created_ms INTEGER NOT NULL,
  -- JSON of what replaces hub.json's word on it; null once the repository was deleted.
  meta TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS objects (
  sha256 TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  -- The git blob id of the bytes themselves, also of what is kept in LFS.
  blob TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- What a repository may name in a commit although none of its commits has it yet.
CREATE TABLE IF NOT EXISTS uploads (
  repo TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (repo, sha256)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS commits (
  repo TEXT NOT NULL,
  id TEXT NOT NULL,
  parent TEXT,
  title TEXT NOT NULL,
  message TEXT NOT NULL,
  author TEXT NOT NULL,
  made_ms INTEGER NOT NULL,
  PRIMARY KEY (repo, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changes (
  repo TEXT NOT NULL,
  id TEXT NOT NULL,
  path TEXT NOT NULL,
  -- Null for a file that went.
  sha256 TEXT,
  lfs INTEGER NOT NULL,
  PRIMARY KEY (repo, id, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS changes_sha256 ON changes (sha256, repo);
CREATE TABLE IF NOT EXISTS refs (
  repo TEXT NOT NULL,
  name TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (repo, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS discussions (
  repo TEXT NOT NULL,
  num INTEGER NOT NULL,
  title TEXT NOT NULL,
  author TEXT NOT NULL,
  status TEXT NOT NULL,
  made_ms INTEGER NOT NULL,
  -- Of a pull request: the branch it is for, the commit it began at, the commit it was merged as.
  target TEXT,
  base TEXT,
  merged TEXT,
  PRIMARY KEY (repo, num)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
  repo TEXT NOT NULL,
  num INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  type TEXT NOT NULL,
  author TEXT NOT NULL,
  made_ms INTEGER NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (repo, num, seq)
) STRICT, WITHOUT ROWID;
