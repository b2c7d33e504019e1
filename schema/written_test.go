package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// Written follows from the statements of a transaction; a statement that it does not understand may have written anything.
func TestWritten(t *testing.T) {
	ctx := t.Context()
	db := open(t, t.TempDir()+"/a.db", schema.Options{})
	const anything = schema.WroteTrees | schema.WroteBranches | schema.WroteKept
	var written schema.Written
	commits := 0
	db.OnCommit(func(tx *schema.Tx) { written, commits = tx.Written(), commits+1 })
	for text, want := range map[string]schema.Written{
		`SELECT id FROM branch`:                                                                  0,
		`INSERT OR IGNORE INTO touched (kind, id) VALUES (1, 1)`:                                 0,
		`UPDATE gc SET round = round + 1 WHERE id = 1024 RETURNING round`:                        0,
		`UPDATE inode SET nlink = 1 WHERE ino = 0`:                                               schema.WroteTrees,
		`DELETE FROM dirent WHERE ino = 0`:                                                       schema.WroteTrees,
		`INSERT INTO dirent(branch, parent, name, died, born, kind) VALUES (9, 9, 'a', 9, 8, 8)`: schema.WroteTrees,
		`UPDATE branch SET epoch = epoch WHERE id = 0`:                                           schema.WroteBranches,
		`INSERT INTO branch (name, epoch, created) VALUES (NULL, 2, 0)`:                          0,
		`REPLACE INTO branch (id, epoch, created) VALUES (2000, 2, 0)`:                           anything,
		`INSERT OR REPLACE INTO branch (id, epoch, created) VALUES (1, 2, 0)`:                    anything,
		`DELETE FROM snapshot WHERE id = 0`:                                                      schema.WroteKept,
		`DELETE FROM lineage WHERE branch = 0`:                                                   schema.WroteKept,
		`insert into branch (name, epoch, created) values (null, 2, 0)`:                          0,
		`insert or ignore into branch (id, epoch, created) values (1, 2, 0)`:                     0,
		`insert or replace into branch (id, epoch, created) values (1, 2, 0)`:                    anything,
		`insert into branch (id, epoch, created) values (1, 2, 0)
			on conflict (id) do update set epoch = 2`: anything,
		`update main.inode set nlink = 1 where ino = 0`:              schema.WroteTrees,
		`delete from 'dirent' where ino = 0`:                         schema.WroteTrees,
		`DELETE FROM "main"."dirent" WHERE ino = 0`:                  anything,
		`WITH a AS (SELECT 0 AS i) DELETE FROM inode WHERE ino IN a`: anything,
	} {
		before := commits
		require.NoError(t, db.Update(ctx, func(tx *schema.Tx) error {
			rows := tx.Query(text)
			for rows.Next() {
			}
			return rows.Err()
		}), text)
		require.Equal(t, before+1, commits)
		require.Equal(t, want, written, text)
		require.NoError(t, db.Stage(ctx, func(*schema.Tx) error { return nil }))
		require.Zero(t, written, "of this transaction")
	}
}
