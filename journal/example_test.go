package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"vfsdb/journal"
	"vfsdb/schema"
)

// A room that writes a branch appends to its record in the same transaction. A watcher follows the record. Programs that
// have a tree use vfs.FS.Watch.
func ExampleJournal_Watch() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	db, err := schema.Open(ctx, filepath.Join(dir, "agent.db"), schema.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()

	record := journal.New(db)
	const branch, epoch = schema.FirstID, schema.FirstEpoch // main, as it is created
	for _, path := range []string{"plan.md", "notes/a.md"} {
		err := db.Update(ctx, func(tx *schema.Tx) error {
			w := record.Writer(tx, branch, 0)
			if _, err := w.Append(epoch, journal.Change{Op: journal.OpCreate, Path: path}); err != nil {
				return err
			}
			return w.Flush()
		})
		if err != nil {
			panic(err)
		}
	}

	src := journal.Source{Branch: branch, Epoch: schema.Head, View: db.View}
	for e, err := range record.Watch(ctx, src, ".", 0) {
		if err != nil {
			panic(err)
		}
		fmt.Println(e.Op, e.Path)
		if e.Path == "notes/a.md" {
			break
		}
	}
	// Output:
	// create plan.md
	// create notes/a.md
}
