package oldfile

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/check"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/journal"
	"vfsdb/merge"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/undo"
	"vfsdb/vfs"
)

var write = flag.Bool("write", false, "write the file of the present format anew; only before it is released")

// present is the file of the format that this release writes.
var present = fmt.Sprintf("testdata/v%d", schema.Version)

// Each file ever released opens, checks clean, shows what it showed, and takes writes.
func TestOldFiles(t *testing.T) {
	if *write {
		build(t)
	}
	files, err := filepath.Glob("testdata/*.db")
	require.NoError(t, err)
	require.Contains(t, files, present+".db", "every format keeps its first file")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "old.db")
			require.NoError(t, os.WriteFile(path, data, 0o644))
			want, err := os.ReadFile(strings.TrimSuffix(file, ".db") + ".json")
			require.NoError(t, err)

			fsys := vfstest.Open(t, path, nil) // checks every invariant at the end
			vfstest.Check(t, fsys)
			require.JSONEq(t, string(want), string(describe(t, fsys)))

			base, err := snapshot.Create(t.Context(), fsys, "today", nil)
			require.NoError(t, err)
			vfstest.Write(t, fsys, "new/file", "written by a later release")
			require.NoError(t, fsys.RemoveAll(t.Context(), "dir"))
			_, err = snapshot.Restore(t.Context(), fsys, base)
			require.NoError(t, err)
		})
	}
}

// describe renders every branch and snapshot, path by path.
func describe(t *testing.T, fsys *vfs.FS) []byte {
	t.Helper()
	trees := make(map[string]map[string]string)
	branches, err := fsys.Store().Branches(t.Context())
	require.NoError(t, err)
	for _, b := range branches {
		head, err := fsys.Branch(t.Context(), b.Name)
		require.NoError(t, err)
		trees[b.Name] = vfstest.Dump(t, head)
	}
	snapshots, err := snapshot.List(t.Context(), fsys)
	require.NoError(t, err)
	for _, info := range snapshots {
		s, err := snapshot.Open(t.Context(), fsys, info.Name)
		require.NoError(t, err)
		trees[info.Branch+"@"+info.Name] = vfstest.Dump(t, s.FS)
	}
	out, err := json.MarshalIndent(trees, "", "\t")
	require.NoError(t, err)
	return append(out, '\n')
}

// build makes a store with a bit of everything.
func build(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "new.db")
	fsys := vfstest.Open(t, path, &vfs.Options{Compress: true})
	vfstest.Write(t, fsys, "dir/small", "a small file")
	vfstest.Write(t, fsys, "dir/sub/deep", "deeper")
	vfstest.Write(t, fsys, "empty", "")
	vfstest.Write(t, fsys, "\u00e9 \n\xff", "a name of bytes")
	require.NoError(t, fsys.WriteFile(ctx, "big", bytes.Repeat([]byte("0123456789abcdef"), 33000), 0o4755))
	require.NoError(t, fsys.Truncate(ctx, "empty", 100<<30))
	require.NoError(t, fsys.Symlink(ctx, "dir/small", "link"))
	require.NoError(t, fsys.Link(ctx, "dir/small", "second name"))
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return tx.Mknod("pipe", os.ModeNamedPipe|0o600, 0) }))
	first, err := snapshot.Create(ctx, fsys, "first", &snapshot.Options{Note: "a note"})
	require.NoError(t, err)
	try, err := snapshot.Branch(ctx, fsys, first, "try")
	require.NoError(t, err)
	require.NoError(t, try.Remove(ctx, "dir/small"))
	require.NoError(t, try.Rename(ctx, "dir/sub", "moved"))
	vfstest.Write(t, try, "big", "small now")
	leaf, err := snapshot.Branch(ctx, try, try, "leaf")
	require.NoError(t, err)
	require.NoError(t, leaf.RemoveAll(ctx, "dir"))
	require.NoError(t, fsys.Chmod(ctx, "link", 0o600))
	require.NoError(t, fsys.Remove(ctx, "second name"))
	vfstest.Write(t, fsys, "dir/draft", "a small file, again")
	require.NoError(t, fsys.Rename(ctx, "dir/draft", "dir/small"))
	called := journal.WithCall(ctx, &journal.Call{Actor: "tester", Tool: "mv"})
	require.NoError(t, fsys.Rename(called, "dir/small", "dir/sub/small"))
	_, err = snapshot.Restore(ctx, leaf, first)
	require.NoError(t, err)
	vfstest.Write(t, leaf, "dir/small", "what leaf has")
	vfstest.Write(t, fsys, "dir/small", "what main has")
	_, err = merge.Into(ctx, fsys, leaf, nil)
	require.NoError(t, err)
	called = journal.WithCall(ctx, &journal.Call{Actor: "tester", Tool: "chmod"})
	require.NoError(t, fsys.Chmod(called, "dir/sub/small", 0o640))
	_, err = undo.Undo(ctx, fsys, nil)
	require.NoError(t, err)
	_, err = gc.Compact(ctx, fsys, nil)
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(ctx, "squeezed", bytes.Repeat([]byte("compressed at once "), 1000), 0o644))
	for name, times := range map[string]int{"patched": 5000, "patched, long": 70 << 15} { // the second has a manifest over another
		require.NoError(t, fsys.WriteFile(ctx, name, bytes.Repeat([]byte("0123456789abcdef"), times), 0o644))
		f, err := fsys.OpenFile(ctx, name, os.O_RDWR, 0)
		require.NoError(t, err)
		_, err = f.WriteAt([]byte("over it"), 70_000)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	for _, name := range []string{present + ".db", present + ".json"} {
		if err := os.Remove(name); err != nil {
			require.ErrorIs(t, err, os.ErrNotExist)
		}
	}
	require.NoError(t, fsys.Store().Backup(ctx, present+".db"))
	require.NoError(t, os.WriteFile(present+".json", describe(t, fsys), 0o644))
}

