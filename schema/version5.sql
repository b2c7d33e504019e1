-- From version 4 to 5: extended attributes of inodes, command lines of calls, and the table other, as in tables.sql. Rows of
-- change are written anew, each some bytes shorter.

ALTER TABLE inode ADD COLUMN xattrs BLOB;
ALTER TABLE call ADD COLUMN command TEXT;
ALTER TABLE call ADD COLUMN exit INTEGER;

-- other: the second directory and the second inode of a change, if it has any. Most have none, so they are no columns of
-- change. A rename within one directory has no argdir.
CREATE TABLE other (
	seq       INTEGER PRIMARY KEY,        -- of the change
	argdir    INTEGER,                    -- the directory of a second entry that changed
	displaced INTEGER                     -- the inode that lost the name path to ino
) STRICT;

INSERT INTO other (seq, argdir, displaced)
	SELECT seq, iif(op = 'rename' AND argdir IS dir, NULL, argdir), displaced FROM change
	WHERE displaced IS NOT NULL OR argdir IS NOT NULL AND NOT (op = 'rename' AND argdir IS dir);

ALTER TABLE change RENAME TO change4;

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

INSERT INTO change (seq, branch, epoch, at, call, op, path, arg, before, after, grew, ino, dir)
	SELECT seq, nullif(branch, 1024), epoch, at, call, op, path, arg, before, after, grew, ino, dir FROM change4 ORDER BY seq;

DROP TABLE change4;
