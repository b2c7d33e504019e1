//go:build linux

package damage

import (
	"encoding/binary"
	"testing"
)

// A damage is one way to damage a store.
type damage struct {
	name string
	sql  string // statements, apart by ";\n"; <path> is the number of an inode of main
	edit func(t *testing.T, p pages) []byte

	check string // a part of its fault; "" if the row looks like one that was written
	fails string // operations that must fail with ErrCorrupt; "open": all
	wrong string // operations that may answer wrongly, because nothing shows that the row is damaged
}

const forever = "9223372036854775807"

var damages = []damage{
	{name: "none", sql: "SELECT 1"},

	// Lengths that rows say.
	{name: "size of a small file", check: "bytes has no manifest, or a blob beside it", fails: "read readdir find export", sql: `UPDATE inode SET size = 4000000000000 WHERE ino = <small>`},
	{name: "size of a small file by one", check: "bytes is blob", fails: "read export edit grep", wrong: "stat", sql: `UPDATE inode SET size = size + 1 WHERE ino = <small>`},
	{name: "size below nothing", check: "has the size", fails: "read readdir find export", sql: `UPDATE inode SET size = -1 WHERE ino = <small>`},
	{name: "size of a long file", check: "bytes is manifest", fails: "read grep tar many", wrong: "stat", sql: `UPDATE inode SET size = 2251799813685248 WHERE ino = <big>`},
	{name: "size of a file beyond all", check: "has the size", fails: "read readdir find base", sql: `UPDATE inode SET size = 9223372036854775807 WHERE ino = <big>`},
	{name: "size of a manifest", check: "bytes is manifest", fails: "read long gc again", sql: `UPDATE manifest SET size = 1125899906842624`},
	{name: "size of a file and its manifest", check: "body does not match its sum", fails: "read gc again grep", wrong: "stat", sql: `UPDATE inode SET size = 900000000 WHERE ino = <big>;
UPDATE manifest SET size = 900000000 WHERE id = (SELECT manifest FROM inode WHERE ino = <big>)`},
	{name: "size of blobs", check: "bytes is blob", fails: "read long export base", sql: `UPDATE blob SET size = 1099511627776`},
	{name: "size of blobs nothing", check: "bytes is blob", fails: "read long export base", sql: `UPDATE blob SET size = 0`},
	{name: "size of a directory", check: "has content of", fails: "readdir find export copy", sql: `UPDATE inode SET size = 1099511627776 WHERE ino = <dir>`},
	{name: "size of packs", check: "bytes in", fails: "read export base edit", sql: `UPDATE pack SET size = 1099511627776`},
	{name: "frame that says it is long", check: "is no zstd frame of its bytes", fails: "read export base edit", sql: `UPDATE blob SET codec = 1, data = x'28b52ffde00000000000010000010000' WHERE codec = 2`},
	{name: "frame that is none", check: "is no zstd frame of its bytes", fails: "read export base edit", sql: `UPDATE pack SET data = zeroblob(length(data))`},
	{name: "length of a delta", check: "has a patch of", fails: "read long append again", sql: `UPDATE blob SET data = CAST(substr(data, 1, 12) || x'ffffffff' || substr(data, 17) AS BLOB) WHERE codec = 3`},
	{name: "offset of a delta", check: "has a patch up to", fails: "read long append again", sql: `UPDATE blob SET data = CAST(substr(data, 1, 8) || x'ffffffff' || substr(data, 13) AS BLOB) WHERE codec = 3`},
	{name: "length of a target", check: "has a target of", fails: "readdir find base stat", sql: `UPDATE inode SET target = zeroblob(10000000) WHERE ino = <link>`},
	{name: "target of nothing", check: "has a target of", fails: "readdir find base stat", sql: `UPDATE inode SET target = x'' WHERE ino = <link>`},
	{name: "length of attributes", check: "attributes of", fails: "readdir find export copy", sql: `UPDATE inode SET xattrs = zeroblob(10000000) WHERE ino = <dir/sub>`},
	{name: "length of a name", check: "cannot be a name", fails: "find export copy base", sql: `UPDATE dirent SET name = printf('%1000000d', 1) WHERE ino = <dir/sub>`},
	{name: "length of a note", sql: `UPDATE snapshot SET note = printf('%9000000d', 1)`},
	{name: "length of a call", sql: `UPDATE call SET error = printf('%9000000d', 1)`},
	{name: "length of a path in the log", check: "is not in the trail of its block", sql: `UPDATE change SET path = printf('%5000000d', 1) WHERE seq = 1100`},
	{name: "length of a list of a pack", check: "has a list of", sql: `UPDATE pack SET blobs = zeroblob(9000000)`},

	// Content.
	{name: "bytes of a blob", check: "bytes do not match their sum", fails: "read long try append", sql: `UPDATE blob SET data = zeroblob(length(data)) WHERE codec = 0`},
	{name: "blob cut", check: "bytes where there must be", fails: "read long try append", sql: `UPDATE blob SET data = substr(data, 2) WHERE codec = 0`},
	{name: "blob missing", check: "is missing", fails: "read export copy base", sql: `DELETE FROM blob WHERE id = (SELECT blob FROM inode WHERE ino = <small>)`},
	{name: "all blobs missing", check: "is missing", fails: "read long export copy", sql: `DELETE FROM blob`},
	{name: "sum of a blob", check: "bytes do not match their sum", fails: "read export base edit", sql: `UPDATE blob SET sum = randomblob(32) WHERE id = (SELECT blob FROM inode WHERE ino = <small>)`},
	{name: "sum too short", check: "has another sum in its row", fails: "read export copy base", sql: `UPDATE blob SET sum = substr(sum, 2) WHERE id = (SELECT blob FROM inode WHERE ino = <small>)`},
	{name: "codec unknown", check: "unknown codec", fails: "read long export base", sql: `UPDATE blob SET codec = 9`},
	{name: "delta over itself", check: "is stored as patches itself", fails: "read long append again", sql: `UPDATE blob SET data = CAST(unhex(printf('%016x', id)) || substr(data, 9) AS BLOB) WHERE codec = 3`},
	{name: "delta without a base", check: "its base, blob", fails: "read long append again", sql: `UPDATE blob SET data = CAST(x'7fffffffffffffff' || substr(data, 9) AS BLOB) WHERE codec = 3`},
	{name: "pack missing", check: "is missing", fails: "read export base edit", sql: `DELETE FROM pack`},
	{name: "place in a pack", check: "is past the end of pack", fails: "read export base edit", sql: `UPDATE blob SET data = CAST(substr(data, 1, 8) || x'fffffff0' AS BLOB) WHERE codec = 2`},
	{name: "pack of odd length", check: "has a list of", sql: `UPDATE pack SET blobs = substr(blobs, 2)`},
	{name: "manifest missing", check: "is missing", fails: "read long gc grep", sql: `DELETE FROM manifest`},
	{name: "manifest cut", check: "bytes, which is no number of lines", fails: "read long gc again", sql: `UPDATE manifest SET body = substr(body, 1, length(body) - 1) WHERE length(body) > 0`},
	{name: "lines of a manifest out of order", check: "is out of order", fails: "read long gc again", sql: `UPDATE manifest SET body = CAST(x'00000002' || substr(body, 5) AS BLOB) WHERE length(body) % 36 = 0 AND length(body) > 0`},
	{name: "sum of a manifest", check: "body does not match its sum", fails: "read long gc grep", sql: `UPDATE manifest SET sum = randomblob(32)`},
	{name: "manifest over itself", check: "its base, manifest", fails: "long gc dryRun", sql: `UPDATE manifest SET body = CAST(unhex(printf('%016x', id)) || substr(body, 9) AS BLOB) WHERE length(body) % 36 = 8`},
	{name: "blob of another file", wrong: "file many range read stat", sql: `UPDATE inode SET blob = (SELECT blob FROM inode WHERE ino = <many/f001>), size = (SELECT size FROM inode WHERE ino = <many/f001>) WHERE ino = <many/f123>`},
	{name: "blob and manifest", check: "bytes has no manifest, or a blob beside it", fails: "read readdir find base", sql: `UPDATE inode SET blob = 1024 WHERE ino = <big>`},
	{name: "patches forgotten", check: "nothing keeps its base, blob", sql: `DELETE FROM patch`},
	{name: "patches in a circle", check: "is not stored as patches over blob", sql: `INSERT INTO patch SELECT kind, id, base FROM patch`},

	// The tree.
	{name: "directory in itself", check: "has more than one name", fails: "find export copy base", wrong: "readdir", sql: `INSERT INTO dirent SELECT 1024, <dir>, 'loop', ` + forever + `, 2, <dir>, 4`},
	{name: "directory below itself", check: "has more than one name", fails: "find export copy base", sql: `INSERT INTO dirent SELECT 1024, <dir/sub/deep>, 'a', ` + forever + `, 2, <dir>, 4;
INSERT INTO dirent SELECT 1024, <dir/sub/deep>, 'b', ` + forever + `, 2, <dir>, 4`},
	{name: "root below itself", check: "root has a name", fails: "find export copy base", wrong: "readdir", sql: `INSERT INTO dirent SELECT 1024, <dir/sub>, 'root', ` + forever + `, 2, 1024, 4`},
	{name: "circle without a way in", check: "is below itself", fails: "gc diffApart", wrong: "readdir", sql: `UPDATE dirent SET parent = <dir/sub/deep> WHERE ino = <dir>`},
	{name: "two names", check: "has more than one name", fails: "find grep usage", wrong: "readdir", sql: `INSERT INTO dirent SELECT 1024, 1024, 'twice', ` + forever + `, 2, <dir/sub>, 4`},
	{name: "two names, forty deep", check: "has more than one name", fails: "find export copy base", wrong: "readdir", sql: `INSERT INTO inode SELECT 1024, 900000 + value, ` + forever + `, 2, 16877, 0, 0, 1, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL FROM (WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < 40) SELECT value FROM n);
INSERT INTO dirent SELECT 1024, ino - 1, 'a', ` + forever + `, 2, ino, 4 FROM inode WHERE ino BETWEEN 900001 AND 900040;
INSERT INTO dirent SELECT 1024, ino - 1, 'b', ` + forever + `, 2, ino, 4 FROM inode WHERE ino BETWEEN 900001 AND 900040;
INSERT INTO dirent SELECT 1024, <dir>, 'top', ` + forever + `, 2, 900000, 4`},
	{name: "inode missing", check: "entry shows inode", fails: "read readdir find export", sql: `DELETE FROM inode WHERE ino = <small>`},
	{name: "inode of a directory missing", check: "has its name in a directory that is missing", fails: "readdir find copy base", sql: `DELETE FROM inode WHERE ino = <dir>`},
	{name: "root missing", check: "root is missing", fails: "readdir copy base write", sql: `DELETE FROM inode WHERE ino = 1024`},
	{name: "root a file", check: "root is a file", fails: "readdir base walk tar", sql: `UPDATE inode SET mode = 33188 WHERE ino = 1024`},
	{name: "mode", check: "has the mode", fails: "read readdir find export", sql: `UPDATE inode SET mode = 61440 WHERE ino = <small>`},
	{name: "mode below nothing", check: "has the mode", fails: "read readdir find export", sql: `UPDATE inode SET mode = -1 WHERE ino = <small>`},
	{name: "links below nothing", check: "has nlink", fails: "read readdir find export", sql: `UPDATE inode SET nlink = -1 WHERE ino = <small>`},
	{name: "a file shown as a directory", check: "entry shows a directory, but inode", fails: "read readdir find export", sql: `UPDATE dirent SET kind = 4 WHERE ino = <small>`},
	{name: "a directory shown as a file", check: "entry shows a file, but inode", fails: "readdir find copy base", sql: `UPDATE dirent SET kind = 8 WHERE ino = <dir>`},
	{name: "a directory shown as a link", check: "entry shows a symlink, but inode", fails: "read readdir find export", sql: `UPDATE dirent SET kind = 10 WHERE ino = <dir>`},
	{name: "a file that is a directory", check: "entry shows a file, but inode", fails: "read readdir find base", sql: `UPDATE inode SET mode = 16877, size = 0, blob = NULL WHERE ino = <many/f123>`},
	{name: "name with a slash", check: "cannot be a name", fails: "readdir find base gc", sql: `UPDATE dirent SET name = 'a/b' WHERE ino = <many/f123>`},
	{name: "name with NUL", check: "cannot be a name", fails: "readdir find base gc", sql: `UPDATE dirent SET name = 'a' || char(0) || 'b' WHERE ino = <many/f123>`},
	{name: "name of nothing", check: "cannot be a name", wrong: "readdir", sql: `UPDATE dirent SET name = '' WHERE ino = <many/f123>`},
	{name: "name that leads up", check: "cannot be a name", fails: "readdir find base gc", sql: `UPDATE dirent SET name = '..' WHERE ino = <many/f123>`},
	{name: "life that ends before it begins", check: "born in epoch 100", fails: "base", sql: `UPDATE inode SET born = 100 WHERE ino = <small>`},
	{name: "times", sql: `UPDATE inode SET mtime = ` + forever + `, ctime = -` + forever + ` WHERE ino = <small>`},

	// History.
	{name: "lineage without end", check: "levels", fails: "open", sql: `INSERT INTO lineage SELECT 1024, value, 1024, 2 FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 100000) SELECT value FROM n)`},
	{name: "lineage with a gap", check: "lineage goes from level", fails: "try gc dryRun", sql: `UPDATE lineage SET level = level + 1 WHERE level > 0`},
	{name: "lineage in a circle", check: "branch is its own ancestor", sql: `INSERT INTO lineage SELECT 1024, 1, id, 2 FROM branch WHERE name = 'try'`},
	{name: "ancestor missing", check: "is missing", fails: "try gc dryRun", sql: `UPDATE lineage SET ancestor = 4000 WHERE level > 0`},
	{name: "lineage missing", check: "has no lineage", fails: "open", sql: `DELETE FROM lineage`},
	{name: "branch main missing", check: "there is no branch main", fails: "open", sql: `DELETE FROM branch WHERE name = 'main'`},
	{name: "epoch of a branch", check: "branch is in epoch", fails: "copy restore write gc", sql: `UPDATE branch SET epoch = ` + forever},
	{name: "epoch below nothing", check: "branch is in epoch", fails: "copy try restore write", sql: `UPDATE branch SET epoch = -5`},
	{name: "epoch of a snapshot", check: "but the branch is in epoch", fails: "diff base restore", sql: `UPDATE snapshot SET epoch = ` + forever},
	{name: "snapshot of nobody", check: "snapshot of branch", fails: "diff base restore", sql: `UPDATE snapshot SET branch = 4000`},
	{name: "name of a branch", check: "branch has an invalid name", sql: `UPDATE branch SET name = 'a/b' WHERE name = 'try'`},
	{name: "many snapshots", sql: `INSERT INTO snapshot (name, branch, epoch, created, note) SELECT 'n' || value, 1024, 2, 0, '' FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 20000) SELECT value FROM n)`},

	// Numbers and the log.
	{name: "counters at the end", check: "the counter of change stands at", fails: "copy log restore write", sql: `UPDATE counter SET next = ` + forever},
	{name: "counters below nothing", check: "the counter of change stands at", fails: "copy log restore write", sql: `UPDATE counter SET next = -5`},
	{name: "counters at the start", check: "the newest change is", fails: "copy restore write gc", sql: `UPDATE counter SET next = 1024`},
	{name: "counters missing", check: "the counter of change is missing", fails: "copy log restore write", sql: `DELETE FROM counter`},
	{name: "id at the end", check: "is missing", fails: "try compact", sql: `UPDATE blob SET id = ` + forever + ` WHERE id = (SELECT max(id) FROM blob)`},
	{name: "pack at the end", check: "is missing", fails: "read export base compact", sql: `UPDATE pack SET id = ` + forever + ` WHERE id = (SELECT max(id) FROM pack)`},
	{name: "change at the end", check: "follows change", sql: `UPDATE change SET seq = 4611686018427387904 WHERE seq = (SELECT max(seq) FROM change)`},
	{name: "change below nothing", check: "rows of table change go from", fails: "log gc dryRun watch", sql: `UPDATE change SET seq = -4611686018427387904 WHERE seq = (SELECT min(seq) FROM change)`},
	{name: "changes far apart", check: "follows change", fails: "log", sql: `UPDATE change SET seq = seq + 1099511627776 WHERE seq > 1200;
UPDATE counter SET next = next + 1099511627776 WHERE name = 'change'`},
	{name: "marks of a trail", check: "is not in the trail of its block", sql: `UPDATE trail SET bits = zeroblob(length(bits))`},
	{name: "tags of a trail", check: "is not in the trail of its block", sql: `UPDATE trail SET bits = CAST(zeroblob(512) || substr(bits, 513) AS BLOB)`},
	{name: "size of a trail", check: "is not in the trail of its block", sql: `UPDATE trail SET bits = x'ff'`},
	{name: "range of a call", check: "does not count its changes", sql: `UPDATE call SET first = 1, last = 1152921504606846976`},
	{name: "growth", check: "does not count its changes", sql: `UPDATE change SET grew = ` + forever},
	{name: "calls far apart", check: "but the counter says", sql: `UPDATE call SET id = id + 1099511627776`},

	// Collection.
	{name: "state of gc missing", check: "the row of table gc is missing, or damaged", fails: "gc", sql: `DELETE FROM gc`},
	{name: "state of gc", check: "the row of table gc is missing, or damaged", fails: "gc", sql: `UPDATE gc SET phase = 2, round = ` + forever},
	{name: "sweep of all", check: "is in use, and doomed", fails: "gc", sql: `UPDATE gc SET phase = 2;
INSERT INTO doomed SELECT 2, id FROM blob;
INSERT INTO doomed SELECT 3, id FROM manifest`},
	{name: "orphans that live", sql: `INSERT INTO orphan (branch, ino) SELECT branch, ino FROM inode`},
	{name: "orphans without end", sql: `INSERT INTO orphan (branch, ino) SELECT 1024, value FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 20000) SELECT value FROM n)`},
	{name: "orphan at the end", check: "the numbers of table orphan stand at", sql: `INSERT INTO orphan VALUES (` + forever + `, 1024, 5)`},
	{name: "touched without end", sql: `INSERT INTO touched SELECT 2, value FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 20000) SELECT value FROM n)`},

	// Tables.
	{name: "table missing", check: "table dirent is missing", fails: "read long readdir find", sql: `DROP TABLE dirent`},
	{name: "small table missing", check: "table lease is missing", fails: "gc append tar dryRun", sql: `DROP TABLE lease`},
	{name: "column missing", check: "column mtime of table inode is missing", fails: "read long readdir find", sql: `ALTER TABLE inode RENAME COLUMN mtime TO m`},
	{name: "index missing", check: "index inode_links is missing", fails: "gc remove", sql: `DROP INDEX inode_links`},

	// Pages.
	{name: "leaves of blob exchanged", check: "database main", fails: "read restore again copyMany", edit: swapLeaves("blob")},
	{name: "leaves of inode exchanged", check: "row not in PRIMARY KEY order for inode", fails: "read readdir find copy", edit: swapLeaves("inode")},
	{name: "leaves of dirent exchanged", check: "row not in PRIMARY KEY order for dirent", wrong: "readdir", edit: swapLeaves("dirent")},
	{name: "leaves of change exchanged", check: "database main", edit: swapLeaves("change")},
	{name: "leaves of an index exchanged", check: "missing from index dirent_ino", fails: "gc remove rename", edit: swapLeaves("dirent_ino")},
	{name: "leaves of sums exchanged", check: "missing from index sqlite_autoindex_blob_", fails: "read long gc append", edit: swapLeaves("sqlite_autoindex_blob_1")},
	{name: "leaf of blob twice", check: "database main", fails: "copyMany grep tar", edit: moveLeaf("blob")},
	{name: "leaf of inode twice", check: "database main", fails: "read readdir find base", edit: moveLeaf("inode")},
	{name: "leaf of dirent twice", check: "database main", fails: "find base gc", wrong: "readdir", edit: moveLeaf("dirent")},
	{name: "leaf of change twice", check: "database main", fails: "log watch", edit: moveLeaf("change")},
	{name: "leaf of blob cut", check: "database main", fails: "copyMany grep tar", edit: cutLeaf("blob")},
	{name: "leaf of inode cut", check: "database main", fails: "read readdir find base", edit: cutLeaf("inode")},
	{name: "leaf of dirent cut", check: "database main", fails: "copyMany", wrong: "readdir", edit: cutLeaf("dirent")},
	{name: "leaf of change cut", check: "database main", edit: cutLeaf("change")},
	{name: "leaf of an index cut", check: "database main", fails: "gc remove rename", edit: cutLeaf("dirent_ino")},
	{name: "blob below itself", check: "database disk image is malformed", fails: "read restore compact again", edit: pointUp("blob")},
	{name: "inode below itself", check: "database disk image is malformed", fails: "readdir find copy diff", edit: pointUp("inode")},
	{name: "dirent below itself", check: "database disk image is malformed", fails: "read readdir find export", edit: pointUp("dirent")},
	{name: "leaf of blob zeros", check: "database disk image is malformed", fails: "compact copyMany grep tar", edit: zeroed("blob")},
	{name: "leaf of inode zeros", check: "database disk image is malformed", fails: "readdir find base gc", edit: zeroed("inode")},
	{name: "leaf of dirent zeros", check: "database disk image is malformed", fails: "read long readdir find", edit: zeroed("dirent")},
	{name: "leaf of branch zeros", check: "database disk image is malformed", fails: "open", edit: zeroed("branch")},
	{name: "leaf of counter zeros", check: "database disk image is malformed", fails: "copy log restore write", edit: zeroed("counter")},
	{name: "index of branches exchanged", check: "the index of branches is wrong about", fails: "open", edit: swapInLeaves("sqlite_autoindex_branch_1", "main\x04\x00", "try\x04\x02")},
	{name: "index of branches leads astray", check: "the index of branches is wrong about", fails: "open", edit: swapRows("sqlite_autoindex_branch_1")},
	{name: "index of branches hides one", check: "missing from index sqlite_autoindex_branch_", fails: "try gc deleteBranch", edit: inLeaves("sqlite_autoindex_branch_1", "try", "trz")},
	{name: "index of snapshots leads astray", check: "missing from index sqlite_autoindex_snapshot_", fails: "diff base restore gc", edit: swapRows("sqlite_autoindex_snapshot_1")},
	{name: "index of snapshots hides one", check: "missing from index sqlite_autoindex_snapshot_", fails: "diff base restore gc", edit: inLeaves("sqlite_autoindex_snapshot_1", "base", "basf")},
	{name: "index of kept moments", check: "database main", fails: "gc", edit: zeroEntries("snapshot_cap")},
	{name: "index of ancestors", check: "database main", fails: "gc deleteBranch", edit: zeroEntries("lineage_cap")},
	{name: "index of sums leads astray", check: "missing from index sqlite_autoindex_blob_", edit: swapRows("sqlite_autoindex_blob_1")},
	{name: "index of manifests leads astray", check: "missing from index sqlite_autoindex_manifest_", edit: swapRows("sqlite_autoindex_manifest_1")},
	{name: "index of births cut", check: "malformed", fails: "restore gc", edit: zeroEntries("inode_born")},
	{name: "index of deaths cut", check: "database main", edit: zeroEntries("dirent_died")},
	{name: "index of links cut", check: "database main", fails: "edit", edit: zeroEntries("inode_links")},
	{name: "number of pages", check: "malformed", fails: "open", edit: header(28, 3)},
	{name: "list of free pages", check: "database main", edit: header(32, 5)},
	{name: "count of free pages", check: "database main", fails: "gc compact copyMany", edit: header(36, 1<<30)},
	{name: "file cut in half", check: "database disk image is malformed", fails: "open", edit: func(t *testing.T, p pages) []byte { return p.file[:len(p.file)/2/8192*8192] }},
	{name: "file cut to a page", check: "database disk image is malformed", fails: "open", edit: func(t *testing.T, p pages) []byte { return p.file[:8192] }},
	{name: "chain of pages of a long value", check: "database main", fails: "long", edit: func(t *testing.T, p pages) []byte {
		// A page of the value leads to itself: it is one whose first bytes are the number of the next.
		for n := len(p.file)/8192 - 1; n > 2; n-- {
			page := p.page(n)
			if next := binary.BigEndian.Uint32(page); next == uint32(n+1) && page[4] > 0x10 {
				binary.BigEndian.PutUint32(page, uint32(n))
				return p.file
			}
		}
		t.Fatal("there is no such page")
		return nil
	}},
}
