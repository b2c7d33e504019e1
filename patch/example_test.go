package patch_test

import (
	"fmt"
	"os"
	"testing"

	kit "vfsdb/internal/vfstest"
	"vfsdb/patch"
	"vfsdb/snapshot"
	"vfsdb/vfstest"
)

func Example() {
	kit.Example(func(t testing.TB) {
		ctx := t.Context()
		fsys := vfstest.FromMap(t, map[string]string{"plan.md": "ask\nwait\n", "old.md": "gone\n"})
		before, err := snapshot.Create(ctx, fsys, "before", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := fsys.WriteFile(ctx, "plan.md", []byte("ask\nact\n"), 0); err != nil {
			t.Fatal(err)
		}
		if err := fsys.Rename(ctx, "old.md", "new.md"); err != nil {
			t.Fatal(err)
		}

		if err := patch.Write(ctx, os.Stdout, before, fsys, nil); err != nil {
			t.Fatal(err)
		}
		for f, err := range patch.Files(ctx, before, fsys, nil) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("%s +%d -%d\n", f.Name(), f.Added, f.Removed)
		}
	})
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
	// passed: true
}
