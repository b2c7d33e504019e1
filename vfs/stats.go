package vfs

import (
	"context"
	"os"
	"time"

	"vfsdb/schema"
)

// Stats are the size and the contents of a store.
type Stats struct {
	ID      string // given to the file when it was created, and to copies of it
	Format  int64
	Created time.Time

	FileSize  int64 // bytes of the file, and of its log
	LogSize   int64
	PageSize  int64
	Pages     int64
	FreePages int64 // gc gives them back

	Blobs     int64
	Stored    int64 // bytes of blobs as they are in the file
	Content   int64 // and as they are read
	Manifests int64
	Versions  int64 // of regular files, in all branches and all of history
	Logical   int64 // bytes that the versions would take apart, holes included

	Branches  int64
	Snapshots int64
}

// Stats counts the whole store. It reads every inode row and blob size.
func (st *Store) Stats(ctx context.Context) (Stats, error) {
	s := Stats{PageSize: schema.PageSize, FileSize: fileSize(st.Path()), LogSize: fileSize(st.Path() + "-wal")}
	err := st.tree().DB().View(ctx, func(tx *schema.Tx) error { return s.read(tx) })
	return s, pathErr("stats", st.Path(), err)
}

func (s *Stats) read(db *schema.Tx) (err error) {
	if s.ID, err = db.ID(); err != nil {
		return err
	}
	if s.Pages, s.FreePages, err = db.Pages(); err != nil {
		return err
	}

	var created int64
	// Sums are total, and not sum: files that are long by their holes alone, or damaged rows, may come to more than fits.
	for _, q := range []struct {
		into *int64
		text string
	}{
		{&s.Format, `PRAGMA user_version`},
		{&created, `SELECT value FROM meta WHERE key = 'created'`},
		{&s.Blobs, `SELECT count(*) FROM blob`},
		{&s.Stored, `SELECT total(length(data)) FROM blob`},
		{&s.Content, `SELECT total(size) FROM blob`},
		{&s.Manifests, `SELECT count(*) FROM manifest`},
		{&s.Versions, `SELECT count(*) FROM inode WHERE mode >> 12 = 8`},
		{&s.Logical, `SELECT total(size) FROM inode WHERE mode >> 12 = 8`},
		{&s.Branches, `SELECT count(*) FROM branch WHERE name IS NOT NULL`},
		{&s.Snapshots, `SELECT count(*) FROM snapshot`},
	} {
		if *q.into, _, err = db.Int(q.text); err != nil {
			return err
		}
	}

	s.Created = time.Unix(0, created)
	if s.Format < 2 {
		return nil // it has no packs
	}
	packed, _, err := db.Int(`SELECT coalesce(sum(length(data)), 0) FROM pack`)
	s.Stored += packed
	return err
}

// fileSize is 0 for a file that is not there.
func fileSize(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}
