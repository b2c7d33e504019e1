package patch_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"vfsdb/patch"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func Example() {
	dir, err := os.MkdirTemp("", "patch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := review(context.Background(), filepath.Join(dir, "agent.db")); err != nil {
		log.Fatal(err)
	}
	// Output:
	// diff --git a/old.md b/new.md
	// similarity index 100%
	// rename from old.md
	// rename to new.md
	// diff --git a/plan.md b/plan.md
	// index afb1b30..322646e 100644
	// --- a/plan.md
	// +++ b/plan.md
	// @@ -1,2 +1,2 @@
	//  ask
	// -wait
	// +act
	// old.md => new.md +0 -0
	// plan.md +1 -1
}

// review changes a tree, and prints what has changed since a snapshot: as a patch, and as counts of lines.
func review(ctx context.Context, store string) error {
	fsys, err := vfs.Open(ctx, store, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	for name, text := range map[string]string{"plan.md": "ask\nwait\n", "old.md": "gone\n"} {
		if err := fsys.WriteFile(ctx, name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	before, err := snapshot.Create(ctx, fsys, "before", nil)
	if err != nil {
		return err
	}

	if err := fsys.WriteFile(ctx, "plan.md", []byte("ask\nact\n"), 0); err != nil {
		return err
	}
	if err := fsys.Rename(ctx, "old.md", "new.md"); err != nil {
		return err
	}

	if err := patch.Write(ctx, os.Stdout, before, fsys, nil); err != nil {
		return err
	}
	for f, err := range patch.Files(ctx, before, fsys, nil) {
		if err != nil {
			return err
		}
		fmt.Printf("%s +%d -%d\n", f.Name(), f.Added, f.Removed)
	}
	return nil
}
