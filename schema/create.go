package schema

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite/sqlitex"
)

// prepareFile creates our tables in an empty file, and refuses a file that is not ours.
func prepareFile(ctx context.Context, c *conn, options Options) error {
	// In this order: a file that had no tables a moment ago may be ours by now, made by another process.
	tables, err := c.pragmaInt("schema_version")
	if err != nil {
		return err
	}
	app, version, err := identity(c)
	if err != nil {
		return err
	}

	if tables == 0 && app == 0 {
		if options.ReadOnly || options.MustExist {
			return ErrForeign
		}
		if err := create(ctx, c); err != nil {
			return err
		}
		if app, version, err = identity(c); err != nil {
			return err
		}
	}

	switch {
	case app != applicationID:
		return ErrForeign
	case version > Version:
		return tooNew(version)
	}
	if options.ReadOnly {
		c.old = version < Version
		return nil
	}

	if err := c.pragma("journal_mode=WAL"); err != nil { // a backup arrives without it
		return err
	}
	if err := c.gather(); err != nil {
		return err
	}
	if version < Version {
		if err := migrate(ctx, c); err != nil {
			return err
		}
	}
	return forgetStatistics(ctx, c)
}

// create lays out a new file. The order matters: page_size and auto_vacuum count only before WAL, and WAL before the
// first table; set together in one connection string, the page size is silently lost.
func create(ctx context.Context, c *conn) error {
	for _, p := range []string{fmt.Sprintf("page_size=%d", PageSize), "auto_vacuum=INCREMENTAL", "journal_mode=WAL"} {
		if err := c.pragma(p); err != nil {
			return err
		}
	}
	if err := c.gather(); err != nil {
		return err
	}

	err := c.run(ctx, true, func(tx *Tx) error {
		// Another process may have been first.
		if n, _, err := tx.Int(`SELECT count(*) FROM sqlite_schema`); err != nil || n != 0 {
			return err
		}
		if err := sqlitex.ExecuteScript(c.sq, "SAVEPOINT tables;"+tables+";RELEASE tables;", nil); err != nil {
			return fmt.Errorf("create tables: %w", mapError(err))
		}

		id := make([]byte, 16)
		if _, err := rand.Read(id); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO meta (key, value) VALUES ('id', ?), ('chunk_size', ?), ('created', ?)`,
			hex.EncodeToString(id), int64(chunkSize), time.Now().UnixNano()); err != nil {
			return err
		}
		if err := firstBranch(tx); err != nil {
			return err
		}

		// A file with our application id is whole.
		if err := c.pragma(fmt.Sprintf("application_id=%d", applicationID)); err != nil {
			return err
		}
		return c.pragma(fmt.Sprintf("user_version=%d", Version))
	})
	if err != nil {
		return err
	}

	for name, want := range map[string]int64{"page_size": PageSize, "auto_vacuum": 2} {
		if got, err := c.pragmaInt(name); err != nil || got != want {
			return fmt.Errorf("new file has %s %d, not %d: %w", name, got, want, ErrForeign)
		}
	}
	return nil
}

// firstBranch makes the branch main with an empty root, so that no file of ours is ever without one.
func firstBranch(tx *Tx) error {
	now := time.Now().UnixNano()
	for _, step := range []struct {
		text string
		args []any
	}{
		{`INSERT INTO branch (id, name, epoch, created) VALUES (1024, 'main', 2, ?)`, []any{now}},
		{`INSERT INTO lineage (branch, level, ancestor, epoch) VALUES (1024, 0, 1024, 9223372036854775806)`, nil},
		{`INSERT INTO inode (branch, ino, died, born, mode, uid, gid, nlink, rdev, size, mtime, ctime, btime)
			VALUES (1024, 1024, 9223372036854775807, 2, 16877, 0, 0, 1, 0, 0, ?1, ?1, ?1)`, []any{now}},
	} {
		if _, err := tx.Exec(step.text, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// forgetStatistics drops the statistics that a foreign ANALYZE left: with them, each bind plans its statement anew, ten
// times slower.
func forgetStatistics(ctx context.Context, c *conn) error {
	const find = `SELECT count(*) FROM sqlite_schema WHERE name IN ('sqlite_stat1', 'sqlite_stat4')`
	var n int64
	err := c.run(ctx, false, func(tx *Tx) (err error) {
		n, _, err = tx.Int(find)
		return err
	})
	if err != nil || n == 0 {
		return err
	}
	return c.run(ctx, true, func(tx *Tx) error {
		for _, table := range []string{"sqlite_stat1", "sqlite_stat4"} {
			if _, err := tx.Exec(`DROP TABLE IF EXISTS ` + table); err != nil {
				return err
			}
		}
		return nil
	})
}
