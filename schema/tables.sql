-- The tables of the file. FORMAT.md explains every column; the comments here are for readers of the SQL.
--
-- A namespace row (inode, dirent) belongs to a branch and lives over the epochs [born, died) of it.
-- A live row has died = 9223372036854775807. No id is ever 0 or 1: SQLite plans a statement anew when a
-- bound value turns 0 or 1, so ids start at 1024.

-- meta: facts about the file that never change after its creation.
CREATE TABLE meta (
	key   TEXT PRIMARY KEY,
	value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- counter: the next free number of inodes (ino), blobs, manifests, packs, changes and calls. Numbers only grow and are never
-- used again, so a newer blob has a higher id. compact is the lowest blob that no compaction has looked at.
CREATE TABLE counter (
	name TEXT PRIMARY KEY,
	next INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- branch: a line of history. name is NULL once the branch is dropped, and for the frozen middle of a squashed lineage.
CREATE TABLE branch (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	name    TEXT UNIQUE,
	epoch   INTEGER NOT NULL,             -- now: the epoch that writes are born in
	created INTEGER NOT NULL              -- ns since 1970
) STRICT;

-- lineage: level 0 is the branch itself, level n its n-th ancestor, seen as of epoch.
CREATE TABLE lineage (
	branch   INTEGER NOT NULL,
	level    INTEGER NOT NULL,
	ancestor INTEGER NOT NULL,
	epoch    INTEGER NOT NULL,            -- level 0: 9223372036854775806
	PRIMARY KEY (branch, level)
) STRICT, WITHOUT ROWID;
CREATE INDEX lineage_cap ON lineage (ancestor, epoch);

-- snapshot: a named moment of a branch.
CREATE TABLE snapshot (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	name    TEXT NOT NULL UNIQUE,
	branch  INTEGER NOT NULL,
	epoch   INTEGER NOT NULL,
	created INTEGER NOT NULL,
	note    TEXT NOT NULL
) STRICT;
CREATE INDEX snapshot_cap ON snapshot (branch, epoch);

-- merge: what a branch took in. From epoch on, branch contains the moment cap of source, and all before it.
CREATE TABLE merge (
	branch INTEGER NOT NULL,
	epoch  INTEGER NOT NULL,
	source INTEGER NOT NULL,
	cap    INTEGER NOT NULL,
	reset  INTEGER NOT NULL,              -- not 0: the branch became that moment, and what it took in before counts no more
	PRIMARY KEY (branch, epoch, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX merge_source ON merge (source, cap);

-- inode: a file, directory or other object, without its names. mode 0 is a whiteout: this branch no longer has the inode
-- that an ancestor shows.
-- died stands last in the key, so the live row is an exact lookup and a past one the first with died > e.
CREATE TABLE inode (
	branch   INTEGER NOT NULL,
	ino      INTEGER NOT NULL,
	died     INTEGER NOT NULL,
	born     INTEGER NOT NULL,
	mode     INTEGER NOT NULL,            -- type and 12 bits, as st_mode
	uid      INTEGER NOT NULL,
	gid      INTEGER NOT NULL,
	nlink    INTEGER NOT NULL,            -- stored, not counted; a directory has 1
	rdev     INTEGER NOT NULL,
	size     INTEGER NOT NULL,
	mtime    INTEGER NOT NULL,            -- ns since 1970
	ctime    INTEGER NOT NULL,
	btime    INTEGER NOT NULL,
	blob     INTEGER,                     -- content of at most one chunk
	manifest INTEGER,                     -- content of more than one; neither: zeros, or nothing
	target   BLOB,                        -- of a symlink
	xattrs   BLOB,                        -- extended attributes; NULL: none
	conflict BLOB,                        -- what a merge could not decide; NULL: nothing
	PRIMARY KEY (branch, ino, died)
) STRICT, WITHOUT ROWID;
CREATE INDEX inode_born  ON inode (branch, born) WHERE born > 2;
CREATE INDEX inode_died  ON inode (branch, died) WHERE died < 9223372036854775807;
CREATE INDEX inode_links ON inode (branch, ino)  WHERE nlink > 1;
CREATE INDEX inode_conflict ON inode (branch, ino) WHERE conflict IS NOT NULL;

-- dirent: a name in a directory. ino NULL is a whiteout: this branch no longer has the name that an ancestor shows.
CREATE TABLE dirent (
	branch INTEGER NOT NULL,
	parent INTEGER NOT NULL,
	name   TEXT    NOT NULL,              -- bytes without NUL and '/', compared as bytes
	died   INTEGER NOT NULL,
	born   INTEGER NOT NULL,
	ino    INTEGER,
	kind   INTEGER NOT NULL,              -- the file type: mode >> 12
	PRIMARY KEY (branch, parent, name, died)
) STRICT, WITHOUT ROWID;
CREATE INDEX dirent_born ON dirent (branch, born) WHERE born > 2;
CREATE INDEX dirent_died ON dirent (branch, died) WHERE died < 9223372036854775807;
CREATE INDEX dirent_ino  ON dirent (ino)          WHERE ino IS NOT NULL;

-- orphan: inodes that lost their last name and wait for gc, oldest first.
CREATE TABLE orphan (
	seq    INTEGER PRIMARY KEY AUTOINCREMENT,
	branch INTEGER NOT NULL,
	ino    INTEGER NOT NULL
) STRICT;

-- blob: a chunk at rest. data is the bytes themselves (codec 0), their zstd frame (1), their place in a pack (2), or the id of
-- another blob and the bytes that lie over its bytes (3).
CREATE TABLE blob (
	id    INTEGER PRIMARY KEY,            -- from counter
	sum   BLOB    NOT NULL UNIQUE,        -- BLAKE3-256 of the plain bytes
	size  INTEGER NOT NULL,               -- plain bytes, 1 to 524288
	codec INTEGER NOT NULL,               -- 0: data holds the plain bytes
	data  BLOB    NOT NULL
) STRICT;

-- pack: many blobs in one row, compressed together. Immutable; deleted with the last of its blobs.
CREATE TABLE pack (
	id    INTEGER PRIMARY KEY,            -- from counter
	size  INTEGER NOT NULL,               -- plain bytes of all
	blobs BLOB    NOT NULL,               -- their ids in order, 8 bytes each, big endian
	data  BLOB    NOT NULL                -- a zstd frame of their plain bytes, one after the other
) STRICT;

-- manifest: the ordered chunks of one content. Immutable. body may begin with the id of another manifest, 8 bytes, whose
-- other lines count too.
CREATE TABLE manifest (
	id   INTEGER PRIMARY KEY,             -- from counter
	sum  BLOB    NOT NULL UNIQUE,
	size INTEGER NOT NULL,                -- bytes of the content
	body BLOB    NOT NULL                 -- 36-byte lines: chunk index (big endian), sum; an index left out is a hole
) STRICT;

-- patch: content that is stored as changes over other content, its base. A base is whole, and exists as long as one of them.
CREATE TABLE patch (
	kind INTEGER NOT NULL,                -- of both, as in pin
	base INTEGER NOT NULL,
	id   INTEGER NOT NULL,                -- what is stored over it
	PRIMARY KEY (kind, base, id)
) STRICT, WITHOUT ROWID;

-- lease: a process that stages content or has files open. Dead when its process is gone or its beat is old.
CREATE TABLE lease (
	id     INTEGER PRIMARY KEY AUTOINCREMENT,
	owner  TEXT    NOT NULL,
	floor  INTEGER NOT NULL,              -- blobs above it may be staged
	orphan INTEGER NOT NULL,              -- the newest orphan when the pins were published
	round  INTEGER NOT NULL,              -- the gc round that the pins were published for
	beat   INTEGER NOT NULL               -- ns since 1970
) STRICT;

-- pin: a lease keeps one thing. kind 2: blob id. 3: manifest id. 4: inode id of branch. 5: epoch id of branch.
CREATE TABLE pin (
	lease  INTEGER NOT NULL,
	kind   INTEGER NOT NULL,
	branch INTEGER NOT NULL,
	id     INTEGER NOT NULL,
	PRIMARY KEY (lease, kind, branch, id)
) STRICT, WITHOUT ROWID;

-- gc: the one row (id 1024) of the running or last collection. phase 0: none runs.
CREATE TABLE gc (
	id       INTEGER PRIMARY KEY,
	phase    INTEGER NOT NULL,
	round    INTEGER NOT NULL,            -- grows with every request that open files be published
	floor    INTEGER NOT NULL,            -- no blob above it is taken
	manifest INTEGER NOT NULL,            -- nor any manifest above this
	collector TEXT   NOT NULL,            -- as the owner of a lease
	beat     INTEGER NOT NULL
) STRICT;

-- touched: content that gained a reference while a collection runs (the write barrier). kind as in pin.
CREATE TABLE touched (
	kind INTEGER NOT NULL,
	id   INTEGER NOT NULL,
	PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- doomed: content that the sweep may take. kind as in pin.
CREATE TABLE doomed (
	kind INTEGER NOT NULL,
	id   INTEGER NOT NULL,
	PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

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
	error   TEXT    NOT NULL,
	command TEXT,                         -- the command line, quoted for a shell: of the program that it ran, or its own
	exit    INTEGER,                      -- and its exit code; 128 + the signal that killed it
	first   INTEGER,                      -- the seq of its first change, and
	last    INTEGER,                      -- of its last one; NULL if it made none
	changes INTEGER NOT NULL DEFAULT 0,   -- how many it made, and
	grew    INTEGER NOT NULL DEFAULT 0    -- the bytes by which contents grew, both also of rows that gc has deleted
) STRICT;
CREATE INDEX call_session ON call (session);
CREATE INDEX call_actor ON call (actor);
CREATE INDEX call_tool ON call (tool);
CREATE INDEX call_at ON call (at);

-- change: one row for each path that a verb changed, written in the same commit. Numbers have no gaps: a reader that has
-- seen one knows whether it missed any. gc deletes the oldest.
CREATE TABLE change (
	seq    INTEGER PRIMARY KEY,           -- from counter
	branch INTEGER,                       -- NULL: main, 1024
	epoch  INTEGER NOT NULL,
	at     INTEGER NOT NULL,              -- ns since 1970
	call   INTEGER,
	op     TEXT    NOT NULL,
	path   TEXT    NOT NULL,              -- from the root of the branch; '.' is the root
	arg    TEXT,                          -- the other path of a rename, copy or link; a symlink's target; a name
	before ANY,                           -- sum of the content that was under path; or the seq of the row whose after it is
	after  BLOB,                          -- and that is
	grew   INTEGER NOT NULL,              -- bytes by which the contents of the tree grew
	ino    INTEGER,                       -- the inode that changed; NULL in rows of before version 4, and if none did
	dir    INTEGER                        -- the directory whose entry, the last name of path, changed
) STRICT;

-- other: the second directory and the second inode of a change, if it has any. Most have none, so they are no columns of
-- change. A rename within one directory has no argdir.
CREATE TABLE other (
	seq       INTEGER PRIMARY KEY,        -- of the change
	argdir    INTEGER,                    -- the directory of a second entry that changed
	displaced INTEGER                     -- the inode that lost the name path to ino
) STRICT;

-- trail: of the changes of a full block, those with seq / 256 = block, what they concern: tags and a Bloom filter, so that a reader
-- of one path need not look at all.
CREATE TABLE trail (
	block INTEGER PRIMARY KEY,
	bits  BLOB NOT NULL
) STRICT;

-- step: an epoch in which a call, and nothing else, changed the tree of a branch. So the moments before it and at its end
-- are the states before and after what the call did there.
CREATE TABLE step (
	branch INTEGER NOT NULL,
	epoch  INTEGER NOT NULL,
	call   INTEGER NOT NULL,
	PRIMARY KEY (branch, epoch)
) STRICT, WITHOUT ROWID;
CREATE INDEX step_call ON step (call);

-- undone: from epoch on, what a call did is taken back on the branch, by an undo, which is the call by. If that is taken
-- back itself, the row counts no more.
CREATE TABLE undone (
	branch INTEGER NOT NULL,
	call   INTEGER NOT NULL,
	epoch  INTEGER NOT NULL,
	by     INTEGER NOT NULL,
	PRIMARY KEY (branch, call, epoch)
) STRICT, WITHOUT ROWID;
CREATE INDEX undone_by ON undone (by);
CREATE INDEX undone_epoch ON undone (branch, epoch, by);

-- reaped: of the moments of a branch before epoch, a collection has taken rows. Those that something keeps are whole.
CREATE TABLE reaped (
	branch INTEGER PRIMARY KEY,
	epoch  INTEGER NOT NULL
) STRICT;

-- purge: the purge that was begun and is not finished; at most one row. What it removed is in no tree, and perhaps still in the
-- file.
CREATE TABLE purge (
	id INTEGER PRIMARY KEY,
	at INTEGER NOT NULL                   -- ns since 1970
) STRICT;

INSERT INTO sqlite_sequence (name, seq) VALUES
	('branch', 1023), ('snapshot', 1023), ('orphan', 1023), ('lease', 1023);
INSERT INTO counter (name, next) VALUES ('ino', 1025), ('blob', 1024), ('manifest', 1024), ('change', 1024), ('call', 1024), ('pack', 1024), ('compact', 1024);
INSERT INTO gc (id, phase, round, floor, manifest, collector, beat) VALUES (1024, 0, 2, 0, 0, '', 0);
