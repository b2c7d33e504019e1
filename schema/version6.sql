-- From version 5 to 6: conflicts of inodes, indexes of calls and what they changed, and the tables merge, step, undone, reaped and purge, as in tables.sql. A collector of
-- version 5 does not know what these keep, so it must not find its column.

ALTER TABLE inode ADD COLUMN conflict BLOB;
CREATE INDEX inode_conflict ON inode (branch, ino) WHERE conflict IS NOT NULL;

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

ALTER TABLE gc RENAME COLUMN owner TO collector;

-- What a call changed, counted in its row.
ALTER TABLE call ADD COLUMN first INTEGER;
ALTER TABLE call ADD COLUMN last INTEGER;
ALTER TABLE call ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE call ADD COLUMN grew INTEGER NOT NULL DEFAULT 0;
UPDATE call SET first = c.first, last = c.last, changes = c.changes, grew = c.grew
	FROM (SELECT call AS id, min(seq) AS first, max(seq) AS last, count(*) AS changes, sum(grew) AS grew FROM change GROUP BY call) c
	WHERE c.id = call.id;

CREATE INDEX call_session ON call (session);
CREATE INDEX call_actor ON call (actor);
CREATE INDEX call_tool ON call (tool);
CREATE INDEX call_at ON call (at);

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
