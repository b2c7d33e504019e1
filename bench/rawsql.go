package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "modernc.org/sqlite" // the plain driver

	"vfsdb/bench/figures"
	"vfsdb/vfs"
)

// rawSQL writes small files in one commit, beside their bare rows: the same values in the same tables of another new
// file, known beforehand and inserted through the plain driver of the same engine. The time that ours takes longer is
// for hashing, paths, the log, and our share of the statements.
func rawSQL(b *bench) error {
	n := b.size(10_000, 300)
	files := func(round int) []file { return makeFiles(n, 1024, 1024, uint64(round)) }
	times, err := b.race(b.rounds,
		side{"ours", func(round int) (time.Duration, error) {
			_, t, err := b.filled(fmt.Sprintf("ours-%d", round), files(round))
			return t, err
		}},
		side{"raw", func(round int) (time.Duration, error) {
			like, _, err := b.filled(fmt.Sprintf("like-%d", round), files(round))
			if err != nil {
				return 0, err
			}

			rows, err := readRows(b.ctx, like)
			if err != nil {
				return 0, err
			}
			if len(rows) != n {
				return 0, fmt.Errorf("%d rows of %d files", len(rows), n)
			}

			raw, err := openRaw(b.ctx, b.path("raw-%d.db", round))
			if err != nil {
				return 0, err
			}
			t, err := b.timed(func() error { return raw.insert(b.ctx, rows) })
			return t, errors.Join(err, raw.Close())
		}},
	)
	if err != nil {
		return err
	}

	b.add(versus(fmt.Sprintf("the rows of %s new files, 1 KiB", thousands(n)), times[0], "raw SQLite", times[1], 0.77).aim(0.87).
		with("ours takes %s of raw SQLite's time; 1.3x is 0.77x, 1.15x is 0.87x", figures.Digits(float64(times[0])/float64(times[1]))+"x"))
	return nil
}

// filled makes a store with files that it writes in one commit, and returns its name and how long the commit took.
func (b *bench) filled(name string, files []file) (string, time.Duration, error) {
	fsys, err := b.openNew(name)
	if err != nil {
		return "", 0, err
	}
	defer fsys.Close()
	if err := makeDirs(b.ctx, fsys, "", files); err != nil {
		return "", 0, err
	}
	t, err := b.timed(func() error { return writeFiles(b.ctx, fsys, "", files) })
	return fsys.Store().Path(), t, err
}

// rawRows are the rows of a new file: one of each of rawTables.
type rawRows [4][]any

// rawTables are the tables in which a new file has a row, each with the column that orders its rows, and its number of
// columns.
var rawTables = [4]struct {
	name, order string
	columns     int
}{
	{"blob", "id", 5},
	{"inode", "ino", 18},
	{"dirent", "ino", 7},
	{"change", "seq", 13},
}

// readRows reads the rows of all regular files of a store.
func readRows(ctx context.Context, name string) ([]rawRows, error) {
	db, err := sql.Open("sqlite", "file:"+name+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer db.Close()

	var all []rawRows
	for i, table := range rawTables {
		where := ""
		switch table.name {
		case "inode":
			where = "WHERE blob IS NOT NULL"
		case "dirent":
			where = "WHERE kind = 8"
		case "change":
			where = "WHERE op = 'create'"
		}

		rows, err := db.QueryContext(ctx, fmt.Sprintf("SELECT * FROM %s %s ORDER BY %s", table.name, where, table.order))
		if err != nil {
			return nil, err
		}
		defer rows.Close()

		n := 0
		for ; rows.Next(); n++ {
			values, into := make([]any, table.columns), make([]any, table.columns)
			for c := range values {
				into[c] = &values[c]
			}
			if err := rows.Scan(into...); err != nil {
				return nil, err
			}
			if n == len(all) {
				all = append(all, rawRows{})
			}
			all[n][i] = values
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}

		if n != len(all) {
			return nil, fmt.Errorf("table %s has %d rows for %d files", table.name, n, len(all))
		}
	}
	return all, nil
}

// A rawFile is a file with our tables, open in one connection of the plain driver.
type rawFile struct {
	db   *sql.DB
	conn *sql.Conn
	stmt [4]*sql.Stmt
}

// openRaw makes a file with our tables, and only the rows that every store has. It has the settings of our writer, but
// its log is never folded, as ours is.
func openRaw(ctx context.Context, name string) (*rawFile, error) {
	fsys, err := vfs.Open(ctx, name, nil)
	if err != nil {
		return nil, err
	}
	if err := fsys.Close(); err != nil {
		return nil, err
	}

	r := new(rawFile)
	if r.db, err = sql.Open("sqlite", "file:"+name); err != nil {
		return nil, err
	}
	if r.conn, err = r.db.Conn(ctx); err != nil {
		return nil, errors.Join(err, r.db.Close())
	}

	for _, pragma := range []string{"cache_size=-8192", "temp_store=MEMORY", "synchronous=FULL", "wal_autocheckpoint=0"} {
		if _, err := r.conn.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}

	for i, table := range rawTables {
		marks := "?"
		for range table.columns - 1 {
			marks += ", ?"
		}
		if r.stmt[i], err = r.conn.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%s)", table.name, marks)); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

// insert writes the rows of files, in the order in which ours are written, in one commit.
func (r *rawFile) insert(ctx context.Context, files []rawRows) error {
	if _, err := r.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, rows := range files {
		for i, values := range rows {
			if _, err := r.stmt[i].ExecContext(ctx, values...); err != nil {
				return err
			}
		}
	}
	_, err := r.conn.ExecContext(ctx, "COMMIT")
	return err
}

// Close closes the file.
func (r *rawFile) Close() error { return errors.Join(r.conn.Close(), r.db.Close()) }