// What a reader finds in such a file, which stays as it is, it finds after it was brought forward too.
func TestOldFilesSame(t *testing.T) {
	ctx := t.Context()
	files, err := filepath.Glob("testdata/*.db")
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "old.db")
			require.NoError(t, os.WriteFile(path, data, 0o644))
			reader, err := vfs.Open(ctx, path, &vfs.Options{ReadOnly: true})
			require.NoError(t, err)
			defer reader.Close()

			was := seen(t, reader)
			format, err := reader.Store().Format(ctx)
			require.NoError(t, err)
			if format >= 4 {
				require.Contains(t, was, `"argdir"`)
			}
			if strings.Contains(file, "renames") {
				require.Contains(t, was, `"displaced"`)
			}
			if format >= 6 {
				require.Contains(t, was, `"Parts":["content"]`)
			}
			backup := filepath.Join(t.TempDir(), "backup.db")
			require.NoError(t, reader.Store().Backup(ctx, backup))
			require.Equal(t, was, seen(t, vfstest.Open(t, backup, nil)))
			later, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, data[100:], later[100:])

			// The reader stays open meanwhile.
			require.Equal(t, was, seen(t, vfstest.Open(t, path, nil)))
			require.Equal(t, was, seen(t, reader))
			format, err = reader.Store().Format(ctx)
			require.NoError(t, err)
			require.EqualValues(t, schema.Version, format)
		})
	}
}

// seen renders the trees, the changes of each branch, the calls, and how the branches differ.
func seen(t *testing.T, fsys *vfs.FS) string {
	t.Helper()
	ctx := t.Context()
	all := []any{string(describe(t, fsys))}
	branches, err := fsys.Store().Branches(ctx)
	require.NoError(t, err)
	for _, b := range branches {
		head, err := fsys.Branch(ctx, b.Name)
		require.NoError(t, err)
		events, err := head.Log(ctx, nil)
		require.NoError(t, err)
		all = append(all, events)
		conflicts, err := merge.Conflicts(ctx, head)
		require.NoError(t, err)
		all = append(all, conflicts)
		for c, err := range snapshot.Diff(ctx, fsys, head) {
			require.NoError(t, err)
			all = append(all, c)
		}
	}
	calls, err := fsys.Store().Calls(ctx, nil)
	require.NoError(t, err)
	report, err := check.Run(ctx, fsys, nil)
	require.NoError(t, err)
	require.Empty(t, report.Faults)
	out, err := json.Marshal(append(all, calls))
	require.NoError(t, err)
	return string(out)
}

// A reader opens such a file as it is, even if tables are missing.
func TestOldFilesReadOnly(t *testing.T) {
	files, err := filepath.Glob("testdata/*.db")
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "old.db")
			require.NoError(t, os.WriteFile(path, data, 0o644))
			fsys, err := vfs.Open(t.Context(), path, &vfs.Options{ReadOnly: true})
			require.NoError(t, err)
			defer fsys.Close()
			report, err := check.Run(t.Context(), fsys, nil)
			require.NoError(t, err)
			require.Empty(t, report.Faults)
			stats, err := fsys.Store().Stats(t.Context())
			require.NoError(t, err)
			require.Positive(t, stats.Stored)
			_, err = gc.Run(t.Context(), fsys, &gc.Options{DryRun: true})
			require.NoError(t, err)
		})
	}
}
