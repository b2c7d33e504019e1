-- From version 5 to 6: conflicts of inodes, and the table merge, as in tables.sql. A collector of version 5 does not know what
-- these keep, so it must not find its column.

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
