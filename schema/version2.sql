-- From version 1 to 2: the tables call, change and pack, as in tables.sql.

-- call: a tool call of a model, or a command of a person, and who made it. Written with the first change that it made, or
-- later if it made none. ref is the caller's own id of it.
CREATE TABLE call (
	id      INTEGER PRIMARY KEY,          -- from counter
	branch  INTEGER NOT NULL,
	at      INTEGER NOT NULL,             -- ns since 1970, when it began; recorded, if that is not known
	actor   TEXT    NOT NULL,
	session TEXT    NOT NULL,
	tool    TEXT    NOT NULL,
	ref     TEXT    NOT NULL,
	digest  BLOB,                         -- BLAKE3-256 of its input
	result  INTEGER NOT NULL,             -- bytes
	took    INTEGER NOT NULL,             -- ns
	error   TEXT    NOT NULL
) STRICT;

-- change: one row for each path that a verb changed, written in the same commit. Numbers have no gaps: a reader that has
-- seen one knows whether it missed any. gc deletes the oldest.
CREATE TABLE change (
	seq    INTEGER PRIMARY KEY,           -- from counter
	branch INTEGER NOT NULL,
	epoch  INTEGER NOT NULL,
	at     INTEGER NOT NULL,              -- ns since 1970
	call   INTEGER,
	op     TEXT    NOT NULL,
	path   TEXT    NOT NULL,              -- from the root of the branch; '.' is the root
	arg    TEXT,                          -- the other path of a rename, copy or link; a symlink's target; a name
	before ANY,                           -- sum of the content that was under path; or the seq of the row whose after it is
	after  BLOB,                          -- and that is
	grew   INTEGER NOT NULL               -- bytes by which the contents of the tree grew
) STRICT;

-- pack: many blobs in one row, compressed together. Immutable; deleted with the last of its blobs.
CREATE TABLE pack (
	id    INTEGER PRIMARY KEY,            -- from counter
	size  INTEGER NOT NULL,               -- plain bytes of all
	blobs BLOB    NOT NULL,               -- their ids in order, 8 bytes each, big endian
	data  BLOB    NOT NULL                -- a zstd frame of their plain bytes, one after the other
) STRICT;

INSERT INTO counter (name, next) VALUES ('change', 1024), ('call', 1024), ('pack', 1024), ('compact', 1024);
